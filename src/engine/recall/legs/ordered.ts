// Filtered docs in order of creation, ties by address. Used by the structural leg and by lists.
import type { GrainPlace } from '../../calls/grain.ts';
import type { Doc, IndexPart } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';
import { headOf, type PartFilter } from '../filter/filter.ts';

export interface PartDoc {
  readonly part: number;
  readonly doc: Doc;
}

export interface Stretch {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Only docs after this position. */
  readonly after?: GrainPlace | undefined;
}

/** Places are cut to the limit when there are this many more than twice as many. */
const SPARE = 64;

/** At most `limit` docs of all parts, by creation time in the given direction, then address ascending. */
export function inOrder(
  store: Store,
  parts: readonly IndexPart[],
  filters: readonly PartFilter[],
  { limit, order, after }: Stretch,
): PartDoc[] {
  const sign = order === 'asc' ? 1 : -1;
  const time = ({ part, doc }: PartDoc): number => parts[part]!.createdAtMs[doc]!;
  const addresses = new Map<number, string>();
  const address = ({ part, doc }: PartDoc): string => {
    const ordinal = parts[part]!.ordinals[doc]!;
    let known = addresses.get(ordinal);
    if (known === undefined) {
      known = store.addressOfLive(ordinal);
      addresses.set(ordinal, known);
    }
    return known;
  };
  // Grains of one batch have one time. The first 32 bits of the hash mostly decide, and are in the index.
  const heads: (Uint32Array | undefined)[] = [];
  const head = ({ part, doc }: PartDoc): number => {
    heads[part] ??= parts[part]!.addressHeads;
    return heads[part][doc]!;
  };
  const compare = (a: PartDoc, b: PartDoc): number =>
    sign * (time(a) - time(b)) || head(a) - head(b) || (address(a) < address(b) ? -1 : 1);
  const afterHead = after === undefined ? 0 : headOf(after.hash);
  const isUpTo = (place: PartDoc, { createdAtMs, hash }: GrainPlace): boolean =>
    time(place) === createdAtMs && (head(place) < afterHead || (head(place) === afterHead && address(place) <= hash));
  let found: PartDoc[] = [];
  /** The last place that is still wanted, once there are enough. */
  let last: PartDoc | undefined;
  parts.forEach((part, i) => {
    for (const doc of stretchOfPart(part, filters[i]!, limit, sign, after?.createdAtMs)) {
      const place = { part: i, doc };
      if (after !== undefined && isUpTo(place, after)) continue;
      if (last !== undefined && compare(place, last) > 0) continue;
      found.push(place);
      if (found.length < 2 * limit + SPARE) continue;
      found = found.sort(compare).slice(0, limit);
      last = found.at(-1);
    }
  });
  return found.sort(compare).slice(0, limit);
}

/**
 * A part's docs from `fromMs` on, in the order's direction: all docs at `fromMs`, then the next `limit`, plus all docs
 * with the same time as the last one. The caller cuts ties by address over all parts.
 */
function stretchOfPart(
  part: IndexPart,
  filter: PartFilter,
  limit: number,
  sign: 1 | -1,
  fromMs: number | undefined,
): Doc[] {
  const times = part.createdAtMs;
  const count = filter.docs === undefined ? part.docCount : filter.docs.length;
  const docAt = (i: number): Doc => (filter.docs === undefined ? i : filter.docs[i]!);
  const timeAt = (i: number): number => times[docAt(i)!]!;
  const docs: Doc[] = [];
  let beyond = 0;
  let lastMs = Number.NaN;
  /** Returns false when the range is complete. */
  const take = (doc: Doc): boolean => {
    const atMs = times[doc]!;
    if (beyond >= limit && atMs !== lastMs) return false;
    if (filter.test(doc)) {
      docs.push(doc);
      lastMs = atMs;
      if (atMs !== fromMs) beyond += 1;
    }
    return true;
  };
  if (part.chronological) {
    if (sign === 1)
      for (let i = fromMs === undefined ? 0 : firstNotBefore(timeAt, count, fromMs); i < count && take(docAt(i)); i++);
    else
      for (
        let i = fromMs === undefined ? count - 1 : firstNotBefore(timeAt, count, fromMs + 1) - 1;
        i >= 0 && take(docAt(i));
        i--
      );
    return docs;
  }
  const sorted: Doc[] = [];
  for (let i = 0; i < count; i++) {
    const doc = docAt(i);
    if (fromMs === undefined || sign * (times[doc]! - fromMs) >= 0) sorted.push(doc);
  }
  sorted.sort((a, b) => sign * (times[a]! - times[b]!));
  for (const doc of sorted) if (!take(doc)) break;
  return docs;
}

/** First index with a time at or after `ms`; times ascend. */
function firstNotBefore(timeAt: (i: number) => number, count: number, ms: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeAt(middle) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
