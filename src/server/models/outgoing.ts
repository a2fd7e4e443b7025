// The HTTP requests to providers. Addresses are checked where the socket takes them, as for webhooks; redirects are not
// followed; answers are bounded. Errors quote neither the key nor a text nor the provider's own words, because providers
// echo what they are sent.
import type { Readable } from 'node:stream';
import { backoffMs, retryAfterMs, waitMs } from '../../embed/remote/retry.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  MODEL_ATTEMPTS_MAX,
  MODEL_CALL_MS,
  MODEL_CONNECTIONS_MAX,
  MODEL_RETRY_AFTER_MAX_MS,
} from '../../engine/base/limits.ts';
import type { Resolve } from '../outgoing/addresses.ts';
import { discard, failureCodeOf, GuardedAgent, type OutgoingAnswer, refusalOf } from '../outgoing/guarded-agent.ts';
import { type PrivateHosts, ruleOf } from './private-hosts.ts';

const CONNECT_MS = 10_000;
/** Statuses that ask for another try. */
const RETRIED = new Set([408, 409, 425, 429]);

export interface OutgoingOptions {
  /** Where requests may go besides the public internet and this machine. */
  readonly hosts: PrivateHosts;
  readonly nowMs: () => number;
  readonly resolve?: Resolve | undefined;
  /** Returns [0, 1), for the jitter. */
  readonly random?: (() => number) | undefined;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

export interface Request {
  /** The provider's id, for errors. */
  readonly provider: string;
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** Bytes of the answer; beyond: LLM-E002. */
  readonly bytesMax: number;
  /** Tries in all; default: MODEL_ATTEMPTS_MAX. */
  readonly tries?: number | undefined;
}

export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #agent: GuardedAgent;
  /** By signal, because the clients between have no place for it. */
  readonly #tries = new WeakMap<AbortSignal, number>();

  constructor(options: OutgoingOptions) {
    this.#options = options;
    this.#agent = new GuardedAgent({
      ruleOf: (host) => ({ ...ruleOf(options.hosts, host), what: 'requests to models' }),
      resolve: options.resolve,
      connections: MODEL_CONNECTIONS_MAX,
      connectMs: CONNECT_MS,
    });
  }

  /** Throws AddressRefused for a host whose address no request may be sent to, or the resolver's error. */
  async check(url: URL): Promise<void> {
    await this.#agent.check(url);
  }

  /** The answer, whose status is 2xx, after as many tries as needed. Throws LLM-E002, LLM-E003, or the signal's reason. */
  async ask(request: Request): Promise<Response> {
    const { nowMs, random = Math.random, wait = waitMs } = this.#options;
    for (let failures = 1; ; failures++) {
      const outcome = await this.#try(request);
      if (outcome instanceof Response) return outcome;
      const asked = outcome.retryAfter === null ? 0 : (retryAfterMs(outcome.retryAfter, nowMs()) ?? 0);
      if (!outcome.again || failures >= (request.tries ?? MODEL_ATTEMPTS_MAX) || asked > MODEL_RETRY_AFTER_MAX_MS)
        throw outcome.error;
      await wait(Math.max(asked, backoffMs(failures, random)), request.signal);
    }
  }

  async #try(request: Request): Promise<Response | Failure> {
    let answer: OutgoingAnswer;
    try {
      answer = await this.#send(request);
    } catch (error) {
      request.signal.throwIfAborted();
      return { error: failure(request, unreachable(error)), again: refusalOf(error) === undefined, retryAfter: null };
    }
    const { statusCode: status, headers } = answer;
    const type = headers['content-type'];
    const isPage = typeof type === 'string' && type.toLowerCase().startsWith('text/html');
    if (status >= 200 && status < 300 && !isPage) return responseOf(answer, request);
    await discard(answer);
    if (status < 300) return { error: failure(request, PAGE), again: false, retryAfter: null };
    const { 'retry-after': after } = headers;
    const again = status >= 500 || RETRIED.has(status);
    return { error: errorOf(status, request), again, retryAfter: typeof after === 'string' ? after : null };
  }

  /** Limits the tries of the requests of an `asker` with this signal. */
  limitTries(signal: AbortSignal, tries: number): void {
    this.#tries.set(signal, tries);
  }

  /**
   * One try, for clients with retries of their own. As the global `fetch`, except that it follows no redirect and its
   * answer has at most `bytesMax` bytes.
   */
  fetcher(provider: string, bytesMax: number): typeof fetch {
    const one = async (input: string | URL | globalThis.Request, init: RequestInit = {}): Promise<Response> => {
      const request = requestOf(provider, String(input), init, bytesMax);
      return responseOf(await this.#send(request), request);
    };
    return one as typeof fetch; // as far as clients use it: a URL, headers and a text
  }

  /** The same, but its answer is a 2xx or it throws, as `ask` does. */
  asker(provider: string, bytesMax: number): typeof fetch {
    const ask = (input: string | URL | globalThis.Request, init: RequestInit = {}): Promise<Response> => {
      const request = requestOf(provider, String(input), init, bytesMax);
      return this.ask({ ...request, tries: this.#tries.get(request.signal) });
    };
    return ask as typeof fetch; // as above
  }

  #send({ url, method, headers, body, signal }: Request): Promise<OutgoingAnswer> {
    return this.#agent.request(new URL(url), {
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body,
      signal,
      answerMs: MODEL_CALL_MS,
    });
  }

  /** Aborts what is under way. */
  async close(): Promise<void> {
    await this.#agent.close();
  }
}

/** The provider does not take the request as it is. */
export class Rejected extends EngineError {}

const PAGE = 'answered with a page (text/html) in place of its interface: check its base_url';

interface Failure {
  readonly error: EngineError;
  /** The same request may succeed later. */
  readonly again: boolean;
  readonly retryAfter: string | null;
}

function requestOf(provider: string, url: string, init: RequestInit, bytesMax: number): Request {
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = typeof init.body === 'string' ? init.body : undefined;
  const signal = init.signal ?? NEVER;
  return { provider, url, method: init.method === 'GET' ? 'GET' : 'POST', headers, body, signal, bytesMax };
}

const NEVER = new AbortController().signal;

function responseOf({ statusCode: status, headers, body }: OutgoingAnswer, request: Request): Response {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) kept.set(name, Array.isArray(value) ? value.join(', ') : value);
  // These statuses have no body, and Response takes none.
  if (status === 204 || status === 205 || status === 304) return new Response(null, { status, headers: kept });
  return new Response(bounded(body, request), { status, headers: kept });
}

/** The body, which fails when it is too long. Nothing is read ahead of its reader. */
function bounded(body: Readable, request: Request): ReadableStream<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await nextOf(pieces, request);
        if (done) return controller.close();
        bytes += value.length;
        if (bytes > request.bytesMax) {
          body.destroy();
          throw failure(request, `answered with more than ${request.bytesMax} bytes`);
        }
        controller.enqueue(value);
      },
      cancel() {
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

async function nextOf(pieces: AsyncIterator<Uint8Array>, request: Request): Promise<IteratorResult<Uint8Array>> {
  try {
    return await pieces.next();
  } catch {
    request.signal.throwIfAborted();
    throw failure(request, 'broke off its answer');
  }
}

function errorOf(status: number, request: Request): EngineError {
  const { pathname } = new URL(request.url);
  if (status === 404 && request.method === 'GET')
    return failure(request, `has nothing at ${pathname} (404): check its base_url`);
  if (status === 404)
    return new EngineError(
      'LLM-E003',
      `${nameOf(request)} does not know this model, or has nothing at ${pathname} (404)`,
    );
  if (status >= 300 && status < 400) return failure(request, 'answered with a redirect, which is not followed');
  if (status === 401 || status === 403) return failure(request, `rejects the server's API key (${status})`);
  if (status === 429) return failure(request, 'allows no more requests at present (429)');
  if (status < 500) return new Rejected('LLM-E002', `${nameOf(request)} rejects the request (${status})`);
  return failure(request, `failed (${status})`);
}

function failure(request: Pick<Request, 'provider'>, what: string): EngineError {
  return new EngineError('LLM-E002', `${nameOf(request)} ${what}`);
}

function nameOf({ provider }: Pick<Request, 'provider'>): string {
  return `the provider ${provider}`;
}

function unreachable(error: unknown): string {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return `is not called: ${refusal.message}`;
  const code = failureCodeOf(error);
  return code === undefined ? 'cannot be reached' : `cannot be reached (${code})`;
}
