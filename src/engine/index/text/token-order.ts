// Sorts a dictionary's tokens in slices. Array.sort of a big dictionary would hold the shard for a hundred
// milliseconds; tokens are keyed hashes, hence even, so that buckets by their first bits stay small.
import type { Sliced } from '../section.ts';

const PER_BUCKET = 8;
const SLICE = 8_192;
const SLICE_BUCKETS = 512;

/** The indexes of all tokens in ascending order of (high, low). */
export function* sortTokens(high: Uint32Array, low: Uint32Array): Sliced<Uint32Array> {
  const count = high.length;
  const bits = Math.min(20, Math.max(0, Math.ceil(Math.log2(count / PER_BUCKET + 1))));
  const shift = 32 - bits;
  const bucketOf = (index: number): number => (bits === 0 ? 0 : high[index]! >>> shift);
  const ends = new Uint32Array(2 ** bits);
  for (let i = 0; i < count; i++) {
    ends[bucketOf(i)]!++;
    if (i % SLICE === 0) yield;
  }
  for (let bucket = 1; bucket < ends.length; bucket++) ends[bucket]! += ends[bucket - 1]!;
  const order = new Uint32Array(count);
  const next = new Uint32Array(ends.length);
  for (let bucket = 1; bucket < ends.length; bucket++) next[bucket] = ends[bucket - 1]!;
  for (let i = 0; i < count; i++) {
    order[next[bucketOf(i)]!++] = i;
    if (i % SLICE === 0) yield;
  }
  let start = 0;
  for (let bucket = 0; bucket < ends.length; bucket++) {
    const end = ends[bucket]!;
    sortBucket(order, start, end, high, low);
    start = end;
    if (bucket % SLICE_BUCKETS === 0) yield;
  }
  return order;
}

/** Sorts a handful of indexes by insertion. */
function sortBucket(order: Uint32Array, start: number, end: number, high: Uint32Array, low: Uint32Array): void {
  for (let i = start + 1; i < end; i++) {
    const index = order[i]!;
    let at = i;
    for (; at > start; at--) {
      const other = order[at - 1]!;
      if (high[other]! < high[index]! || (high[other] === high[index] && low[other]! <= low[index]!)) break;
      order[at] = other;
    }
    order[at] = index;
  }
}
