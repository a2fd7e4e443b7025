// Who is calling: credentials in, a principal out, for the modes `none` and `api-key` (service contract, section 3).
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { AUTH_FAILURES_PER_MINUTE } from '../../engine/base/limits.ts';
import type { KeyRecord, Keys } from '../control/keys.ts';
import { heldBy, type Principal } from './principal.ts';
import { RateLimiter } from './rate-limit.ts';

export interface Credentials {
  /** The text of `authorization`, of the header or the metadata. */
  readonly authorization: string | undefined;
  /** The older header `X-API-Key`. */
  readonly apiKey: string | undefined;
  readonly remoteAddress: string;
}

export class Authenticator {
  readonly #keys: Keys;
  readonly #anonymous: Principal | undefined;
  readonly #failures: RateLimiter;
  #failed = 0;

  /** `open` tells in mode `none` that others than this machine can reach the listeners. */
  constructor(parts: { mode: 'none' | 'api-key'; open: boolean; keys: Keys; clock: Clock }) {
    this.#keys = parts.keys;
    this.#anonymous = parts.mode === 'none' ? anonymousOn(parts.open) : undefined;
    this.#failures = new RateLimiter({
      perMinute: AUTH_FAILURES_PER_MINUTE,
      burst: AUTH_FAILURES_PER_MINUTE,
      clock: parts.clock,
    });
  }

  /**
   * Throws AUT-E005 without credentials, AUT-E004 for ones that are not good, LIM-E001 for an address that sent too
   * many of those. A credential that is sent is checked in every mode.
   */
  authenticate(credentials: Credentials): Principal {
    const raw = rawKey(credentials);
    if (raw === undefined) {
      if (this.#anonymous !== undefined) return this.#anonymous;
      throw new EngineError('AUT-E005', 'credentials missing: send Authorization: Bearer <key>');
    }
    const key = raw === '' ? undefined : this.#keys.authenticate(raw);
    if (key !== undefined) return principalOf(key);
    this.#failed += 1;
    if (!this.#failures.take(credentials.remoteAddress).granted)
      throw new EngineError('LIM-E001', 'too many failed authentications from this address');
    throw new EngineError('AUT-E004', 'token not recognised, revoked or expired');
  }

  /** Failed authentications since the last time this was asked: one audit entry tells of them together. */
  takeFailed(): number {
    const failed = this.#failed;
    this.#failed = 0;
    return failed;
  }
}

/**
 * The key as sent; '' for an Authorization of another kind, which counts as a bad one. Throws VAL-E001 for two keys: who
 * stands in front of this server may have looked at the other one.
 */
function rawKey({ authorization = '', apiKey = '' }: Credentials): string | undefined {
  const legacy = apiKey === '' ? undefined : apiKey.trim();
  if (authorization === '') return legacy;
  const bearer = /^bearer[ ]+(\S+)[ ]*$/i.exec(authorization)?.[1] ?? '';
  if (legacy !== undefined && legacy !== bearer)
    throw new EngineError('VAL-E001', 'Authorization and X-API-Key name different keys: send one');
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
    ...(key.memoryId === undefined ? {} : { memoryId: key.memoryId }),
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    ...(key.userId === undefined ? {} : { userId: key.userId }),
  };
}

/**
 * A binding narrowed by what the request asks for: the header's value where the key is free, refused with AUT-E001
 * where it names another than the key is bound to.
 */
export function narrowed(bound: string | undefined, asked: string | undefined, name: string): string | undefined {
  if (asked === undefined || asked === '') return bound;
  if (bound !== undefined && bound !== asked)
    throw new EngineError('AUT-E001', `this key is bound to another ${name}: a request may narrow, never widen`);
  return asked;
}
