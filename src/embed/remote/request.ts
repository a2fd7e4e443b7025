// One POST to a service and what came of it. Nothing of the key, of the texts or of the service's own words gets into
// an error: services echo what they were sent.
import { EMBED_RESPONSE_BYTES_MAX } from '../../engine/base/limits.ts';
import { EmbedError } from '../embedder.ts';

export interface Post {
  /** What errors call it; absent: the embedding service. */
  readonly service?: string;
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly body: string;
  readonly timeoutMs: number;
  /** Gives the request up: `post` rejects with its reason. */
  readonly signal: AbortSignal;
}

export type Outcome =
  | { readonly kind: 'answer'; readonly text: string }
  /** The service refuses this request as it stands (400 or 422). */
  | { readonly kind: 'refused'; readonly error: EmbedError }
  /** The same request may succeed later. `retryAfter` is the header as it came. */
  | { readonly kind: 'again'; readonly error: EmbedError; readonly retryAfter: string | null };

/** Statuses that may be different the next time. */
const AGAIN = new Set([408, 409, 425, 429]);

/** Rejects with EmbedError for what asking again does not change, and with the reason of the signal. */
export async function post(request: Post): Promise<Outcome> {
  const controller = new AbortController();
  const give = (): void => controller.abort();
  request.signal.throwIfAborted();
  request.signal.addEventListener('abort', give, { once: true });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, request.timeoutMs);
  try {
    return await exchange(request, controller.signal);
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof EmbedError) throw error;
    const what = timedOut ? `did not answer within ${request.timeoutMs} ms` : `could not be reached${reasonOf(error)}`;
    return { kind: 'again', error: failed(request, what, true), retryAfter: null };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', give);
    controller.abort(); // Lets go of a body that was not read to its end.
  }
}

async function exchange(request: Post, signal: AbortSignal): Promise<Outcome> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (request.apiKey !== undefined) headers['authorization'] = `Bearer ${request.apiKey}`;
  // A redirect would carry the texts, and perhaps the key, to a host that nobody has named.
  const response = await request.fetch(request.url, {
    method: 'POST',
    headers,
    body: request.body,
    redirect: 'manual',
    signal,
  });
  const { status } = response;
  if (response.ok) {
    const type = response.headers.get('content-type') ?? '';
    if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type))
      throw failed(request, 'answered something else than JSON', false);
    return { kind: 'answer', text: await readBody(request, response) };
  }
  if (AGAIN.has(status) || status >= 500) {
    const error = failed(request, `answered ${status}`, true);
    return { kind: 'again', error, retryAfter: response.headers.get('retry-after') };
  }
  if (status === 400 || status === 422) return { kind: 'refused', error: failed(request, `answered ${status}`, false) };
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400))
    throw failed(request, 'answered with a redirect, which is not followed', false);
  throw failed(request, `answered ${status}`, false);
}

async function readBody(request: Post, response: Response): Promise<string> {
  if (Number(response.headers.get('content-length') ?? 0) > EMBED_RESPONSE_BYTES_MAX) throw tooLarge(request);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > EMBED_RESPONSE_BYTES_MAX) throw tooLarge(request);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes).toString('utf8');
}

function tooLarge(request: Post): EmbedError {
  return failed(request, `answered more than ${EMBED_RESPONSE_BYTES_MAX} bytes`, false);
}

function failed({ service = 'the embedding service' }: Post, what: string, retryable: boolean): EmbedError {
  return new EmbedError(`${service} ${what}`, { retryable });
}

/** The system's own code (ECONNREFUSED and such), when there is one. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : '';
}
