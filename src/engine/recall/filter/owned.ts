// The docs of a part that are about a person, whoever it is, or were written from what is.
import { DocSet } from '../../index/docs/docset.ts';
import type { IndexPart } from '../../index/parts/part.ts';
import { FROM_OTHERS } from '../../store/indexed-fields.ts';

/** Uniting the lists of all users costs the length of the part, so the result is cached until the part grows. */
const known = new WeakMap<IndexPart, DocSet>();

export function ownedDocs(part: IndexPart): DocSet {
  const last = known.get(part);
  if (last?.docCount === part.docCount) return last;
  const owned = new DocSet(part.docCount);
  for (const { docs } of part.facetLists('user')) owned.or(docs());
  const written = part.facet('field', FROM_OTHERS);
  if (written !== undefined) owned.or(written);
  known.set(part, owned);
  return owned;
}
