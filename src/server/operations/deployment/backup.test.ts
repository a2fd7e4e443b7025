import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { ADMIN, ask, makeParts } from '../../testing/parts.ts';

test('an incomplete copy is reported as a storage problem', async (t) => {
  const folder = temporaryDirectory(t);
  // A key file must be copied, and cannot be read.
  mkdirSync(join(folder, 'data', 'keys', 'bootstrap.key'), { recursive: true });
  const parts = await makeParts({ flags: { dataDir: join(folder, 'data') } });
  const answer = await ask(parts, 'POST', '/memories/default/app/exec', {
    key: ADMIN,
    json: { command: 'backup', args: { path: join(folder, 'copy') } },
  });
  assert.equal(answer.body['code'], 'STO-E001');
  assert.match(String(answer.body['message']), /is incomplete/);
});
