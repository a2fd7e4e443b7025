import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { grainName } from '../record/grain-name.ts';
import { NAME_SLOTS_MAX, NameMemo } from './name-memo.ts';

/** Names of every possible length. */
const nameOf = (ordinal: number): string =>
  grainName({
    keys: { user: ordinal % 3, scope: ordinal % 2 },
    enciphered: hash('sha256', String(ordinal), 'buffer'),
  });

test('a name is cached from the bytes that hold it', () => {
  const memo = new NameMemo();
  for (const ordinal of [1, 2, 3, 4, 5, 6]) {
    const keys = { user: ordinal % 3, scope: ordinal % 2 };
    const enciphered = hash('sha256', String(ordinal), 'buffer');
    const source = Buffer.concat([Buffer.alloc(ordinal, 7), enciphered, Buffer.alloc(9, 7)]);
    assert.equal(memo.keep(ordinal, { keys, source, from: ordinal }), nameOf(ordinal));
    assert.equal(memo.get(ordinal), nameOf(ordinal));
  }
});

test('the bytes of a cached name are written where they are wanted', () => {
  const memo = new NameMemo();
  const into = Buffer.alloc(64, 7);
  for (const ordinal of [1, 2, 3, 4, 5, 6]) {
    assert.equal(memo.write(ordinal, into, 3), undefined);
    memo.set(ordinal, nameOf(ordinal));
    const end = memo.write(ordinal, into, 3);
    assert.equal(into.toString('hex', 3, end), nameOf(ordinal));
  }
});

test('a cached name always belongs to its own ordinal, even when ordinals share a slot', () => {
  const memo = new NameMemo();
  assert.equal(memo.get(7), undefined);
  const ordinals = Array.from({ length: 300 }, (_, i) => 1 + ((i * 2_654_435_761) % 2 ** 32));
  const sharing = [7, 7 + NAME_SLOTS_MAX, 7 + 2 * NAME_SLOTS_MAX];
  for (const ordinal of [...ordinals, ...sharing]) memo.set(ordinal, nameOf(ordinal));
  for (const ordinal of ordinals) assert.ok([undefined, nameOf(ordinal)].includes(memo.get(ordinal)));
  assert.deepEqual(
    sharing.map((ordinal) => memo.get(ordinal)),
    [undefined, undefined, nameOf(sharing[2]!)],
  );
  assert.ok(ordinals.some((ordinal) => memo.get(ordinal) === nameOf(ordinal)));
});

test('names stay cached while the slots grow with the ordinals, up to the most', () => {
  const memo = new NameMemo();
  const ordinals = Array.from({ length: 200 }, (_, i) => 1 + i * 655);
  assert.ok(ordinals.at(-1)! < NAME_SLOTS_MAX);
  for (const ordinal of ordinals) memo.set(ordinal, nameOf(ordinal));
  for (const ordinal of ordinals) assert.equal(memo.get(ordinal), nameOf(ordinal));
});
