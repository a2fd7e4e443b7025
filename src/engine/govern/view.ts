// A memory's restrictions and consents as answers show them.
import { PAGE_LIMIT_MAX } from '../base/limits.ts';
import {
  type ConsentedUser,
  type ConsentFact,
  ConsentOrder,
  type ConsentPage,
  EVERY_PURPOSE,
} from './consent/consent.ts';
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
 * Consents of a user by purpose. With a purpose, the facts for it and for every purpose are returned, as either may decide.
 */
export function consentsOf(
  governed: Governed,
  { userId, purpose }: { readonly userId: string; readonly purpose?: string | undefined },
): readonly ConsentFact[] {
  const facts =
    purpose === undefined
      ? [...governed.consentsOfUser(userId)]
      : [...new Set([purpose, EVERY_PURPOSE])].flatMap((name) => governed.consent(userId, name) ?? []);
  return byPurpose(facts);
}

/**
 * A page of the users with a consent, and their number. `isSeen`: only these; without it, all of them. Yields while it asks
 * for each of them, and while the users are put in order for the first time.
 */
export function* consentPage(
  governed: Governed,
  { purpose, ...page }: ConsentPage & { readonly purpose?: string | undefined },
  isSeen: ((userId: string) => boolean) | undefined,
): Generator<void, { readonly users: ConsentedUser[]; readonly total: number; readonly more: boolean }, void> {
  const all = yield* governed.consentOrder(purpose);
  const seen = isSeen === undefined ? all : new ConsentOrder();
  for (const place of isSeen === undefined ? [] : all.all()) {
    if (isSeen?.(place.id) === true) seen.add(place);
    yield;
  }
  const { places, more } = seen.page(page);
  const users: ConsentedUser[] = [];
  for (const [at, { id: userId }] of places.entries()) {
    if (at > 0 && at % USERS_A_STEP === 0) yield;
    const facts = [...governed.consentsOfUser(userId)].filter((fact) => isOf(fact, purpose));
    if (facts.length > 0) users.push({ userId, restricted: governed.isRestricted(userId), facts: byPurpose(facts) });
  }
  return { users, total: seen.size, more };
}

/** More than a page has, so that the facts of a page are of one moment. */
const USERS_A_STEP = PAGE_LIMIT_MAX + 1;

function isOf(fact: ConsentFact, purpose: string | undefined): boolean {
  return purpose === undefined || fact.purpose === purpose || fact.purpose === EVERY_PURPOSE;
}

function byPurpose(facts: ConsentFact[]): ConsentFact[] {
  return facts.sort((one, other) => (one.purpose < other.purpose ? -1 : 1));
}
