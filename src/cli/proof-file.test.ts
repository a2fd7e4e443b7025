import assert from 'node:assert/strict';
import fs, { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { withProofFile } from './proof-file.ts';

test('a proof is written whole, however little the system takes at a time', async (t) => {
  const path = join(temporaryDirectory(t), 'proof.json');
  const { writeSync } = fs;
  // As a disk that gets room while it is written.
  t.mock.method(
    fs,
    'writeSync',
    (file: number, given: string | Uint8Array, offset = 0, length?: number, at?: number) => {
      const bytes = Buffer.from(given as string);
      return writeSync(file, bytes, offset, Math.min(10, length ?? bytes.length - offset), at);
    },
  );
  syncBuiltinESMExports();
  t.after(() => syncBuiltinESMExports());
  const proof = { user_id: 'ada', text: 'a proof of some length' };
  await withProofFile(path, () => Promise.resolve(proof));
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), proof);
});
