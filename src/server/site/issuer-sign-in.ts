// Signing in to the console through the issuer of tokens: OpenID Connect's authorization code with PKCE (RFC 7636). The browser
// goes to the issuer, and comes back with a code. The server changes the code for a token, so that no request of the page
// leaves its origin. It keeps neither.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { ISSUER_KEYS_FRESH_MS, ISSUER_SIGN_INS_MAX, ISSUER_TIMEOUT_MS } from '../../engine/base/limits.ts';
import { fetchedJson, isIssuerUrl, reasonOf } from '../auth/issuer-keys.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';

/** The part of the issuer's configuration that a sign-in needs. */
interface Endpoints {
  readonly authorization: string;
  readonly token: string;
}

type Log = Pick<Logger, 'warn'>;

export interface SignInStart {
  readonly authorization_endpoint: string;
  /** Parameters of the request to that address, besides those that the page adds. */
  readonly parameters: Readonly<Record<string, string>>;
}

export class IssuerSignIn {
  readonly #issuer: string;
  readonly #client: string;
  readonly #parameters: Readonly<Record<string, string>>;
  readonly #log: Log;
  #underWay = 0;
  /** Callers have no key yet: the issuer is not asked for its configuration by each of them. */
  #known: { readonly endpoints: Endpoints; readonly atMs: number } | undefined;

  /** Undefined where the console has no client id at an issuer. */
  static of({ oidcIssuer, oidcClient, oidcAudience, oidcScopes }: Config, log: Log): IssuerSignIn | undefined {
    if (oidcIssuer === undefined || oidcClient === undefined) return undefined;
    return new IssuerSignIn({
      issuer: oidcIssuer,
      client: oidcClient,
      audience: oidcAudience[0],
      scopes: oidcScopes,
      log,
    });
  }

  private constructor(parts: {
    readonly issuer: string;
    readonly client: string;
    readonly audience: string | undefined;
    readonly scopes: readonly string[];
    readonly log: Log;
  }) {
    const { issuer, client, audience, scopes, log } = parts;
    this.#log = log;
    this.#issuer = issuer;
    this.#client = client;
    // Issuers name the wanted audience in one of two ways (RFC 8707, and an older one), and ignore the other.
    const wanted: Record<string, string> = defined({ audience });
    if (audience !== undefined && URL.canParse(audience)) wanted['resource'] = audience;
    this.#parameters = { client_id: client, scope: ['openid', ...scopes].join(' '), ...wanted };
  }

  /** Rejects with AUT-E008 when the issuer does not answer. */
  async start(): Promise<SignInStart> {
    const { authorization } = await this.#asked((signal) => this.#endpoints(signal));
    return { authorization_endpoint: authorization, parameters: this.#parameters };
  }

  /** Changes a code for an access token. Rejects with AUT-E004 when the issuer refuses, AUT-E008 when it does not answer. */
  async token(asked: unknown): Promise<{ readonly access_token: string }> {
    const { code, code_verifier: verifier, redirect_uri: uri } = asked as Readonly<Record<string, unknown>>;
    if (typeof code !== 'string' || typeof verifier !== 'string' || typeof uri !== 'string')
      throw new EngineError('VAL-E001', 'code, code_verifier and redirect_uri must be strings');
    const { resource } = this.#parameters;
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: this.#client,
      code,
      code_verifier: verifier,
      redirect_uri: uri,
    });
    if (resource !== undefined) form.set('resource', resource);
    const answer = await this.#asked(async (signal) => {
      const { token } = await this.#endpoints(signal);
      return fetchedJson(token, signal, { method: 'POST', body: form, isRefusable: true });
    });
    const { access_token: token } = answer as Readonly<Record<string, unknown>>;
    if (typeof token !== 'string') throw new EngineError('AUT-E004', 'the issuer refused the sign-in: sign in again');
    return { access_token: token };
  }

  async #endpoints(signal: AbortSignal): Promise<Endpoints> {
    const known = this.#known;
    if (known !== undefined && performance.now() - known.atMs < ISSUER_KEYS_FRESH_MS) return known.endpoints;
    const endpoints = await this.#discovered(signal);
    this.#known = { endpoints, atMs: performance.now() };
    return endpoints;
  }

  async #discovered(signal: AbortSignal): Promise<Endpoints> {
    const base = this.#issuer.replace(/\/$/, '');
    const found = (await fetchedJson(`${base}/.well-known/openid-configuration`, signal)) as Readonly<
      Record<string, unknown>
    >; // an object, as fetchedJson says
    const { issuer, authorization_endpoint: authorization, token_endpoint: token } = found;
    if (issuer !== this.#issuer) throw new Error('its configuration names another issuer');
    if (typeof authorization !== 'string' || typeof token !== 'string')
      throw new Error('its configuration names no endpoints for authorization and tokens');
    if (!isIssuerUrl(authorization) || !isIssuerUrl(token))
      throw new Error('an endpoint for authorization or tokens is neither an https URL nor on this machine');
    return { authorization, token };
  }

  /** Callers have no key yet, so that few of them at once may make the server wait for the issuer. */
  async #asked<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#underWay >= ISSUER_SIGN_INS_MAX)
      throw new EngineError('LIM-E001', 'too many sign-ins at once: try again');
    this.#underWay += 1;
    try {
      return await work(AbortSignal.timeout(ISSUER_TIMEOUT_MS));
    } catch (error) {
      this.#log.warn(
        { issuer: this.#issuer, reason: reasonOf(error) },
        'a sign-in failed: the issuer did not answer as it should',
      );
      throw new EngineError('AUT-E008', 'the issuer of tokens cannot be reached: try again');
    } finally {
      this.#underWay -= 1;
    }
  }
}
