import type { IndexPart } from '../../index/parts/part.ts';
import { removedDocs } from '../../recall/filter/removed.ts';
import type { Store } from '../../store/store.ts';

const NONE = new Uint32Array(0);

interface Known {
  readonly version: number;
  readonly docCount: number;
  readonly docs: Uint32Array;
}

/** Finding them walks the part, so a part's list is kept until something is removed, superseded or added. */
const known = new WeakMap<IndexPart, Known>();

/** The docs of a part that were removed or, unless old versions count, superseded; ascending. */
export function goneDocs(store: Store, part: IndexPart, withSuperseded: boolean): Uint32Array {
  const { removed, superseded } = store.index;
  if (withSuperseded || superseded.count === 0) return removedDocs(store, part);
  const { docCount, ordinals } = part;
  if (docCount === 0) return NONE;
  const version = removed.count + superseded.count;
  const last = known.get(part);
  if (last !== undefined && last.version === version && last.docCount === docCount) return last.docs;
  const first = ordinals[0]!;
  const end = ordinals[docCount - 1]!;
  const docs: number[] = [];
  if (removed.any(first, end) || superseded.any(first, end))
    for (let doc = 0; doc < docCount; doc++)
      if (removed.get(ordinals[doc]!) || superseded.get(ordinals[doc]!)) docs.push(doc);
  const found = docs.length === 0 ? NONE : Uint32Array.from(docs);
  known.set(part, { version, docCount, docs: found });
  return found;
}
