import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedBytes, checksum, withChecksum } from './checksum.ts';

test('CRC-32 has its published check value', () => {
  assert.equal(checksum(Buffer.from('123456789')), 0xcbf43926);
});

test('framed bytes read back, but not after any single bit has changed', () => {
  const bytes = Buffer.from('some bytes of a block');
  const framed = withChecksum(bytes, 42);
  assert.deepEqual(Buffer.from(checkedBytes(framed, 42)!), bytes);
  for (let bit = 0; bit < framed.length * 8; bit++) {
    const changed = Buffer.from(framed);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(checkedBytes(changed, 42), undefined, `bit ${bit}`);
  }
});

test('a frame at another place, or too short to be one, fails its check', () => {
  assert.equal(checkedBytes(withChecksum(Buffer.from('abc'), 1), 2), undefined);
  assert.equal(checkedBytes(Buffer.from('abc')), undefined);
  assert.deepEqual(Buffer.from(checkedBytes(withChecksum(new Uint8Array(0)))!), Buffer.alloc(0));
});
