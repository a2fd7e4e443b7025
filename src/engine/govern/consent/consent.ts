// What people have agreed to: for each purpose the last thing that they said of it, granted or withdrawn.

/** Any purpose. */
export const EVERY_PURPOSE = '*';
/** What a write or a read is for where its caller does not say. */
export const DEFAULT_PURPOSE = 'storage';

/** The last that a user said of a purpose. */
export interface ConsentFact {
  readonly userId: string;
  readonly purpose: string;
  readonly granted: boolean;
  readonly atMs: number;
  /** The consent grain that says it. */
  readonly hash: string;
  /** Milliseconds. A grant is none from then on. */
  readonly expiresAtMs?: number;
  readonly basis?: string;
  readonly jurisdiction?: string;
  /** When it was last granted, of what is withdrawn now. */
  readonly grantedAtMs?: number;
}

const ADDRESS = /^[0-9a-f]{64}$/i;

/** True for a ground of processing that is no consent: neither the word for it nor the hash of a consent grain. */
export function isOtherBasis(basis: unknown): boolean {
  if (typeof basis !== 'string') return false;
  const named = basis.trim();
  return named !== '' && named.toLowerCase() !== 'consent' && !ADDRESS.test(named);
}

/** `none` where nothing was ever said, and where a grant has run out. */
export type ConsentStatus = 'granted' | 'revoked' | 'none';

export function statusOf(fact: ConsentFact | undefined, nowMs: number): ConsentStatus {
  if (fact === undefined) return 'none';
  if (!fact.granted) return 'revoked';
  return fact.expiresAtMs !== undefined && fact.expiresAtMs <= nowMs ? 'none' : 'granted';
}

/**
 * What holds for a purpose, of what was said of it and of every purpose: the later of the two. So a grant for everything
 * covers a purpose that was never spoken of, and what is withdrawn after it stays withdrawn.
 */
export function laterOf(specific: ConsentFact | undefined, general: ConsentFact | undefined): ConsentFact | undefined {
  if (specific === undefined || general === undefined) return specific ?? general;
  return general.atMs > specific.atMs ? general : specific;
}
