// A Bloom filter over uniformly distributed 64-bit keys, given as two halves: three in a thousand absent keys pass.
import { assert } from '../assert.ts';

const BITS_PER_KEY = 12;
const PROBES = 8;

/** Bytes of a filter for `count` keys. */
export function bloomBytes(count: number): number {
  return Math.ceil((count * BITS_PER_KEY) / 8);
}

export function bloomAdd(filter: Uint8Array, high: number, low: number): void {
  assert(filter.length > 0, 'a filter has bits');
  const bits = filter.length * 8;
  for (let i = 0; i < PROBES; i++) {
    const bit = place(high, low, i, bits);
    filter[bit >>> 3]! |= 1 << (bit & 7);
  }
}

/** False when the key was certainly not added. */
export function bloomHas(filter: Uint8Array, high: number, low: number): boolean {
  const bits = filter.length * 8;
  for (let i = 0; i < PROBES; i++) {
    const bit = place(high, low, i, bits);
    if ((filter[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Double hashing over the halves; the product is scaled to the number of bits instead of divided by it. */
function place(high: number, low: number, probe: number, bits: number): number {
  const hash = (high + Math.imul(probe, low | 1)) >>> 0;
  return Math.floor((hash / 0x1_0000_0000) * bits);
}
