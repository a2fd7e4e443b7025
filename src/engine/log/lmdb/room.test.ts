import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { freeBytes, Room } from './room.ts';

test('what a disk has room for is let through, what it has not is not', (t) => {
  const directory = temporaryDirectory(t);
  const room = new Room(directory);
  assert.equal(room.holds(1_000), true);
  assert.equal(room.holds(freeBytes(directory)), false);
  assert.equal(room.holds(1_000), true);
});

test('what was let through since the last look counts as written', (t) => {
  const directory = temporaryDirectory(t);
  // The clock stands still: the disk is looked at again only when what is left comes to an end.
  const room = new Room(directory, () => 0);
  const quarter = Math.floor(freeBytes(directory) / 8);
  for (let i = 0; i < 8; i++) assert.equal(room.holds(quarter), true);
});
