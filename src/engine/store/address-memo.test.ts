import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { AddressMemo } from './address-memo.ts';

const addressOf = (ordinal: number): string => hash('sha256', String(ordinal), 'hex');

test('a cached address always belongs to its own ordinal, even when ordinals share a slot', () => {
  const memo = new AddressMemo();
  assert.equal(memo.get(7), undefined);
  const ordinals = Array.from({ length: 300 }, (_, i) => 1 + ((i * 2_654_435_761) % 2 ** 32));
  const sharing = [7, 7 + 65_536, 7 + 2 * 65_536];
  for (const ordinal of [...ordinals, ...sharing]) memo.set(ordinal, addressOf(ordinal));
  for (const ordinal of ordinals) assert.ok([undefined, addressOf(ordinal)].includes(memo.get(ordinal)));
  assert.deepEqual(
    sharing.map((ordinal) => memo.get(ordinal)),
    [undefined, undefined, addressOf(sharing[2]!)],
  );
  assert.ok(ordinals.some((ordinal) => memo.get(ordinal) === addressOf(ordinal)));
});
