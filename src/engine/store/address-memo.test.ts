import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { AddressMemo } from './address-memo.ts';

const known = (ordinal: number) => ({
  memory: 3,
  userKey: ordinal % 5,
  scopeKey: 2,
  enciphered: hash('sha256', `enciphered ${ordinal}`, 'buffer'),
  address: hash('sha256', String(ordinal), 'hex'),
});

test('an address that is kept is that of its own ordinal, whatever shares its slot', () => {
  const memo = new AddressMemo();
  assert.equal(memo.address(7), undefined);
  assert.equal(memo.find(known(7).address), undefined);
  const ordinals = Array.from({ length: 300 }, (_, i) => 1 + ((i * 2_654_435_761) % 2 ** 32));
  const sharing = [7, 7 + 32_768, 7 + 2 * 32_768];
  for (const ordinal of [...ordinals, ...sharing]) memo.set(ordinal, known(ordinal));
  for (const ordinal of ordinals) {
    const { address } = known(ordinal);
    assert.ok([undefined, address].includes(memo.address(ordinal)));
    const found = memo.find(address);
    if (found !== undefined) assert.deepEqual({ ...found }, { ordinal, ...known(ordinal) });
  }
  const last = sharing[2]!;
  assert.deepEqual(
    sharing.map((ordinal) => memo.address(ordinal)),
    [undefined, undefined, known(last).address],
  );
  assert.equal(memo.find(known(7).address), undefined);
  assert.equal(memo.find(known(last).address)?.ordinal, last);
  assert.ok(ordinals.some((ordinal) => memo.address(ordinal) === known(ordinal).address));
  memo.clear();
  assert.deepEqual([memo.address(last), memo.find(known(last).address)], [undefined, undefined]);
});
