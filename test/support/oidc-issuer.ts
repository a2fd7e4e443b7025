// oidc-provider as an issuer of access tokens: a client may have any claims, which its client id names.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider from 'oidc-provider';

export const AUDIENCE = 'urn:granary';
const SECRET = 'a secret of thirty-two characters';

export interface OidcIssuer {
  readonly url: string;
  /** An access token for a client of the issuer. */
  readonly tokenFor: (client: string) => Promise<string>;
  /** Replaces the issuer's signing key; tokens of the one before are refused once its keys are fetched. */
  readonly rotate: () => Promise<void>;
  readonly stop: () => void;
}

/** `clients`: the claims of each client's tokens. A claim `scope` is the scopes that the client asks for. */
export async function startOidcIssuer(
  t: Pick<TestContext, 'after'>,
  algorithm: 'RS256' | 'ES256' | 'EdDSA',
  clients: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<OidcIssuer> {
  let listener: RequestListener = () => undefined;
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const renew = async (): Promise<void> => {
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const key: JWK = { ...(await exportJWK(privateKey)), alg: algorithm, use: 'sig' };
    const provider = new Provider(url, {
      jwks: { keys: [key] },
      clients: Object.keys(clients).map((id) => ({
        client_id: id,
        client_secret: SECRET,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: algorithm,
      })),
      ttl: { ClientCredentials: () => 600 },
      scopes: ['memory:read', 'memory:write', 'memory:admin'],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: 'memory:read memory:write memory:admin',
            accessTokenFormat: 'jwt',
            audience: AUDIENCE,
            jwt: { sign: { alg: algorithm } },
          }),
        },
      },
      extraTokenClaims: (_context: unknown, { clientId }: { readonly clientId: string }) => {
        const { scope: _, ...claims } = clients[clientId] ?? {};
        return claims;
      },
    });
    listener = provider.callback();
  };
  await renew();
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  t.after(stop);
  const tokenFor = async (client: string): Promise<string> => {
    const scope = clients[client]?.['scope'];
    const answer = await fetch(`${url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:${encodeURIComponent(SECRET)}`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource: AUDIENCE,
        ...(typeof scope === 'string' ? { scope } : {}),
      }),
    });
    const { access_token: token, ...rest } = (await answer.json()) as { readonly access_token?: string };
    if (token === undefined) throw new Error(`no token: ${JSON.stringify(rest)}`);
    return token;
  };
  return { url, tokenFor, rotate: renew, stop };
}
