// The docs of a part that are about a person, whoever it is.
import { DocSet } from '../../index/docs/docset.ts';
import type { IndexPart } from '../../index/parts/part.ts';

/** Uniting the lists of all users costs the length of the part, so the result is cached until the part grows. */
const known = new WeakMap<IndexPart, DocSet>();

export function ownedDocs(part: IndexPart): DocSet {
  const last = known.get(part);
  if (last?.docCount === part.docCount) return last;
  const owned = new DocSet(part.docCount);
  for (const { docs } of part.facetLists('user')) owned.or(docs());
  known.set(part, owned);
  return owned;
}
