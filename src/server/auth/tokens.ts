// Tokens of an OpenID Connect issuer (RFC 9068, RFC 7519): a signed token becomes a principal.
import { hash } from 'node:crypto';
import type { JWTPayload, JWTVerifyOptions } from 'jose';
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  TOKEN_AGE_MAX_SECONDS,
  TOKEN_CHARS_MAX,
  TOKEN_SKEW_SECONDS,
  TOKENS_REMEMBERED_MAX,
} from '../../engine/base/limits.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { principalOfClaims, refused } from './claims.ts';
import { type FetchedKeys, IssuerKeys, keyIn } from './issuer-keys.ts';
import type { Principal } from './principal.ts';

const jose = onDemand<typeof import('jose')>(import.meta.url, 'jose');

/** `none` and the HMAC algorithms are absent: with them, anyone with the public key could make tokens. */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];

/** A verified token. It is verified again when the issuer's keys were fetched anew. */
export interface Verified {
  readonly principal: Principal;
  readonly keys: FetchedKeys;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The verifier that the configuration asks for; undefined in the modes without tokens. */
export function tokenVerifier(config: Config, parts: { log: Logger; clock: Clock }): TokenVerifier | undefined {
  const { auth, oidcIssuer: issuer, oidcAudience: audience } = config;
  if ((auth !== 'oidc' && auth !== 'composite') || issuer === undefined) return undefined;
  const keys = new IssuerKeys({ issuer, log: parts.log });
  return new TokenVerifier({ issuer, audience, keys, clock: parts.clock });
}

export class TokenVerifier {
  readonly #keys: IssuerKeys;
  readonly #options: JWTVerifyOptions;
  readonly #clock: Clock;
  /** By SHA-256 of the token, the least recently verified first. */
  readonly #verified = new Map<string, Verified>();

  constructor(parts: { issuer: string; audience: readonly string[]; keys: IssuerKeys; clock: Clock }) {
    this.#keys = parts.keys;
    this.#clock = parts.clock;
    this.#options = {
      issuer: parts.issuer,
      audience: [...parts.audience],
      algorithms: ALGORITHMS,
      clockTolerance: TOKEN_SKEW_SECONDS,
      maxTokenAge: TOKEN_AGE_MAX_SECONDS,
      requiredClaims: ['exp', 'sub'],
    };
  }

  /**
   * A valid token, at once when it was verified before. Throws AUT-E004 for an invalid one, and
   * AUT-E008 when the issuer's keys are not available.
   */
  verify(token: string): Verified | Promise<Verified> {
    if (token.length > TOKEN_CHARS_MAX) throw refused(`it is longer than ${TOKEN_CHARS_MAX} characters`);
    const name = hash('sha256', token, 'hex');
    const known = this.#verified.get(name);
    if (known !== undefined && this.isLive(known)) return known;
    return this.#verify(token, name);
  }

  /** True while a token that was verified needs no other look. */
  isLive({ keys, fromMs, untilMs }: Verified): boolean {
    const nowMs = this.#clock.nowMs();
    return keys === this.#keys.fresh && nowMs >= fromMs && nowMs < untilMs;
  }

  async #verify(token: string, name: string): Promise<Verified> {
    let keys = await this.#keys.current();
    let claims: JWTPayload;
    try {
      claims = await this.#claimsOf(token, keys);
    } catch (error) {
      if (!(error instanceof jose().errors.JWKSNoMatchingKey)) throw refusalOf(error);
      const before = keys;
      keys = await this.#keys.afterUnknownKey(before);
      if (keys === before) throw refusalOf(error);
      claims = await this.#claimsOf(token, keys).catch((again) => {
        throw refusalOf(again);
      });
    }
    const times = validity(claims);
    const verified = { principal: { ...principalOfClaims(claims), untilMs: times.untilMs }, keys, ...times };
    this.#remember(name, verified);
    return verified;
  }

  async #claimsOf(token: string, keys: FetchedKeys): Promise<JWTPayload> {
    const { payload } = await jose().jwtVerify(token, (header, input) => keyIn(keys, header, input), {
      ...this.#options,
      currentDate: new Date(this.#clock.nowMs()),
    });
    return payload;
  }

  #remember(name: string, verified: Verified): void {
    this.#verified.delete(name);
    this.#verified.set(name, verified);
    if (this.#verified.size <= TOKENS_REMEMBERED_MAX) return;
    const first = this.#verified.keys().next();
    if (!first.done) this.#verified.delete(first.value);
  }
}

/** The time in which the verdict holds; verification required `exp` and `iat`. */
function validity({ exp = 0, iat = 0, nbf = 0 }: JWTPayload): Pick<Verified, 'fromMs' | 'untilMs'> {
  return {
    fromMs: (Math.max(iat, nbf) - TOKEN_SKEW_SECONDS) * 1000,
    untilMs: (Math.min(exp, iat + TOKEN_AGE_MAX_SECONDS) + TOKEN_SKEW_SECONDS) * 1000,
  };
}

/** Says which check failed. The text comes from here alone: it never quotes the token. */
function refusalOf(error: unknown): unknown {
  const { errors } = jose();
  if (error instanceof EngineError) return error;
  // An RSA key that is too short, for example.
  if (!(error instanceof errors.JOSEError)) return refused('the key that signed it cannot be used');
  if (error instanceof errors.JWTExpired)
    return refused(error.claim === 'iat' ? 'it is older than 24 hours' : 'it has expired');
  if (error instanceof errors.JWTClaimValidationFailed) return refused(`its claim ${claimName(error.claim)}`);
  if (error instanceof errors.JOSEAlgNotAllowed) return refused(`its algorithm is not one of ${ALGORITHMS.join(', ')}`);
  if (error instanceof errors.JWKSNoMatchingKey) return refused('the issuer has no such key');
  if (error instanceof errors.JWSSignatureVerificationFailed) return refused('its signature is wrong');
  return refused('it is not a signed JWT');
}

function claimName(claim: string): string {
  switch (claim) {
    case 'iss':
      return 'iss is absent or names another issuer';
    case 'aud':
      return 'aud is absent or names another audience';
    case 'nbf':
    case 'iat':
      return `${claim} is absent or in the future`;
    case 'exp':
    case 'sub':
      return `${claim} is absent or invalid`;
    default:
      return 'set is invalid';
  }
}
