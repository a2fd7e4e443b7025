// Whose words statistics count: all that is live of a memory, and for a caller who is bound to a namespace or a user what lies
// inside of that alone. How rare a word is elsewhere would move scores, and so tell of grains that are not there for such a caller.
import type { CallContext } from '../calls.ts';
import type { IndexPart } from '../index/part.ts';
import { countedLength } from '../index/text/bm25.ts';
import { type CountedDocs, docBits, type SearchPart } from '../index/text/search.ts';
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
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
  readonly version: number;
  readonly docCount: number;
  readonly counted: CountedDocs | undefined;
}

/** Adding lengths up walks the list, so what the last caller sees of a part is kept until something is removed or added. */
const known = new WeakMap<IndexPart, Known>();

/** Undefined where the caller sees all that is live of the part: then its own sums are right. */
function countedIn(store: Store, part: IndexPart, binding: Binding): CountedDocs | undefined {
  const { namespace, userId } = binding;
  const { docCount } = part;
  const version = store.index.removed.count;
  const last = known.get(part);
  const isKnown =
    last !== undefined &&
    last.namespace === namespace &&
    last.userId === userId &&
    last.version === version &&
    last.docCount === docCount;
  if (isKnown) return last.counted;
  const counted = count(store, part, docsWithin(part, binding) ?? NOTHING);
  known.set(part, { namespace, userId, version, docCount, counted });
  return counted;
}

function count(store: Store, part: IndexPart, within: Uint32Array): CountedDocs | undefined {
  const { docCount, ordinals } = part;
  if (within.length === docCount) return undefined;
  const { removed } = store.index;
  const { lengths } = part.text;
  const docs = new Uint32Array(within.length);
  let live = 0;
  let totalLength = 0;
  for (const doc of within) {
    if (removed.get(ordinals[doc]!)) continue;
    docs[live++] = doc;
    totalLength += countedLength(lengths[doc]!);
  }
  const list = docs.subarray(0, live);
  return { docs: list, bits: 32 * live > docCount ? docBits(list, docCount) : undefined, totalLength };
}
