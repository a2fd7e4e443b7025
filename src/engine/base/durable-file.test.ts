import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { isFileError, makeFolder, makeMissingFolder } from './durable-file.ts';

test('missing parents are made for this user alone, and a folder that exists keeps its mode', (t) => {
  const root = temporaryDirectory(t);
  assert.equal(makeMissingFolder(join(root, 'a', 'b')), true);
  assert.equal(statSync(join(root, 'a')).mode & 0o777, 0o700);
  mkdirSync(join(root, 'open'), { mode: 0o755 });
  assert.equal(makeMissingFolder(join(root, 'open')), false);
  assert.equal(statSync(join(root, 'open')).mode & 0o777, 0o755);
  makeFolder(join(root, 'open'));
  assert.equal(statSync(join(root, 'open')).mode & 0o777, 0o700);
});

test('a file in the place of a folder or of its parent is an error', (t) => {
  const file = join(temporaryDirectory(t), 'file');
  writeFileSync(file, '');
  assert.throws(() => makeMissingFolder(file), { code: 'EEXIST' });
  assert.throws(() => makeMissingFolder(join(file, 'below')), { code: 'ENOTDIR' });
});

// Node's recursive mkdir never returns here.
test('a folder that is there but was removed takes no entries', (t) => {
  if (process.platform !== 'linux') return t.skip('no path leads to a removed folder');
  const folder = join(temporaryDirectory(t), 'removed');
  mkdirSync(folder);
  const descriptor = openSync(folder, 'r');
  t.after(() => closeSync(descriptor));
  rmdirSync(folder);
  const path = `/proc/self/fd/${descriptor}`;
  assert.ok(statSync(path).isDirectory());
  assert.throws(
    () => makeMissingFolder(join(path, 'models', 'one')),
    (error) => isFileError(error) && error.code === 'ENOENT',
  );
});
