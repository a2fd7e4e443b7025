// The signing keys of an OpenID Connect issuer: discovery (OpenID Connect Discovery 1.0), then its JSON Web Key Set
// (RFC 7517). The set is kept for ten minutes, and fetched again before that for a token with an unknown key id.
import type { FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import { EngineError } from '../../engine/base/errors.ts';
import {
  ISSUER_ANSWER_BYTES_MAX,
  ISSUER_KEYS_FRESH_MS,
  ISSUER_KEYS_STALE_MS,
  ISSUER_RETRY_MS,
  ISSUER_TIMEOUT_MS,
} from '../../engine/base/limits.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import type { Logger } from '../log.ts';

const jose = onDemand<typeof import('jose')>(import.meta.url, 'jose');

type KeyOf = ReturnType<typeof import('jose').createLocalJWKSet>;

/** One fetched set. A new set is a new object, so that a cached verdict on a token can name the set that gave it. */
export interface FetchedKeys {
  readonly keyOf: KeyOf;
  readonly atMs: number;
}

export class IssuerKeys {
  readonly #issuer: string;
  readonly #log: Logger;
  readonly #monotonicMs: () => number;
  #keys: FetchedKeys | undefined;
  #fetching: Promise<FetchedKeys> | undefined;
  #triedMs = Number.NEGATIVE_INFINITY;
  #failedMs = Number.NEGATIVE_INFINITY;

  /** `monotonicMs`: a clock without steps; freshness must not depend on the date. */
  constructor(parts: { issuer: string; log: Logger; monotonicMs?: (() => number) | undefined }) {
    this.#issuer = parts.issuer;
    this.#log = parts.log;
    this.#monotonicMs = parts.monotonicMs ?? (() => performance.now());
  }

  /** The set if it is fresh. Without it, `current` fetches one. */
  get fresh(): FetchedKeys | undefined {
    const keys = this.#keys;
    return keys !== undefined && this.#monotonicMs() - keys.atMs < ISSUER_KEYS_FRESH_MS ? keys : undefined;
  }

  /**
   * A set that is fresh, or up to an hour old while the issuer does not answer: tokens in use outlive a short outage.
   * Throws AUT-E008 without one.
   */
  async current(): Promise<FetchedKeys> {
    const { fresh } = this;
    if (fresh !== undefined) return fresh;
    const keys = this.#keys;
    const usable = keys !== undefined && this.#monotonicMs() - keys.atMs < ISSUER_KEYS_STALE_MS ? keys : undefined;
    const fetching = this.#fetched();
    if (usable === undefined) return fetching;
    // An issuer that hangs must not hold up every call: after one failure, tokens no longer wait for it.
    const failedBefore = this.#failedMs > usable.atMs;
    const afterwards = fetching.catch(() => usable);
    return failedBefore ? usable : afterwards;
  }

  /** The set after a refetch for an unknown key id; the same set if one was fetched a moment ago or the issuer is down. */
  async afterUnknownKey(keys: FetchedKeys): Promise<FetchedKeys> {
    return this.#fetched().catch(() => keys);
  }

  /** One fetch at a time, and one in thirty seconds at most: forged key ids must not flood the issuer. */
  #fetched(): Promise<FetchedKeys> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (this.#monotonicMs() - this.#triedMs < ISSUER_RETRY_MS) return Promise.reject(unreachable());
    this.#triedMs = this.#monotonicMs();
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<FetchedKeys> {
    try {
      // The two fetches share one time limit.
      const signal = AbortSignal.timeout(ISSUER_TIMEOUT_MS);
      const uri = await this.#keySetUri(signal);
      const set = (await fetchedJson(uri, signal)) as JSONWebKeySet; // createLocalJWKSet checks its form
      this.#keys = { keyOf: jose().createLocalJWKSet(set), atMs: this.#monotonicMs() };
      return this.#keys;
    } catch (error) {
      this.#failedMs = this.#monotonicMs();
      this.#log.warn(
        { issuer: this.#issuer, reason: reasonOf(error) },
        'the keys of the token issuer are not available',
      );
      throw unreachable();
    }
  }

  async #keySetUri(signal: AbortSignal): Promise<string> {
    const configuration = await fetchedJson(
      `${this.#issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
      signal,
    );
    const { issuer, jwks_uri: uri } = configuration as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
    if (issuer !== this.#issuer) throw new Error('its configuration names another issuer');
    if (typeof uri !== 'string' || !isIssuerUrl(uri)) throw new Error('its configuration has no usable jwks_uri');
    return uri;
  }
}

/** Finds the key of a token. Throws jose's error for a token whose key is not in the set. */
export function keyIn(
  keys: FetchedKeys,
  header: JWSHeaderParameters | undefined,
  token: FlattenedJWSInput | undefined,
): ReturnType<KeyOf> {
  return keys.keyOf(header, token);
}

/** True for https, and for http on this machine only: an attacker who changes the keys in transit decides who may enter. */
export function isIssuerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username } = new URL(text);
  if (username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname));
}

/**
 * Fetches the JSON object at an address of the issuer. Redirects are errors: they would leave the host that the operator
 * configured. `isRefusable`: the object of an answer 400 or 401 is returned too.
 */
export async function fetchedJson(
  url: string,
  signal: AbortSignal,
  { isRefusable, ...request }: { method?: string; body?: URLSearchParams; isRefusable?: boolean } = {},
): Promise<unknown> {
  const answer = await fetch(url, { ...request, signal, redirect: 'error', headers: { accept: 'application/json' } });
  const isAnswer = answer.ok || (isRefusable === true && (answer.status === 400 || answer.status === 401));
  if (!isAnswer || answer.body === null) throw new Error(`${new URL(url).pathname} answered ${answer.status}`);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body) {
    bytes += part.length;
    if (bytes > ISSUER_ANSWER_BYTES_MAX) throw new Error(`${new URL(url).pathname} answered too much`);
    parts.push(part);
  }
  const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
  if (typeof value !== 'object' || value === null) throw new Error(`${new URL(url).pathname} answered no object`);
  return value;
}

function unreachable(): EngineError {
  return new EngineError('AUT-E008', 'the issuer of tokens cannot be reached: try again');
}

/** The message of an error, and of its cause: for the log, since callers are not told. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
