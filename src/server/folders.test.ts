// Reasons of health are public: they name no folder of the machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine/base/errors.ts';
import { errorWithoutFolders, withoutFolders } from './folders.ts';

for (const [told, shown] of [
  ['/srv/acme data/one accepts no writes: the disk is full', 'the data directory accepts no writes: the disk is full'],
  [
    'writes are refused: a write to /srv/acme data/one/shard-0/log failed: EIO',
    'writes are refused: a write to shard-0/log failed: EIO',
  ],
  ["the log in '/srv/acme data/one/shard-0/log' was written", "the log in 'shard-0/log' was written"],
  ['no room in /mnt/models/use-lite (ENOSPC)', 'no room in use-lite (ENOSPC)'],
  ['C:\\granary\\models\\use.onnx is damaged', 'use.onnx is damaged'],
  ['https://example.com/a/b does not answer', 'https://example.com/a/b does not answer'],
  ['record 17 is quarantined: 3/4 of it', 'record 17 is quarantined: 3/4 of it'],
] as const)
  test(told, () => assert.equal(withoutFolders(told, '/srv/acme data/one'), shown));

test('a folder below a relative data directory is told without it', () => {
  const told = 'no room in data/shard-0/log, unlike in metadata/x';
  for (const directory of ['./data', 'data', 'data/'])
    assert.equal(withoutFolders(told, directory), 'no room in shard-0/log, unlike in metadata/x', directory);
});

test('a storage failure loses its folders, and other errors are as they were', () => {
  const failed = new EngineError('STO-E001', 'no room in /srv/one/shard-0/log: the disk is full', { retryable: true });
  const told = errorWithoutFolders(failed, '/srv/one');
  assert.equal(told.message, 'STO-E001: no room in shard-0/log: the disk is full');
  assert.deepEqual([told.code, told.retryable, told.details], ['STO-E001', true, []]);
  for (const other of [new EngineError('VAL-E001', 'no route /srv/one'), new EngineError('STO-E002')])
    assert.equal(errorWithoutFolders(other, '/srv/one'), other);
});

test('a relative data directory is told as it resolves', () => {
  assert.equal(withoutFolders(`${process.cwd()}/data/shard-0 is full`, './data'), 'shard-0 is full');
});
