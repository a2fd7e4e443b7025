import type { IndexPart } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';

type Bitmap = Store['index']['removed'];

const NONE = new Uint32Array(0);

interface Known {
  readonly version: number;
  readonly docCount: number;
  readonly docs: Uint32Array;
}

/** Finding these docs scans the part, so each list is cached until something is removed, superseded or added. */
const known = { removed: new WeakMap<IndexPart, Known>(), outdated: new WeakMap<IndexPart, Known>() };

/** Removed docs of a part that no merge has dropped yet, ascending. */
export function removedDocs({ index: { removed } }: Store, part: IndexPart): Uint32Array {
  return markedDocs(part, known.removed, removed, removed);
}

/** Removed and superseded docs of a part, ascending. */
export function outdatedDocs(store: Store, part: IndexPart): Uint32Array {
  const { removed, superseded } = store.index;
  if (superseded.count === 0) return removedDocs(store, part);
  return markedDocs(part, known.outdated, removed, superseded);
}

/** The docs of a part that are set in either bitmap, ascending. */
function markedDocs(part: IndexPart, kept: WeakMap<IndexPart, Known>, one: Bitmap, other: Bitmap): Uint32Array {
  const { docCount, ordinals } = part;
  const version = one.count + other.count;
  if (docCount === 0 || version === 0) return NONE;
  const last = kept.get(part);
  if (last !== undefined && last.version === version && last.docCount === docCount) return last.docs;
  const first = ordinals[0]!;
  const end = ordinals[docCount - 1]!;
  const docs: number[] = [];
  if (one.any(first, end) || other.any(first, end))
    for (let doc = 0; doc < docCount; doc++) if (one.get(ordinals[doc]!) || other.get(ordinals[doc]!)) docs.push(doc);
  const found = docs.length === 0 ? NONE : Uint32Array.from(docs);
  kept.set(part, { version, docCount, docs: found });
  return found;
}
