// Limits a recall's text statistics to docs that the caller may see. Otherwise the rarity of words in other docs would
// change scores, and so reveal grains that are outside the caller's binding or hidden by a restriction, a consent or a
// time to live.

import { COUNTED_BINDINGS_MAX } from '../../base/limits.ts';
import type { CallContext } from '../../calls/context.ts';
import type { Doc, IndexPart } from '../../index/parts/part.ts';
import { countedLength } from '../../index/text/bm25.ts';
import { docBits } from '../../index/text/search.ts';
import type { CountedDocs, SearchPart } from '../../index/text/search-part.ts';
import type { Store } from '../../store/store.ts';
import { docsWithin } from '../filter/filter.ts';
import { type HiddenReason, type HidingNow, hidingIn } from '../filter/hidden.ts';
import { removedDocs } from '../filter/removed.ts';

/** The parts, restricted to the docs that count for this caller's statistics. */
export function countedParts(store: Store, parts: readonly IndexPart[], context: CallContext): SearchPart[] {
  return parts.map((part) => ({
    text: part.text,
    removed: undefined,
    allowed: undefined,
    removedDocs: removedDocs(store, part),
    counted: seenIn(store, part, context).counted,
  }));
}

export type HiddenCounts = Readonly<Partial<Record<HiddenReason, number>>>;

/** Number of hidden docs within the caller's binding, independent of the query. */
export function hiddenCounts(store: Store, parts: readonly IndexPart[], context: CallContext): HiddenCounts {
  const sums: Partial<Record<HiddenReason, number>> = {};
  for (const part of parts)
    for (const [reason, count] of Object.entries(seenIn(store, part, context).hidden) as [HiddenReason, number][])
      sums[reason] = (sums[reason] ?? 0) + count;
  return sums;
}

/** The docs of a part that a caller sees. */
interface Seen {
  /** Undefined if the caller sees all live docs: then the part's own sums are correct. */
  readonly counted: CountedDocs | undefined;
  readonly hidden: HiddenCounts;
  /** Until when this is valid, in ms: then the next doc becomes hidden. */
  readonly untilMs: number;
}

const ALL: Seen = { counted: undefined, hidden: {}, untilMs: Number.POSITIVE_INFINITY };

interface Known {
  readonly version: number;
  readonly docCount: number;
  /** Entries by binding and hidden people, least recently used first. */
  readonly callers: Map<string, Seen>;
}

/** Summing the lengths scans a list, so results of recent callers are cached until something is removed, added or hidden. */
const known = new WeakMap<IndexPart, Known>();

function seenIn(store: Store, part: IndexPart, context: CallContext): Seen {
  const { namespace, userId } = context;
  const hiding = hidingIn(store, part, context);
  if (hiding === undefined && namespace === undefined && userId === undefined) return ALL;
  const { docCount } = part;
  const version = store.index.removed.count;
  let last = known.get(part);
  if (last === undefined || last.version !== version || last.docCount !== docCount) {
    last = { version, docCount, callers: new Map() };
    known.set(part, last);
  }
  const { callers } = last;
  // The lengths keep the parts of the name apart.
  const name = `${namespace?.length} ${userId?.length} ${namespace} ${userId} ${hiding?.key}`;
  const kept = callers.get(name);
  const isGood = kept !== undefined && store.clock.nowMs() < kept.untilMs;
  const seen = isGood ? kept : look(store, part, docsWithin(part, context), hiding);
  callers.delete(name);
  callers.set(name, seen);
  if (callers.size > COUNTED_BINDINGS_MAX) callers.delete(callers.keys().next().value ?? name);
  return seen;
}

/** `within`: the docs of the caller's binding; undefined: all. */
function look(store: Store, part: IndexPart, within: Uint32Array | undefined, hiding: HidingNow | undefined): Seen {
  const { docCount, ordinals } = part;
  if (within?.length === docCount && hiding === undefined) return ALL;
  const { removed } = store.index;
  const { lengths } = part.text;
  const nowMs = store.clock.nowMs();
  const mayBeGone = removedDocs(store, part).length > 0;
  const count = within?.length ?? docCount;
  const docs = new Uint32Array(count);
  const hidden: Partial<Record<HiddenReason, number>> = {};
  let untilMs = hiding?.untilMs ?? Number.POSITIVE_INFINITY;
  let live = 0;
  let totalLength = 0;
  let seesAll = within === undefined || within.length === docCount;
  for (let i = 0; i < count; i++) {
    const doc: Doc = within === undefined ? i : within[i]!;
    if (mayBeGone && removed.get(ordinals[doc]!)) continue;
    if (hiding !== undefined) {
      const reason = hiding.reasons.find(({ hides }) => hides(doc))?.reason;
      if (reason !== undefined) {
        hidden[reason] = (hidden[reason] ?? 0) + 1;
        seesAll = false;
        continue;
      }
      const endMs = hiding.endOf(doc);
      if (endMs > nowMs && endMs < untilMs) untilMs = endMs;
    }
    docs[live++] = doc;
    totalLength += countedLength(lengths[doc]!);
  }
  if (seesAll) return { counted: undefined, hidden, untilMs };
  const isDense = 32 * live > docCount;
  const list = docs.subarray(0, live);
  const counted = { count: live, docs: isDense ? docBits(list, docCount) : list, totalLength, frequencies: new Map() };
  return { counted, hidden, untilMs };
}
