import type { IndexPart } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';

const NONE = new Uint32Array(0);

interface Known {
  readonly version: number;
  readonly docCount: number;
  readonly docs: Uint32Array;
}

/** Finding them walks the part, so a part's list is kept until something is removed or added. */
const known = new WeakMap<IndexPart, Known>();

/** The docs of a part that were removed and not yet dropped by a merge, ascending. */
export function removedDocs(store: Store, part: IndexPart): Uint32Array {
  const { removed } = store.index;
  if (removed.count === 0) return NONE;
  const last = known.get(part);
  if (last !== undefined && last.version === removed.count && last.docCount === part.docCount) return last.docs;
  const docs: number[] = [];
  for (let doc = 0; doc < part.docCount; doc++) if (removed.get(part.ordinals[doc]!)) docs.push(doc);
  const found = docs.length === 0 ? NONE : Uint32Array.from(docs);
  known.set(part, { version: removed.count, docCount: part.docCount, docs: found });
  return found;
}
