// A write is durable when the name of its file is: a crash would take both otherwise.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { WalFile } from './wal-file.ts';

test('nothing is written to a file whose name is not durable, however it was opened', async (t) => {
  const root = temporaryDirectory(t);
  // The directory that would have to be synced comes later.
  const directory = join(root, 'later');
  const file = new WalFile(directory, join(root, 'file'));
  t.after(() => file.close());
  const parts = [Buffer.from('an append')];
  const refused = { code: 'ENOENT' };
  await assert.rejects(file.write(parts), refused);
  for (let i = 0; i < 2; i++) await assert.rejects(file.allocate(4_096), refused);
  await assert.rejects(file.write(parts), refused);
  assert.throws(() => file.writeHere(parts), refused);
  mkdirSync(directory);
  await file.write(parts);
  assert.equal(file.position, parts[0]!.length);
});
