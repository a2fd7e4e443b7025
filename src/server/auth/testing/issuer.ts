// A small issuer of tokens on loopback, whose keys and answers a test changes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export type SigningAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

export interface SigningKey {
  readonly id: string;
  readonly algorithm: SigningAlgorithm;
  readonly secret: CryptoKey;
  readonly published: JWK;
}

export const AUDIENCE = 'granary';

export async function signingKey(id: string, algorithm: SigningAlgorithm = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  return {
    id,
    algorithm,
    secret: privateKey,
    published: { ...(await exportJWK(publicKey)), kid: id, alg: algorithm, use: 'sig' },
  };
}

/** Claims of a token; one that is undefined is left out. */
export type Claims = Readonly<Record<string, unknown>>;

/** Replaces the answer of the issuer for a path; undefined keeps it. */
type Answering = (path: string) => { readonly status: number; readonly body: string } | 'nothing' | undefined;

export class TestIssuer {
  keys: readonly SigningKey[];
  answering: Answering = () => undefined;
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  readonly #server = createServer((request, response) => {
    const path = request.url ?? '/';
    this.asked.push(path);
    const other = this.answering(path);
    if (other === 'nothing') return;
    const own = path.includes('openid-configuration')
      ? { issuer: this.url, jwks_uri: `${this.url}/jwks` }
      : { keys: this.keys.map(({ published }) => published) };
    response.writeHead(other?.status ?? 200, { 'content-type': 'application/json' });
    response.end(other?.body ?? JSON.stringify(own));
  });

  constructor(keys: readonly SigningKey[]) {
    this.keys = keys;
  }

  static async start(t: TestContext, ...keys: SigningKey[]): Promise<TestIssuer> {
    const issuer = new TestIssuer(keys);
    await new Promise<void>((resolve) => {
      issuer.#server.listen(0, '127.0.0.1', resolve);
    });
    t.after(() => issuer.stop());
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on a port
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** A token for `ann`, valid for an hour, with other claims as given. */
  token(claims: Claims = {}, key: SigningKey = this.keys[0]!, nowSeconds = nowInSeconds()): Promise<string> {
    const all = {
      iss: this.url,
      aud: AUDIENCE,
      sub: 'ann',
      iat: nowSeconds,
      exp: nowSeconds + 3600,
      ...claims,
    };
    return new SignJWT(all).setProtectedHeader({ alg: key.algorithm, kid: key.id, typ: 'at+jwt' }).sign(key.secret);
  }
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
