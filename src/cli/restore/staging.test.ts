import assert from 'node:assert/strict';
import fs, {
  existsSync,
  mkdirSync,
  type RmOptions,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { openLayout } from '../../server/data-directory.ts';
import { fill, isCutOff, markWhole, stagingOf, takePlace } from './staging.ts';

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
}

const BACKUP = {
  'data/layout.json': '{"format":1,"shards":1}',
  'data/control/data.mdb': 'control then',
  'data/shard-0/log/data.mdb': 'log then',
  'keys/control.key': 'key then',
  'keys/shard-0/bucket-000000.keys': 'keys then',
};
const TODAY = {
  'layout.json': '{"format":1,"shards":2}',
  'control/data.mdb': 'control now',
  'shard-0/log/data.mdb': 'log now',
  'shard-1/log/data.mdb': 'log now',
  'keys/control.key': 'key now',
  'keys/master.key': 'master',
  'keys/shard-1/bucket-000000.keys': 'keys now',
};

function assertRestored(data: string): void {
  for (const [name, content] of Object.entries(BACKUP))
    assert.equal(readFileSync(join(data, name.replace(/^data\//, '')), 'utf8'), content);
  // The backup has no master key, so the existing one stays. Files unknown to the backup are removed.
  assert.equal(readFileSync(join(data, 'keys/master.key'), 'utf8'), 'master');
  assert.ok(!existsSync(join(data, 'shard-1')) && !existsSync(join(data, 'keys/shard-1')));
  assert.ok(!existsSync(stagingOf(data)));
  assert.deepEqual(openLayout(data, undefined, 8), { shards: 1, isNew: false });
}

function prepared(directory: string): string {
  const data = join(directory, 'today');
  write(join(directory, 'backup'), BACKUP);
  write(data, TODAY);
  fill(stagingOf(data), { data: join(directory, 'backup/data'), keys: join(directory, 'backup/keys') });
  return data;
}

test('the staged deployment replaces the existing one', (t) => {
  const data = prepared(temporaryDirectory(t));
  // Until staging is marked complete, the directory is unchanged for everyone who opens it.
  assert.equal(isCutOff(data), false);
  assert.deepEqual(openLayout(data, undefined, 8), { shards: 2, isNew: false });
  markWhole(data);
  takePlace(data);
  assertRestored(data);
});

test('a deployment that was moved into a database and is replaced can be opened again', (t) => {
  const data = prepared(temporaryDirectory(t));
  write(data, { 'moved.json': '{}' });
  assert.throws(() => openLayout(data, undefined, 8), { code: 'STO-E001' });
  markWhole(data);
  takePlace(data);
  assertRestored(data);
});

test('interrupted at any point it refuses a server, and continues when it is called again', (t) => {
  for (const moved of [[], ['control'], ['control', 'shard-0'], ['control', 'keys', 'shard-0', 'layout.json']]) {
    const data = prepared(temporaryDirectory(t));
    markWhole(data);
    // State after a crash: these files are in place, the rest is still staged.
    for (const name of moved) moveOver(join(stagingOf(data), name), join(data, name));
    assert.equal(isCutOff(data), true);
    assert.throws(() => openLayout(data, undefined, 8), { code: 'STO-E001' });
    takePlace(data);
    if (moved.includes('layout.json')) assert.ok(!existsSync(stagingOf(data)));
    else assertRestored(data);
  }
});

test('appends that the restored deployment left in its write-ahead files survive an interruption', (t) => {
  const data = prepared(temporaryDirectory(t));
  write(data, { 'wal/0-of-1.a': 'appends now' });
  write(stagingOf(data), { 'wal/0-of-1.b': 'appends then' });
  markWhole(data);
  moveOver(join(stagingOf(data), 'wal'), join(data, 'wal'));
  takePlace(data);
  assert.deepEqual(readdirSync(join(data, 'wal')), ['0-of-1.b']);
  assertRestored(data);
});

test('appends of the replaced deployment do not reach the restored one', (t) => {
  const data = prepared(temporaryDirectory(t));
  write(data, { 'wal/0-of-1.a': 'appends now' });
  markWhole(data);
  takePlace(data);
  assert.deepEqual(readdirSync(join(data, 'wal')), []);
});

test('keys on another disk survive an interruption while their staged copies are removed', (t) => {
  const data = prepared(temporaryDirectory(t));
  markWhole(data);
  const staged = join(stagingOf(data), 'keys');
  const { renameSync: rename, rmSync: remove } = fs;
  let isEnding = true;
  t.mock.method(fs, 'renameSync', (from: string, to: string) => {
    if (from.startsWith(staged) && !to.startsWith(staged)) throw Object.assign(new Error('EXDEV'), { code: 'EXDEV' });
    rename(from, to);
  });
  t.mock.method(fs, 'rmSync', (path: string, options: RmOptions) => {
    if (!isEnding || !path.startsWith(join(staged, 'shard-0'))) return remove(path, options);
    remove(join(path, 'bucket-000000.keys'));
    throw new Error('the process ends here');
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  assert.throws(() => takePlace(data), /the process ends here/);
  isEnding = false;
  takePlace(data);
  assertRestored(data);
});

test('a folder that is not a backup is rejected before anything changes', (t) => {
  const directory = temporaryDirectory(t);
  write(join(directory, 'half'), { 'data/layout.json': '{}' });
  const [data, keys] = [join(directory, 'half/data'), join(directory, 'half/keys')];
  assert.throws(() => fill(join(directory, 'staging'), { data, keys }), { code: 'FILE' });
  assert.throws(() => fill(join(directory, 'staging'), { data: keys, keys }), { code: 'FILE' });
  assert.ok(!existsSync(join(directory, 'staging')));
});

function moveOver(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  renameSync(from, to);
}
