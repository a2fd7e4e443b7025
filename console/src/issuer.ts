// Signs in at the issuer of tokens: the browser goes there and comes back with a code, which the server changes for a token.
// The storage of the tab holds the state of the sign-in until then: never a key or token.
import { InvalidRequestError, PermissionError } from 'granary-client';
import { CONSOLE } from './place.ts';
import { watchedFetch } from './session.ts';

const STORED = 'granary-sign-in';
const SIGN_IN = `${CONSOLE}sign-in`;

interface Started {
  readonly state: string;
  readonly verifier: string;
  /** Where the reader was. */
  readonly address: string;
}

/** Where the issuer sends the browser back to. */
function redirectUri(): string {
  return `${location.origin}${CONSOLE}`;
}

/** Goes to the issuer. */
export async function goToIssuer(): Promise<void> {
  if (!globalThis.isSecureContext) throw new Error('signing in at the issuer needs https, or a server on this machine');
  const { authorization_endpoint: endpoint, parameters } = (await answerOf(await watchedFetch(SIGN_IN))) as {
    readonly authorization_endpoint: string;
    readonly parameters: Readonly<Record<string, string>>;
  }; // as src/server/site/issuer-sign-in.ts writes it
  const started: Started = { state: random(), verifier: random(), address: `${location.pathname}${location.search}` };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(started.verifier));
  sessionStorage.setItem(STORED, JSON.stringify(started));
  const query = new URLSearchParams({
    ...parameters,
    response_type: 'code',
    redirect_uri: redirectUri(),
    state: started.state,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  });
  const address = new URL(endpoint);
  for (const [name, value] of query) address.searchParams.set(name, value);
  location.assign(address.href);
}

/** The token, if the browser has just come back from the issuer. The address is then as it was before. */
export async function tokenFromIssuer(): Promise<string | undefined> {
  const query = new URLSearchParams(location.search);
  const [code, state, error] = [query.get('code'), query.get('state'), query.get('error')];
  if (state === null || (code === null && error === null)) return undefined;
  const stored = sessionStorage.getItem(STORED);
  sessionStorage.removeItem(STORED);
  const started = stored === null ? undefined : (JSON.parse(stored) as Started); // written above
  history.replaceState(null, '', started?.address ?? CONSOLE);
  // The router looks at the address again.
  dispatchEvent(new PopStateEvent('popstate'));
  // Only the answer to a sign-in that this tab began counts.
  if (started === undefined || started.state !== state) return undefined;
  if (code === null)
    throw new PermissionError(`the issuer refused the sign-in: ${query.get('error_description') ?? error}`, {
      code: 'CLIENT',
      status: 0,
    });
  const body = { code, code_verifier: started.verifier, redirect_uri: redirectUri() };
  const headers = { 'content-type': 'application/json' };
  const answer = await watchedFetch(SIGN_IN, { method: 'POST', headers, body: JSON.stringify(body) });
  return String(((await answerOf(answer)) as { readonly access_token: unknown }).access_token);
}

async function answerOf(response: Response): Promise<unknown> {
  const value: unknown = await response.json();
  if (response.ok) return value;
  const { error } = value as { readonly error?: Readonly<Record<string, unknown>> };
  const parts = { code: String(error?.['code'] ?? `HTTP-${response.status}`), status: response.status };
  throw new InvalidRequestError(String(error?.['message'] ?? 'the sign-in failed'), {
    ...parts,
    requestId: typeof error?.['request_id'] === 'string' ? error['request_id'] : undefined,
  });
}

function random(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
