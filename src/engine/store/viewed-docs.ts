import type { AccessView } from '../govern/access/access.ts';
import { DocSet } from '../index/docs/docset.ts';
import type { IndexPart } from '../index/parts/part.ts';

const NOTHING = new Uint32Array(0);

/** The last answer for each part: one call asks for the same once for each person, and an accumulate for each write. */
const known = new WeakMap<IndexPart, { readonly view: AccessView; readonly docs: DocSet }>();

/**
 * The docs of a part in the namespaces of a view, old and removed ones included; read-only. One check for each namespace. A
 * change of the tuples makes another view.
 */
export function viewedSet(part: IndexPart, view: AccessView): DocSet {
  const last = known.get(part);
  if (last?.view === view && last.docs.docCount === part.docCount) return last.docs;
  const docs = new DocSet(part.docCount);
  for (const [namespace] of part.facetValues('namespace'))
    if (view.has(namespace)) docs.or(part.facet('namespace', namespace) ?? NOTHING);
  known.set(part, { view, docs });
  return docs;
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
