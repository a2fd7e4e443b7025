import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { bloomAdd, bloomBytes, bloomHas } from './bloom.ts';

function keyOf(text: string): [high: number, low: number] {
  const hash = createHash('sha256').update(text).digest();
  return [hash.readUInt32BE(0), hash.readUInt32BE(4)];
}

test('added keys pass, and hardly any others', () => {
  for (const count of [64, 1_000, 20_000]) {
    const filter = new Uint8Array(bloomBytes(count));
    assert.ok(filter.length < count * 2 + 64);
    for (let i = 0; i < count; i++) bloomAdd(filter, ...keyOf(`there ${i}`));
    for (let i = 0; i < count; i++) assert.ok(bloomHas(filter, ...keyOf(`there ${i}`)));
    let wrong = 0;
    for (let i = 0; i < 20_000; i++) if (bloomHas(filter, ...keyOf(`absent ${i}`))) wrong += 1;
    assert.ok(wrong < 300, `${wrong} of 20000 absent keys pass at ${count}`);
  }
});

test('the first and the last key have a block', () => {
  for (const count of [1, 64, 5_000]) {
    const filter = new Uint8Array(bloomBytes(count));
    for (const [high, low] of [
      [0, 0],
      [0xffff_ffff, 0xffff_ffff],
    ] as const) {
      bloomAdd(filter, high, low);
      assert.ok(bloomHas(filter, high, low));
    }
  }
});
