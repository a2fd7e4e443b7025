import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { ErrorsFile } from './errors-file.ts';

test('room waits until the file has what was written, and the end for all of it', async (t) => {
  const path = join(temporaryDirectory(t), 'errors');
  const errors = await ErrorsFile.open(path);
  const one = { file: 'a.jsonl', line: 1, code: 'VAL-E002', error: 'x'.repeat(1_000) };
  const bytes = Buffer.byteLength(`${JSON.stringify(one)}\n`);
  for (let at = 0; at < 1_000; at++) errors.write(one);
  assert.ok(statSync(path).size < 1_000 * bytes, 'nothing waited yet');
  await errors.room();
  assert.equal(statSync(path).size, 1_000 * bytes);
  errors.write(one);
  await errors.close();
  assert.equal(statSync(path).size, 1_001 * bytes);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8').slice(0, bytes)), one);
});

test('a file that cannot be opened or written is a failure, and nothing waits for it', async (t) => {
  await assert.rejects(ErrorsFile.open(join(temporaryDirectory(t), 'none', 'errors')), {
    code: 'FILE',
    message: /^--errors: no such file/,
  });
  const errors = await ErrorsFile.open('/dev/full');
  const one = { file: 'a.jsonl', line: 1, code: 'VAL-E002', error: 'x'.repeat(100_000) };
  errors.write(one);
  await errors.room();
  errors.write(one);
  await errors.room();
  await assert.rejects(errors.close(), { code: 'FILE', message: /^--errors: / });
});
