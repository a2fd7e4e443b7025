// A minimal HTTP client for tests; every error body is checked against the contract.
import assert from 'node:assert/strict';
import { checkHttpStatus, Refusal, type RefusalDetail } from './contract.ts';
import { checkAgainstOpenApi } from './openapi-answers.ts';

export interface Asking {
  readonly json?: unknown;
  readonly body?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the client's key; null sends none. */
  readonly key?: string | null;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The body as JSON; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: members are asserted one by one where they are used
  readonly json: any;
}

export class HttpClient {
  #base: string;
  #key: string;

  /** `base` without `/api`. */
  constructor(base: string, key: string) {
    this.#base = base;
    this.#key = key;
  }

  get base(): string {
    return this.#base;
  }

  get key(): string {
    return this.#key;
  }

  /** Sends later requests to another server, such as one that did not run yet when the client was made. */
  moveTo(base: string, key: string): void {
    this.#base = base;
    this.#key = key;
  }

  with(key: string): HttpClient {
    return new HttpClient(this.base, key);
  }

  /** Any reply; `path` is relative to `/api`. */
  async ask(method: string, path: string, { json, body, headers = {}, key }: Asking = {}): Promise<Reply> {
    const bearer = key === undefined ? this.key : key;
    const response = await fetch(`${this.base}/api${path}`, {
      method,
      headers: {
        ...(bearer === null || bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? (body === undefined ? {} : { body }) : { body: JSON.stringify(json) }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = new TextDecoder().decode(bytes);
    const reply = { status: response.status, headers: response.headers, bytes, text, json: parsed(text) };
    checkAgainstOpenApi(method, path, reply);
    // Preflights are sent by the browser and have no request id.
    if (method !== 'OPTIONS') assert.ok(reply.headers.get('x-request-id'), `${method} ${path} has no request id`);
    return reply;
  }

  /** A 2xx reply's JSON; throws `Refusal` for everything else. */
  async call(method: string, path: string, asking?: Asking): Promise<Reply['json']> {
    return accepted(await this.ask(method, path, asking), `${method} ${path}`).json;
  }

  get(path: string, asking?: Asking): Promise<Reply['json']> {
    return this.call('GET', path, asking);
  }

  post(path: string, json: unknown, asking?: Asking): Promise<Reply['json']> {
    return this.call('POST', path, { json, ...asking });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a successful reply; otherwise checks its shape and throws its error. */
export function accepted(reply: Reply, where: string): Reply {
  if (reply.status >= 200 && reply.status < 300) return reply;
  throw refusalOf(reply, where);
}

/** The error in a reply, whose body and status must match the contract. */
export function refusalOf(reply: Pick<Reply, 'status' | 'text' | 'headers'>, where: string): Refusal {
  const body = parsed(reply.text) as { error?: Record<string, unknown> } | undefined; // checked member by member below
  assert.ok(body?.error, `${where} answered ${reply.status} without an error body: ${reply.text.slice(0, 200)}`);
  assert.deepEqual(Object.keys(body), ['error']);
  const { code, message, details, request_id: requestId } = body.error;
  assert.ok(typeof code === 'string' && /^[A-Z]{3}-[EW]\d{3}$/.test(code), `${where}: code ${code}`);
  assert.ok(typeof message === 'string' && message.startsWith(`${code}: `), `${where}: message ${message}`);
  assert.ok(Array.isArray(details), `${where}: details`);
  for (const detail of details)
    assert.ok(typeof detail.field === 'string' && typeof detail.issue === 'string', `${where}: detail`);
  assert.equal(requestId, reply.headers.get('x-request-id'), `${where}: request id of body and header`);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
  checkHttpStatus(code, reply.status, where);
  return new Refusal(code, message, details as RefusalDetail[], String(requestId));
}
