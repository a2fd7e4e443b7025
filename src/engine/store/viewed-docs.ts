import type { AccessView } from '../govern/access/access.ts';
import { DocSet } from '../index/docs/docset.ts';
import type { IndexPart } from '../index/parts/part.ts';

const NOTHING = new Uint32Array(0);

/** The docs of a part in the namespaces of a view, old and removed ones included. One check for each namespace. */
export function viewedSet(part: IndexPart, view: AccessView): DocSet {
  const docs = new DocSet(part.docCount);
  for (const [namespace] of part.facetValues('namespace'))
    if (view.has(namespace)) docs.or(part.facet('namespace', namespace) ?? NOTHING);
  return docs;
}

/** The same as an ascending list. */
export function viewedDocs(part: IndexPart, view: AccessView): Uint32Array {
  return viewedSet(part, view).toArray();
}

/** Uniting the lists of all users costs the length of the part, so the result is cached until the part grows. */
const knownOfUsers = new WeakMap<IndexPart, DocSet>();

/** The docs of a part that are about a person, whoever it is. Callers do not change it. */
export function docsOfUsers(part: IndexPart): DocSet {
  const last = knownOfUsers.get(part);
  if (last?.docCount === part.docCount) return last;
  const owned = new DocSet(part.docCount);
  for (const { docs } of part.facetLists('user')) owned.or(docs());
  knownOfUsers.set(part, owned);
  return owned;
}
