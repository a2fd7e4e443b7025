// A Bloom filter over uniformly distributed 64-bit keys, given as two halves, signed or not. It passes five in a thousand absent keys.
// The bits of a key lie in one cache line, chosen by the key's first bits: a look-up costs one miss, and adding keys in
// order walks through the filter from front to back.
import { assert } from '../../base/assert.ts';

const BITS_PER_KEY = 12;
const BLOCK_BYTES = 64;
/** Each probe takes nine bits of a hash: one of the 512 bits of a block. */
const PROBES_A_HASH = 3;

/** Bytes of a filter for `count` keys. */
export function bloomBytes(count: number): number {
  return Math.ceil((count * BITS_PER_KEY) / (8 * BLOCK_BYTES)) * BLOCK_BYTES;
}

export function bloomAdd(filter: Uint8Array, high: number, low: number): void {
  assert(filter.length > 0, 'a filter has bits');
  const block = blockOf(filter, high);
  for (let half = 0; half < 2; half++) {
    let hash = half === 0 ? low : mixed(high, low);
    for (let i = 0; i < PROBES_A_HASH; i++, hash >>>= 9) filter[block + ((hash >>> 3) & 63)]! |= 1 << (hash & 7);
  }
}

/** False when the key was certainly not added. */
export function bloomHas(filter: Uint8Array, high: number, low: number): boolean {
  const block = blockOf(filter, high);
  for (let half = 0; half < 2; half++) {
    let hash = half === 0 ? low : mixed(high, low);
    for (let i = 0; i < PROBES_A_HASH; i++, hash >>>= 9)
      if ((filter[block + ((hash >>> 3) & 63)]! & (1 << (hash & 7))) === 0) return false;
  }
  return true;
}

/** Where the key's block begins: its first bits scaled to the number of blocks. */
function blockOf(filter: Uint8Array, high: number): number {
  return Math.floor(((high >>> 0) / 0x1_0000_0000) * (filter.length / BLOCK_BYTES)) * BLOCK_BYTES;
}

/** Derives bits from more than `low`: all keys of a block share the first bits of `high`. */
function mixed(high: number, low: number): number {
  const hash = Math.imul(high ^ (low >>> 7), 0x9e37_79b1);
  return hash ^ (hash >>> 15);
}
