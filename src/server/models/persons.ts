// The persons whose texts a request to a model holds. Where a policy keeps texts in regions, the grants of these
// persons decide whether the request may be sent.
import { SOURCE_USERS, sourceUsersOf } from '../../engine/grain/api/source-users.ts';

/** Ids of persons; undefined: texts that are nobody's. Instructions of the server and of the operator are not counted. */
export type Persons = ReadonlySet<string | undefined>;

/** A grain, or a text that is not stored, such as a question. */
export interface Owned {
  readonly userId?: string | undefined;
  readonly fields?: object | undefined;
}

/** The field that names the persons from whose texts a model wrote something, apart from its owner. Empty for none. */
export function sourceFields(persons: Persons, owner: string | undefined): { readonly [SOURCE_USERS]?: string[] } {
  const others = [...persons].filter((person) => person !== undefined && person !== owner).map(String);
  return others.length === 0 ? {} : { [SOURCE_USERS]: others.sort() };
}

/** The persons of texts, with those that they were written from. */
export function personsOf(texts: Iterable<Owned>): Set<string | undefined> {
  const persons = new Set<string | undefined>();
  for (const { userId, fields = {} } of texts) {
    const sources = sourceUsersOf(fields);
    if (userId !== undefined || sources.length === 0) persons.add(userId);
    for (const source of sources) persons.add(source);
  }
  return persons;
}
