import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { ADMIN, ask, makeParts } from '../../testing/parts.ts';

test('an incomplete copy is reported as a storage problem, and removed', async (t) => {
  const folder = temporaryDirectory(t);
  // A key file must be copied, and cannot be read.
  const unreadable = join(folder, 'data', 'keys', 'bootstrap.key');
  mkdirSync(unreadable, { recursive: true });
  const parts = await makeParts({ flags: { dataDir: join(folder, 'data') } });
  const backup = (name: string) =>
    ask(parts, 'POST', '/memories/default/app/exec', {
      key: ADMIN,
      json: { command: 'backup', args: { path: join(folder, name) } },
    });
  // The operator's own folder stays, such as a mounted disk.
  mkdirSync(join(folder, 'empty'));
  for (const name of ['copy', 'empty']) {
    const answer = await backup(name);
    assert.equal(answer.body['code'], 'STO-E001');
    assert.match(String(answer.body['message']), /is incomplete and was removed/);
  }
  assert.equal(existsSync(join(folder, 'copy')), false);
  assert.deepEqual(readdirSync(join(folder, 'empty')), []);
  rmdirSync(unreadable);
  assert.equal((await backup('copy')).status, 200);
  const files = readdirSync(join(folder, 'copy'), { recursive: true });
  assert.equal((await backup('copy')).body['code'], 'VAL-E001');
  assert.deepEqual(readdirSync(join(folder, 'copy'), { recursive: true }), files);
});

test('a copy that was cut off has no layout, so nothing takes it for a backup', async (t) => {
  const folder = temporaryDirectory(t);
  const parts = await makeParts({ flags: { dataDir: join(folder, 'data') } });
  const path = join(folder, 'copy');
  let hasLayout: boolean | undefined;
  const { keyFiles } = parts.services;
  t.mock.method(keyFiles, 'read', (name: string) => {
    hasLayout ??= existsSync(join(path, 'data', 'layout.json'));
    return Buffer.from(name);
  });
  const answer = await ask(parts, 'POST', '/memories/default/app/exec', {
    key: ADMIN,
    json: { command: 'backup', args: { path } },
  });
  assert.equal(answer.status, 200);
  assert.equal(hasLayout, false);
  assert.ok(existsSync(join(path, 'data', 'layout.json')));
});
