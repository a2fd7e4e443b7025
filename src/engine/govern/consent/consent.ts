// Consents: for each user and purpose the newest fact, granted or withdrawn.

/** Any purpose. */
export const EVERY_PURPOSE = '*';
/** The purpose of a write or read that names none. */
export const DEFAULT_PURPOSE = 'storage';

/** The newest consent of a user to a purpose. */
export interface ConsentFact {
  readonly userId: string;
  readonly purpose: string;
  readonly granted: boolean;
  readonly atMs: number;
  /** The hash of the consent grain. */
  readonly hash: string;
  /** Milliseconds. The grant has no effect from then on. */
  readonly expiresAtMs?: number;
  readonly basis?: string;
  readonly jurisdiction?: string;
  /** For a withdrawn consent: the time of its last grant. */
  readonly grantedAtMs?: number;
}

const ADDRESS = /^[0-9a-f]{64}$/i;

/** True for a legal basis other than consent: neither the word `consent` nor the hash of a consent grain. */
export function isOtherBasis(basis: unknown): boolean {
  if (typeof basis !== 'string') return false;
  const named = basis.trim();
  return named !== '' && named.toLowerCase() !== 'consent' && !ADDRESS.test(named);
}

/** `none` when no consent was recorded, or when a grant has expired. */
export type ConsentStatus = 'granted' | 'revoked' | 'none';

export function statusOf(fact: ConsentFact | undefined, nowMs: number): ConsentStatus {
  if (fact === undefined) return 'none';
  if (!fact.granted) return 'revoked';
  return fact.expiresAtMs !== undefined && fact.expiresAtMs <= nowMs ? 'none' : 'granted';
}

/**
 * The consent in force for a purpose: the later of the fact for this purpose and the fact for every purpose. A grant
 * for everything thus covers a purpose without a fact of its own, and a later withdrawal stays in force.
 */
export function laterOf(specific: ConsentFact | undefined, general: ConsentFact | undefined): ConsentFact | undefined {
  if (specific === undefined || general === undefined) return specific ?? general;
  return general.atMs > specific.atMs ? general : specific;
}
