// Authentication: turns credentials into a principal, by API keys, by tokens of an issuer, or
// by both (service contract, section 3).
import { assert } from '../../engine/base/assert.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { AUTH_FAILURES_PER_MINUTE } from '../../engine/base/limits.ts';
import type { Config } from '../config.ts';
import type { KeyRecord, Keys } from '../control/keys.ts';
import { heldBy, type Principal } from './principal.ts';
import { RateLimiter } from './rate-limit.ts';
import type { TokenVerifier } from './tokens.ts';

const API_KEY = /^g[rp]_/;

export interface Credentials {
  /** Value of `authorization`, from the header or the metadata. */
  readonly authorization: string | undefined;
  /** Value of the older header `X-API-Key`. */
  readonly apiKey: string | undefined;
  readonly remoteAddress: string;
  /** What `recognise` knows the headers by. */
  readonly identity?: object | undefined;
}

export class Authenticator {
  /** Undefined where only tokens are accepted. */
  readonly #keys: Keys | undefined;
  readonly #tokens: TokenVerifier | undefined;
  readonly #anonymous: Principal | undefined;
  readonly #failures: RateLimiter;
  /** Keys by the headers that carried them. */
  readonly #recognised = new WeakMap<object, { readonly key: KeyRecord; readonly principal: Principal }>();
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
      const principal = principalOf(key);
      if (credentials.identity !== undefined) this.#recognised.set(credentials.identity, { key, principal });
      return principal;
    }
    if (this.#tokens === undefined || raw === '' || API_KEY.test(raw))
      throw this.#failure(
        credentials,
        new EngineError(
          'AUT-E004',
          this.#keys === undefined
            ? "not a token of this deployment's issuer; API keys are not accepted here"
            : 'API key not recognised, revoked or expired',
        ),
      );
    try {
      const principal = this.#tokens.verify(raw);
      if (!(principal instanceof Promise)) return principal;
      return principal.catch((error: unknown) => {
        throw this.#failure(credentials, error);
      });
    } catch (error) {
      throw this.#failure(credentials, error);
    }
  }

  /**
   * The principal of headers that carried a key before, if the key is live still; undefined when `authenticate` must
   * look. Looking costs the hash of the key, every time.
   */
  recognise(identity: object): Principal | undefined {
    const found = this.#recognised.get(identity);
    return found !== undefined && this.#keys?.useAgain(found.key) === true ? found.principal : undefined;
  }

  /** Counts a refusal against the caller's address. An issuer that does not answer is not the caller's failure. */
  #failure({ remoteAddress }: Credentials, error: unknown): unknown {
    if (!(error instanceof EngineError) || error.code !== 'AUT-E004') return error;
    this.#failed += 1;
    if (this.#failures.take(remoteAddress).granted) return error;
    return new EngineError('LIM-E001', 'too many failed authentications from this address');
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
