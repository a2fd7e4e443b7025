// Authentication: turns credentials into a principal, by API keys, by tokens of an issuer, or
// by both (service contract, section 3).
import { assert } from '../../engine/base/assert.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  AUTH_FAILURES_PER_MINUTE,
  KEY_HEADER_CHARS_MAX,
  KEY_HEADERS_REMEMBERED_MAX,
} from '../../engine/base/limits.ts';
import type { Config } from '../config.ts';
import type { KeyRecord, Keys } from '../control/keys.ts';
import { networkOf } from '../networks.ts';
import { heldBy, type Principal } from './principal.ts';
import { RateLimiter } from './rate-limit.ts';
import type { TokenVerifier, Verified } from './tokens.ts';

const API_KEY = /^g[rp]_/;

export interface Caller {
  /** Empty when the caller had disconnected before it was first read. */
  readonly remoteAddress: string;
}

export interface Credentials {
  /** Value of `authorization`, from the header or the metadata. */
  readonly authorization: string | undefined;
  /** Value of the older header `X-API-Key`. */
  readonly apiKey: string | undefined;
  /** Its address is read only where a failure may count: behind proxies it is looked for in headers. */
  readonly from: Caller;
  /** The object by which `recognise` knows the headers again. */
  readonly identity?: object | undefined;
}

/** A key or a token admitted before. It is checked again each time. */
type Known = { readonly principal: Principal } & ({ readonly key: KeyRecord } | { readonly token: Verified });

export class Authenticator {
  /** Undefined where only tokens are accepted. */
  readonly #keys: Keys | undefined;
  readonly #tokens: TokenVerifier | undefined;
  readonly #anonymous: Principal | undefined;
  readonly #failures: RateLimiter;
  /** By the headers that carried them, as their transport knows them. */
  readonly #recognised = new WeakMap<object, Known>();
  /** Keys by the value of `authorization`, the oldest first. */
  readonly #byHeader = new Map<string, Known>();
  #failed = 0;

  /**
   * `open`: in mode `none`, other machines can reach the listeners. `tokens`: the verifier of the modes `oidc` and
   * `composite`.
   */
  constructor(parts: {
    mode: Config['auth'];
    open: boolean;
    keys: Keys;
    tokens?: TokenVerifier | undefined;
    clock: Clock;
  }) {
    assert(
      (parts.tokens !== undefined) === (parts.mode === 'oidc' || parts.mode === 'composite'),
      'the modes with tokens have a verifier',
    );
    this.#keys = parts.mode === 'oidc' ? undefined : parts.keys;
    this.#tokens = parts.tokens;
    this.#anonymous = parts.mode === 'none' ? anonymousOn(parts.open) : undefined;
    this.#failures = new RateLimiter({
      perMinute: AUTH_FAILURES_PER_MINUTE,
      burst: AUTH_FAILURES_PER_MINUTE,
      clock: parts.clock,
    });
  }

  /**
   * Throws, or rejects with, AUT-E005 without credentials, AUT-E004 for invalid ones, AUT-E008 when a token cannot be
   * checked, and LIM-E001 for an address with too many failures. Credentials that are sent are checked in every mode.
   * A promise is returned only for a token that must be verified.
   */
  authenticate(credentials: Credentials): Principal | Promise<Principal> {
    const again = this.#knownByHeader(credentials);
    if (again !== undefined) return again.principal;
    const raw = rawKey(credentials);
    if (raw === undefined) {
      if (this.#anonymous !== undefined) return this.#anonymous;
      throw new EngineError(
        'AUT-E005',
        `credentials missing: send Authorization: Bearer <${this.#keys === undefined ? 'token' : 'key'}>`,
      );
    }
    const key = raw === '' ? undefined : this.#keys?.authenticate(raw);
    if (key !== undefined) {
      const known = { key, principal: principalOf(key) };
      this.#rememberHeader(credentials, known);
      this.#remember(credentials, known);
      return known.principal;
    }
    if (this.#tokens === undefined || raw === '' || API_KEY.test(raw))
      throw this.#failure(
        credentials.from.remoteAddress,
        new EngineError(
          'AUT-E004',
          this.#keys === undefined
            ? "not a token of this deployment's issuer; API keys are not accepted here"
            : 'API key not recognised, revoked or expired',
        ),
      );
    try {
      const token = this.#tokens.verify(raw);
      if (!(token instanceof Promise)) return this.#admitted(credentials, token);
      // Read now: the caller may disconnect while the token is verified.
      const { remoteAddress } = credentials.from;
      return token.then(
        (verified) => this.#admitted(credentials, verified),
        (error: unknown) => {
          throw this.#failure(remoteAddress, error);
        },
      );
    } catch (error) {
      throw this.#failure(credentials.from.remoteAddress, error);
    }
  }

  #admitted(credentials: Credentials, token: Verified): Principal {
    this.#remember(credentials, { token, principal: token.principal });
    return token.principal;
  }

  /**
   * The principal of headers that carried a key or token before, if it is live still; undefined when `authenticate` must
   * look. Looking costs the hash of the key or token, every time.
   */
  recognise(identity: object): Principal | undefined {
    const found = this.#recognised.get(identity);
    return found !== undefined && this.#isLive(found) ? found.principal : undefined;
  }

  #isLive(known: Known): boolean {
    if ('key' in known) return this.#keys?.useAgain(known.key) === true;
    return this.#tokens?.isLive(known.token) === true;
  }

  #remember({ identity }: Credentials, known: Known): void {
    if (identity !== undefined) this.#recognised.set(identity, known);
  }

  #knownByHeader(credentials: Credentials): Known | undefined {
    const { authorization = '', apiKey = '' } = credentials;
    const known = apiKey === '' ? this.#byHeader.get(authorization) : undefined;
    if (known === undefined) return undefined;
    if (this.#isLive(known)) {
      this.#remember(credentials, known);
      return known;
    }
    this.#byHeader.delete(authorization);
    return undefined;
  }

  #rememberHeader({ authorization = '', apiKey = '' }: Credentials, known: Known): void {
    if (apiKey !== '' || authorization === '' || authorization.length > KEY_HEADER_CHARS_MAX) return;
    if (this.#byHeader.size >= KEY_HEADERS_REMEMBERED_MAX) {
      const oldest = this.#byHeader.keys().next();
      if (!oldest.done) this.#byHeader.delete(oldest.value);
    }
    this.#byHeader.set(authorization, known);
  }

  /** Counts a refusal against the caller's network. An issuer that does not answer is not the caller's failure. */
  #failure(remoteAddress: string, error: unknown): unknown {
    if (!(error instanceof EngineError) || error.code !== 'AUT-E004') return error;
    this.#failed += 1;
    if (this.#failures.take(networkOf(remoteAddress)).granted) return error;
    return new EngineError(
      'LIM-E001',
      'too many failed authentications from this address: check the key, and try again in a minute',
    );
  }

  /** Counts failed authentications that another node has seen. */
  heardOfFailed(count: number): void {
    this.#failed += count;
  }

  /** Number of failed authentications since the last call; one audit entry covers them all. */
  takeFailed(): number {
    const failed = this.#failed;
    this.#failed = 0;
    return failed;
  }
}

/**
 * The key as sent; empty for another Authorization scheme, which counts as an invalid key. Throws VAL-E001 for two
 * different keys: a proxy in front of this server may have checked the other one.
 */
function rawKey({ authorization = '', apiKey = '' }: Credentials): string | undefined {
  const legacy = apiKey === '' ? undefined : apiKey.trim();
  if (authorization === '') return legacy;
  const bearer = /^bearer[ ]+(\S+)[ ]*$/i.exec(authorization)?.[1] ?? '';
  if (legacy !== undefined && legacy !== bearer)
    throw new EngineError('VAL-E001', 'Authorization and X-API-Key carry different keys: send only one');
  return bearer;
}

function anonymousOn(open: boolean): Principal {
  if (open) return { actor: 'anonymous', scope: 'write', createsMemories: true };
  return { actor: 'anonymous', scope: 'admin' };
}

function principalOf(key: KeyRecord): Principal {
  return {
    actor: key.principal,
    keyId: key.keyId,
    ...heldBy(key.scopes),
    memoryIds: key.memoryId === undefined ? undefined : [key.memoryId],
    namespace: key.namespace,
    userId: key.userId,
  };
}

/**
 * Narrows a binding by the request's header. An unbound key takes the header's value; throws AUT-E001 when the header
 * names something other than the key's binding.
 */
export function narrowed(bound: string | undefined, asked: string | undefined, name: string): string | undefined {
  if (asked === undefined || asked === '') return bound;
  if (bound !== undefined && bound !== asked)
    throw new EngineError(
      'AUT-E001',
      `this key is bound to a different ${name}: a request can only narrow the binding`,
    );
  return asked;
}
