import assert from 'node:assert/strict';
import fs, { existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { printable } from './output.ts';
import { withProofFile } from './proof-file.ts';

/** Other files of the process must not get the functions that a test replaced. */
function replaced(t: TestContext): void {
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

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
  replaced(t);
  const proof = { user_id: 'ada', text: 'a proof of some length' };
  await withProofFile(path, () => Promise.resolve(proof));
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), proof);
});

test('a proof that cannot be written after the erasure is in the message', async (t) => {
  const path = join(temporaryDirectory(t), 'proof.json');
  t.mock.method(fs, 'writeSync', () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
  replaced(t);
  const erase = () => Promise.resolve({ user_id: 'ada', count: 3 });
  await assert.rejects(withProofFile(path, erase), {
    code: 'FILE',
    message: /did what was asked.*proof\.json: ENOSPC.*\{"user_id":"ada","count":3\}$/,
  });
  assert.equal(existsSync(path), false);
  // A refusal of the server stays as it is.
  const refused = new Error('refused');
  await assert.rejects(
    withProofFile(path, () => Promise.reject(refused)),
    refused,
  );
});

test('a terminal is shown every character of a proof in a message', async (t) => {
  const path = join(temporaryDirectory(t), 'proof.json');
  t.mock.method(fs, 'writeSync', () => {
    throw new Error('no space');
  });
  replaced(t);
  const proof = { user_id: 'a\u202eb\u009bc\u0007d' };
  await assert.rejects(
    withProofFile(path, () => Promise.resolve(proof)),
    (error: Error) => {
      const shown = printable(error.message);
      assert.deepEqual(JSON.parse(shown.slice(shown.indexOf('{'))), proof);
      return true;
    },
  );
});
