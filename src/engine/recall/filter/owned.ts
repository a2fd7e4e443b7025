// The docs of a part that are about a person, whoever it is, or were written from what is; and those that a query for one
// person may show.
import { DocSet } from '../../index/docs/docset.ts';
import type { IndexPart } from '../../index/parts/part.ts';
import { FROM_OTHERS } from '../../store/indexed-fields.ts';
import { docsOfUsers } from '../../store/viewed-docs.ts';

/** The union is cached until the part grows. */
const known = new WeakMap<IndexPart, DocSet>();

function ownedDocs(part: IndexPart): DocSet {
  const last = known.get(part);
  if (last?.docCount === part.docCount) return last;
  const owned = new DocSet(part.docCount).or(docsOfUsers(part));
  const written = part.facet('field', FROM_OTHERS);
  if (written !== undefined) owned.or(written);
  known.set(part, owned);
  return owned;
}

/** The last person whose docs were asked for: the sources of a context, and the turns of a chat, ask for one. */
const knownForUser = new WeakMap<IndexPart, { readonly userId: string; readonly docs: DocSet }>();

/** The docs that are about this user, or about nobody. */
export function docsForUser(part: IndexPart, userId: string): DocSet {
  const last = knownForUser.get(part);
  if (last?.userId === userId && last.docs.docCount === part.docCount) return last.docs;
  const docs = DocSet.full(part.docCount).andNot(ownedDocs(part));
  const own = part.facet('user', userId);
  if (own !== undefined) docs.or(own);
  knownForUser.set(part, { userId, docs });
  return docs;
}
