import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { freeBytes, Room } from './room.ts';

const MB = 1_048_576;

test('a commit passes when the disk has room for it, and only then', (t) => {
  const directory = temporaryDirectory(t);
  const room = new Room(directory);
  assert.equal(room.holds(1_000), true);
  assert.equal(room.holds(freeBytes(directory)), false);
  assert.equal(room.holds(1_000), true);
});

test('commits since the last check count as written, and the disk is checked again when little room is left', () => {
  const disk = { freeMb: 300, looks: 0 };
  const time = { nowMs: 0 };
  const room = new Room('', {
    look: () => {
      disk.looks += 1;
      return disk.freeMb * MB;
    },
    nowMs: () => time.nowMs,
  });
  assert.equal(room.holds(50 * MB), true);
  // Somebody else fills the disk. It is not checked again while plenty is left, by the last check and the writes since.
  disk.freeMb = 0;
  assert.deepEqual([room.holds(50 * MB), disk.looks], [true, 1]);
  assert.deepEqual([room.holds(25 * MB), disk.looks], [false, 2]);
  disk.freeMb = 300;
  assert.deepEqual([room.holds(MB), disk.looks], [true, 3]);
  assert.deepEqual([room.holds(MB), disk.looks], [true, 3]);
  disk.freeMb = 0;
  time.nowMs += 1_000;
  assert.deepEqual([room.holds(MB), disk.looks], [false, 4], 'an old answer is not reused');
});
