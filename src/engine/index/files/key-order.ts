// Sorts keys in slices: tokens and hashes of eight bytes, given as two halves. Array.sort of a large table would block
// the shard for 100 ms. Keys are hashes and so evenly distributed, which keeps buckets by their first bits small.
import type { Sliced } from './section.ts';

/** Each key is compared with half of its bucket on average. */
const PER_BUCKET = 2;
const SLICE = 8_192;
const SLICE_BUCKETS = 512;
/**
 * Larger buckets are sorted by the library: a caller who chooses the hashed texts can choose the first bits of the
 * hashes.
 */
const INSERTION_MAX = 32;

/**
 * The indexes of all keys in ascending order of (high, low). Equal keys are in the order of `tie`, or in their given
 * order without it.
 */
export function* orderKeys(
  high: Uint32Array,
  low: Uint32Array,
  tie: (left: number, right: number) => number = (left, right) => left - right,
): Sliced<Uint32Array> {
  const count = high.length;
  const bits = Math.min(20, Math.max(0, Math.ceil(Math.log2(count / PER_BUCKET + 1))));
  // A shift by 32 is a shift by 0, so with a single bucket the number is masked instead.
  const shift = bits === 0 ? 0 : 32 - bits;
  const mask = 2 ** bits - 1;
  const ends = new Uint32Array(2 ** bits);
  for (let i = 0; i < count; i++) {
    ends[(high[i]! >>> shift) & mask]!++;
    if (i % SLICE === SLICE - 1) yield;
  }
  const next = new Uint32Array(ends.length);
  for (let bucket = 1; bucket < ends.length; bucket++) {
    next[bucket] = ends[bucket - 1]!;
    ends[bucket]! += ends[bucket - 1]!;
  }
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    order[next[(high[i]! >>> shift) & mask]!++] = i;
    if (i % SLICE === SLICE - 1) yield;
  }
  const compare = (left: number, right: number): number =>
    high[left]! - high[right]! || low[left]! - low[right]! || tie(left, right);
  let start = 0;
  for (let bucket = 0; bucket < ends.length; bucket++) {
    const end = ends[bucket]!;
    if (end - start > INSERTION_MAX) order.subarray(start, end).sort(compare);
    else insert(order, start, end, high, compare);
    start = end;
    if (bucket % SLICE_BUCKETS === SLICE_BUCKETS - 1) yield;
  }
  return order;
}

function insert(
  order: Uint32Array,
  start: number,
  end: number,
  high: Uint32Array,
  compare: (left: number, right: number) => number,
): void {
  for (let i = start + 1; i < end; i++) {
    const index = order[i]!;
    const key = high[index]!;
    let at = i;
    for (; at > start; at--) {
      const before = order[at - 1]!;
      // Keys with equal first halves are rare.
      if (high[before]! < key || (high[before] === key && compare(before, index) <= 0)) break;
      order[at] = before;
    }
    order[at] = index;
  }
}
