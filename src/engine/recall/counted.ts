// Whose words statistics count: all that is live of a memory, and for a caller who is bound to a namespace or a user what lies
// inside of that alone. How rare a word is elsewhere would move scores, and so tell of grains that are not there for such a caller.
import type { CallContext } from '../calls.ts';
import type { IndexPart } from '../index/part.ts';
import { countedLength } from '../index/text/bm25.ts';
import { type CountedDocs, docBits, type SearchPart } from '../index/text/search.ts';
import { COUNTED_BINDINGS_MAX } from '../limits.ts';
import type { Store } from '../store/store.ts';
import { docsWithin } from './filter.ts';
import { removedDocs } from './removed.ts';

type Binding = Pick<CallContext, 'namespace' | 'userId'>;

/** The parts as statistics see them. */
export function countedParts(store: Store, parts: readonly IndexPart[], context: Binding): SearchPart[] {
  const isBound = context.namespace !== undefined || context.userId !== undefined;
  return parts.map((part) => ({
    text: part.text,
    removed: undefined,
    allowed: undefined,
    removedDocs: removedDocs(store, part),
    counted: isBound ? countedIn(store, part, context) : undefined,
  }));
}

const NOTHING = new Uint32Array(0);

interface Known {
  readonly version: number;
  readonly docCount: number;
  /** By binding, the last used last. */
  readonly bindings: Map<string, CountedDocs | undefined>;
}

/** Adding lengths up walks a list, so what the last callers see of a part is kept until something is removed or added. */
const known = new WeakMap<IndexPart, Known>();

/** Undefined where the caller sees all that is live of the part: then its own sums are right. */
function countedIn(store: Store, part: IndexPart, binding: Binding): CountedDocs | undefined {
  const { docCount } = part;
  const version = store.index.removed.count;
  let last = known.get(part);
  if (last === undefined || last.version !== version || last.docCount !== docCount) {
    last = { version, docCount, bindings: new Map() };
    known.set(part, last);
  }
  const { bindings } = last;
  const name = JSON.stringify([binding.namespace, binding.userId]);
  const isKnown = bindings.has(name);
  const counted = isKnown ? bindings.get(name) : count(store, part, docsWithin(part, binding) ?? NOTHING);
  bindings.delete(name);
  bindings.set(name, counted);
  if (bindings.size > COUNTED_BINDINGS_MAX) bindings.delete(bindings.keys().next().value ?? name);
  return counted;
}

function count(store: Store, part: IndexPart, within: Uint32Array): CountedDocs | undefined {
  const { docCount, ordinals } = part;
  if (within.length === docCount) return undefined;
  const { removed } = store.index;
  const { lengths } = part.text;
  const mayBeGone = removedDocs(store, part).length > 0;
  const docs = new Uint32Array(within.length);
  let live = 0;
  let totalLength = 0;
  for (let i = 0; i < within.length; i++) {
    const doc = within[i]!;
    if (mayBeGone && removed.get(ordinals[doc]!)) continue;
    docs[live++] = doc;
    totalLength += countedLength(lengths[doc]!);
  }
  const isDense = 32 * live > docCount;
  const list = docs.subarray(0, live);
  return { count: live, docs: isDense ? docBits(list, docCount) : list, totalLength };
}
