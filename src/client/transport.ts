// Sends one operation: route, headers of the scope, timeout, retries where they are safe, and errors.
import { ConnectionError, errorOf, GranaryError, TimeoutError } from './errors.ts';
import { ROUTES } from './gen/operations.ts';
import { fromWire, toWire } from './names.ts';
import { backoffMs, sleep, timerOf } from './wait.ts';

export interface ClientOptions {
  /** Address of the server, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** API key, or a token of the identity provider. */
  readonly apiKey?: string | undefined;
  /** Milliseconds that a call may take, retries not counted; default 30,000, and 600,000 for long operations. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is tried again; default 3. */
  readonly retries?: number | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
  /** Key under which the server does a change once; the default is a new one for each call. */
  readonly idempotencyKey?: string | undefined;
  /** Shows what a change would do. The server refuses it for changes that have no dry run. */
  readonly dryRun?: boolean | undefined;
  /** Refuses members that the server does not know, instead of warning. */
  readonly strict?: boolean | undefined;
  /** Why it is done, for the audit trail. */
  readonly reason?: string | undefined;
}

/** The scope of a `Memory`; every call carries it, and the server decides within it. */
export interface Bounds {
  readonly memory: string;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
}

interface Route {
  readonly verb: string;
  /** `M` at the beginning is the memory. For a command its name. */
  readonly path: string;
  readonly body: string;
  readonly answer: string;
  readonly isChange: boolean;
  readonly isSlow: boolean;
}

const TIMEOUT_MS = 30_000;
const SLOW_TIMEOUT_MS = 600_000;
const RETRIES = 3;

export function routeOf(operation: string): Route {
  const row = Object.hasOwn(ROUTES, operation) ? ROUTES[operation as keyof typeof ROUTES] : undefined;
  if (row === undefined) throw new TypeError(`unknown operation ${operation}`);
  const [verb = '', path = '', body = '', answer = '', flags = ''] = row.split(' ');
  return { verb, path, body, answer, isChange: flags.includes('w'), isSlow: flags.includes('s') };
}

/** A stream that is open. `close` ends its connection, and its hold on the caller's signal. */
export interface OpenStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly close: () => void;
}

interface Request {
  readonly url: string;
  readonly init: RequestInit;
}

export class Transport {
  readonly #base: string;
  readonly #options: ClientOptions;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    const { url, apiKey, fetch: own } = options;
    this.#base = new URL(url).href.replace(/\/+$/, '');
    if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
      throw new TypeError('apiKey must be printable ASCII characters without spaces');
    this.#options = options;
    // Called as a function of its own: browsers refuse `fetch` with another `this`.
    this.#fetch = (input, init) => (own ?? globalThis.fetch)(input, init);
  }

  /** The answer of an operation that is no stream. */
  async call(
    operation: string,
    input: object,
    bounds: Bounds | undefined,
    options: CallOptions = {},
  ): Promise<unknown> {
    const route = routeOf(operation);
    const request = this.#request(operation, route, input, { bounds, options });
    return this.#tried(options, async () => {
      const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? (route.isSlow ? SLOW_TIMEOUT_MS : TIMEOUT_MS);
      return within(options.signal, timeoutMs, async (signal) => {
        const response = await this.#answered(request, signal);
        return read(operation, route, response);
      });
    });
  }

  /** Opens a stream; the timeout covers the time until it is open. `lastEventId` goes on after that frame. */
  async open(
    operation: string,
    input: object,
    bounds: Bounds | undefined,
    options: CallOptions & { readonly lastEventId?: string | undefined },
  ): Promise<OpenStream> {
    const route = routeOf(operation);
    const request = this.#request(operation, route, input, { bounds, options });
    const headers = new Headers(request.init.headers);
    headers.set('accept', 'text/event-stream');
    if (options.lastEventId !== undefined) headers.set('last-event-id', options.lastEventId);
    const opened = { ...request, init: { ...request.init, headers } };
    return this.#tried(options, async () => {
      const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS;
      let close = (): void => {};
      const response = await within(
        options.signal,
        timeoutMs,
        (signal) => this.#answered(opened, signal),
        (end) => {
          close = end;
        },
      );
      if (response.body === null) throw new ConnectionError('the stream has no body', { code: 'CLIENT', status: 0 });
      return { body: response.body, close };
    });
  }

  /** Tries again what may succeed later. A change carries its key in each try, so the server does it once. */
  async #tried<T>(
    { signal, retries = this.#options.retries ?? RETRIES }: CallOptions,
    attempt: () => Promise<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        // The caller gave the time for an answer; another try would take as long again.
        const isOver = error instanceof TimeoutError || tries > retries;
        if (!(error instanceof GranaryError) || !error.retryable || isOver) throw error;
        await sleep(backoffMs(tries, error.retryAfterMs), signal);
      }
    }
  }

  async #answered({ url, init }: Request, signal: AbortSignal): Promise<Response> {
    const response = await this.#fetch(url, { ...init, signal });
    if (!response.ok) throw errorOf(response.status, response.headers, await response.text());
    return response;
  }

  #request(
    operation: string,
    route: Route,
    input: object,
    { bounds, options }: { readonly bounds: Bounds | undefined; readonly options: CallOptions },
  ): Request {
    const { file, fileName, ...rest } = input as { file?: Blob; fileName?: string }; // members of uploads
    const isFile = route.body === 'file';
    const members = toWire(operation, isFile ? rest : input);
    const headers = this.#headers(route, bounds, options);
    const isCommand = route.body === 'command';
    const path = (isCommand ? 'M/app/exec' : route.path)
      .replace(/^M(?=\/|$)/, () => `/memories/${segment(bounds?.memory ?? '')}`)
      .replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = members[name];
        delete members[name];
        return segment(value);
      });
    const query = route.body === 'query' || isFile ? queryOf(members) : '';
    const init: RequestInit = { method: route.verb, headers };
    if (isFile) init.body = upload(file, fileName);
    else if (route.body !== 'query') {
      headers['content-type'] = 'application/json';
      init.body = JSON.stringify(isCommand ? { command: route.path, args: members } : members);
    }
    return { url: `${this.#base}/api${path}${query}`, init };
  }

  #headers(route: Route, bounds: Bounds | undefined, options: CallOptions): Record<string, string> {
    const headers: Record<string, string> = {};
    const { apiKey } = this.#options;
    if (apiKey !== undefined) headers['authorization'] = `Bearer ${apiKey}`;
    if (bounds?.user !== undefined) headers['x-user-id'] = headerText(bounds.user);
    if (bounds?.namespace !== undefined) headers['x-namespace'] = headerText(bounds.namespace);
    if (route.isChange) headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID();
    if (options.dryRun === true) headers['x-dry-run'] = '1';
    if (options.strict === true) headers['x-strict'] = '1';
    if (options.reason !== undefined) headers['x-reason'] = headerText(options.reason);
    return headers;
  }
}

/** A segment of a path. Dots alone would name another path. */
function segment(value: unknown): string {
  const text = String(value ?? '');
  if (text === '' || text === '.' || text === '..') throw new TypeError(`\`${text}\` cannot be part of a path`);
  return encodeURIComponent(text);
}

/** A header's text; percent-encoded if it is more than printable ASCII, or would be taken for encoded text. */
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^utf-8'/i.test(text);
  return isPlain ? text : `UTF-8''${encodeURIComponent(text)}`;
}

function queryOf(members: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== null) query.append(name, String(one));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

function upload(file: Blob | undefined, fileName: string | undefined): FormData {
  if (file === undefined) throw new TypeError('an upload needs `file`');
  const form = new FormData();
  form.append('file', file, fileName ?? (file as { name?: string }).name ?? 'file'); // a File has a name
  return form;
}

async function read(operation: string, { body, answer }: Route, response: Response): Promise<unknown> {
  if (answer === 'bytes') return new Uint8Array(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? '';
  const isJson = type.includes('json');
  if (response.status === 204 || response.status === 304) return {};
  if (type.startsWith('application/pdf')) return new Uint8Array(await response.arrayBuffer());
  if (!isJson) return response.text();
  const value: unknown = await response.json();
  return fromWire(operation, body === 'command' ? (value as { result?: unknown }).result : value);
}

/**
 * Runs `work` with a signal that aborts with the caller's, or after the time. With `keep` the time ends once `work` does,
 * and the caller's signal goes on to abort what `work` opened, until the function that `keep` gets is called.
 */
async function within<T>(
  outer: AbortSignal | undefined,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  keep?: (close: () => void) => void,
): Promise<T> {
  outer?.throwIfAborted();
  const inner = new AbortController();
  let isLate = false;
  const timer = timerOf(() => {
    isLate = true;
    inner.abort();
  }, timeoutMs);
  const pass = (): void => inner.abort(outer?.reason);
  const release = (): void => outer?.removeEventListener('abort', pass);
  outer?.addEventListener('abort', pass, { once: true });
  try {
    const result = await work(inner.signal);
    if (keep === undefined) release();
    else
      keep(() => {
        release();
        inner.abort();
      });
    return result;
  } catch (error) {
    release();
    if (error instanceof GranaryError) throw error;
    if (outer?.aborted === true) throw outer.reason;
    const parts = { code: 'CLIENT', status: 0, retryable: true };
    if (isLate) throw new TimeoutError(`no answer within ${timeoutMs} ms`, parts);
    throw new ConnectionError('the server could not be reached, or its answer broke off', { ...parts, cause: error });
  } finally {
    clearTimeout(timer);
  }
}
