// Consents: for each user and purpose the newest fact, granted or withdrawn, and the users in the order of their facts.
import { hash } from 'node:crypto';

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

/** A user with a consent. */
export interface ConsentedUser {
  readonly userId: string;
  readonly restricted: boolean;
  /** By purpose, at least one. */
  readonly facts: readonly ConsentFact[];
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

/** The latest consents of users, by user and then by purpose. */
export type Consents = ReadonlyMap<string, ReadonlyMap<string, ConsentFact>>;

/** The time of a user's latest consent; with a purpose, of that to it or to every purpose. Undefined without one. */
export function latestMs(
  ofUser: ReadonlyMap<string, ConsentFact> | undefined,
  purpose: string | undefined,
): number | undefined {
  if (ofUser === undefined) return undefined;
  const facts = purpose === undefined ? ofUser.values() : [ofUser.get(purpose), ofUser.get(EVERY_PURPOSE)];
  let latest: number | undefined;
  for (const fact of facts) if (fact !== undefined) latest = Math.max(latest ?? 0, fact.atMs);
  return latest;
}

/** A whole number below 2 ** 48 that differs for different facts. */
export function markOf({ userId, purpose, granted, atMs, hash: address, ...more }: ConsentFact): number {
  const { expiresAtMs = null, basis = null, jurisdiction = null, grantedAtMs = null } = more;
  const text = JSON.stringify([userId, purpose, granted, atMs, address, expiresAtMs, basis, jurisdiction, grantedAtMs]);
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}

/** A user among those with a consent, at the time of the latest one. */
export interface ConsentPlace {
  readonly timeMs: number;
  readonly id: string;
}

/** Which places of an order a page has. */
export interface ConsentPage {
  readonly order: 'asc' | 'desc';
  readonly offset: number;
  readonly limit: number;
  /** Only places after this one, in the page's order. */
  readonly after?: ConsentPlace | undefined;
}

/** Places that one list holds. A longer one is cut in two. */
const CHUNK_MAX = 512;

/** Places by time, then id. A change and a page cost about as much with many places as with few. */
export class ConsentOrder {
  /** Ascending, and none is empty. */
  readonly #chunks: ConsentPlace[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Does nothing if the place is there. */
  add(place: ConsentPlace): void {
    const at = this.#chunkOf(place);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([place]);
      this.#size = 1;
      return;
    }
    const index = firstFrom(chunk, place);
    if (isAt(chunk, index, place)) return;
    chunk.splice(index, 0, place);
    this.#size += 1;
    if (chunk.length > CHUNK_MAX) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK_MAX / 2));
  }

  /** Does nothing if the place is not there. */
  remove(place: ConsentPlace): void {
    const at = this.#chunkOf(place);
    const chunk = this.#chunks[at] ?? [];
    const index = firstFrom(chunk, place);
    if (!isAt(chunk, index, place)) return;
    chunk.splice(index, 1);
    this.#size -= 1;
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** The places of a page in its order, and whether more follow. */
  page({ order, offset, limit, after }: ConsentPage): { readonly places: ConsentPlace[]; readonly more: boolean } {
    const size = this.#size;
    const start = after === undefined ? 0 : order === 'asc' ? this.#through(after) : size - this.#before(after);
    const from = Math.min(start + offset, size);
    const to = Math.min(from + limit, size);
    const places = order === 'asc' ? this.#slice(from, to) : this.#slice(size - to, size - from).reverse();
    return { places, more: to < size };
  }

  /** All places, ascending. */
  all(): ConsentPlace[] {
    return this.#slice(0, this.#size);
  }

  /** The number of places before this one. */
  #before(place: ConsentPlace): number {
    const at = this.#chunkOf(place);
    let count = firstFrom(this.#chunks[at] ?? [], place);
    for (let i = 0; i < at; i++) count += this.#chunks[i]!.length;
    return count;
  }

  /** The number of places up to this one, itself included. */
  #through(place: ConsentPlace): number {
    const chunk = this.#chunks[this.#chunkOf(place)] ?? [];
    return this.#before(place) + (isAt(chunk, firstFrom(chunk, place), place) ? 1 : 0);
  }

  #slice(from: number, to: number): ConsentPlace[] {
    const places: ConsentPlace[] = [];
    let start = 0;
    for (const chunk of this.#chunks) {
      if (start >= to) break;
      const end = start + chunk.length;
      if (end > from) places.push(...chunk.slice(Math.max(0, from - start), to - start));
      start = end;
    }
    return places;
  }

  /** The last list whose first place is not after this one; 0 if there is none. */
  #chunkOf(place: ConsentPlace): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (comparePlaces(chunks[middle]![0]!, place) <= 0) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** The index of the first place that is not before this one. */
function firstFrom(chunk: readonly ConsentPlace[], place: ConsentPlace): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparePlaces(chunk[middle]!, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isAt(chunk: readonly ConsentPlace[], index: number, place: ConsentPlace): boolean {
  const there = chunk[index];
  return there !== undefined && comparePlaces(there, place) === 0;
}

function comparePlaces(one: ConsentPlace, other: ConsentPlace): number {
  return one.timeMs - other.timeMs || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}
