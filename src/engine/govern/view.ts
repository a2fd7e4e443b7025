// A memory's restrictions and consents as answers show them.
import { type ConsentFact, EVERY_PURPOSE } from './consent/consent.ts';
import type { Governed, Restriction } from './governed.ts';

/** Restrictions, the oldest first; only that of `userId` if it is given. */
export function restrictionsOf({ restrictions }: Governed, userId: string | undefined): readonly Restriction[] {
  if (userId !== undefined) {
    const one = restrictions.get(userId);
    return one === undefined ? [] : [one];
  }
  return [...restrictions.values()].sort((one, other) => one.atMs - other.atMs);
}

/**
 * Consents by user, then purpose. Without a user, all consents of the memory are read. With a purpose, the facts for it
 * and for every purpose are returned, as either may decide.
 */
export function consentsOf(
  governed: Governed,
  { userId, purpose }: { readonly userId?: string | undefined; readonly purpose?: string | undefined },
): readonly ConsentFact[] {
  const facts =
    userId !== undefined && purpose !== undefined
      ? [...new Set([purpose, EVERY_PURPOSE])].map((name) => governed.consent(userId, name))
      : userId !== undefined
        ? [...governed.consentsOfUser(userId)]
        : [...governed.allConsents().values()].flatMap((byPurpose) => [...byPurpose.values()]);
  return facts
    .filter((fact): fact is ConsentFact => fact !== undefined)
    .filter((fact) => purpose === undefined || fact.purpose === purpose || fact.purpose === EVERY_PURPOSE)
    .sort((one, other) => compare(one.userId, other.userId) || compare(one.purpose, other.purpose));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
