// One POST to a service and its outcome. Errors contain neither the key nor texts nor the service's own words, because
// services echo their input.
import { EMBED_RESPONSE_BYTES_MAX } from '../../engine/base/limits.ts';
import { EmbedError } from '../embedder.ts';

export interface Post {
  /** Name of the service in errors; default: the embedding service. */
  readonly service?: string | undefined;
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly body: string;
  readonly timeoutMs: number;
  /** Cancels the request: `post` rejects with its reason. */
  readonly signal: AbortSignal;
}

export type Outcome =
  | { readonly kind: 'answer'; readonly text: string }
  /** The service rejects this request as it is (400 or 422). */
  | { readonly kind: 'refused'; readonly error: EmbedError }
  /** The same request may succeed later. `retryAfter` is the raw header. */
  | { readonly kind: 'again'; readonly error: EmbedError; readonly retryAfter: string | null };

/** Statuses worth retrying. */
const AGAIN = new Set([408, 409, 425, 429]);

/** Rejects with EmbedError for permanent failures, and with the signal's reason. */
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
    const what = timedOut
      ? `did not answer within ${Math.round(request.timeoutMs)} ms`
      : `could not be reached${reasonOf(error)}`;
    return { kind: 'again', error: failed(request, what, true), retryAfter: null };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', give);
    controller.abort(); // Releases a body that was not read to its end.
  }
}

async function exchange(request: Post, signal: AbortSignal): Promise<Outcome> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (request.apiKey !== undefined) headers['authorization'] = `Bearer ${request.apiKey}`;
  // A redirect could send the texts, and the key, to a host that nobody configured.
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
      throw failed(request, 'answered with something other than JSON', false);
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
  return failed(request, `answered with more than ${EMBED_RESPONSE_BYTES_MAX} bytes`, false);
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
