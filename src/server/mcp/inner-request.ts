// A request of the server to itself: it takes the way of every request of the API, with the caller's own credentials, so
// rights, limits, policy and trail are those of the API.
import { parseJson, stringifyJson } from '../../engine/grain/api/json.ts';
import type { JsonObject } from '../../engine/grain/api/json-value.ts';
import { CallRefused } from '../../mcp/refused.ts';
import type { ApiRequest } from '../../mcp/session.ts';
import type { HttpHandler, HttpRequest, ResponseHeaders, ResponseStream } from '../http/listener.ts';

/** Headers of the caller that go with every inner request. */
const PASSED_ON = ['authorization', 'x-api-key', 'x-purpose', 'x-strict'];

/** How a request inside is asked. */
export interface Inside {
  readonly serve: HttpHandler;
  /** The request of the caller. */
  readonly outer: HttpRequest;
  /** `outer` was counted for it. */
  readonly isCounted: boolean;
}

/** Sends a request for the caller of `outer`. Rejects with CallRefused. */
export async function askInside(asked: ApiRequest, { serve, outer, isCounted }: Inside): Promise<JsonObject> {
  const { status, body } = await new Promise<Answer>((resolve, reject) => {
    const request = innerRequest(outer, asked, isCounted, resolve);
    Promise.resolve(serve(request)).catch(reject);
  });
  const value = parseJson(body.toString('utf8'));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CallRefused('SYS-E001', 'the answer is not a JSON object');
  if (status < 400) return value;
  const { code, message } = (value['error'] ?? {}) as { readonly code?: unknown; readonly message?: unknown }; // an error body
  throw new CallRefused(String(code), withoutCode(String(code), String(message)));
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

function withoutCode(code: string, message: string): string {
  return message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
}

function innerRequest(
  outer: HttpRequest,
  asked: ApiRequest,
  isCounted: boolean,
  done: (answer: Answer) => void,
): HttpRequest {
  const sent = asked.json === undefined ? Buffer.alloc(0) : Buffer.from(stringifyJson(asked.json), 'utf8');
  const headers = headersOf(outer, asked);
  let over: (() => void) | undefined;
  let isOver = false;
  const end = (answer: Answer): void => {
    isOver = true;
    over?.();
    done(answer);
  };
  return {
    method: asked.verb,
    path: `/api${asked.path}`,
    query: queryOf(asked),
    authority: undefined,
    remoteAddress: outer.remoteAddress,
    isCounted,
    aborted: outer.aborted,
    headerList: [...headers].flat(),
    header: (name) => headers.get(name),
    only: (name) => headers.get(name),
    joined: (name) => outer.joined(name),
    body: async () => sent,
    respond: (status, _, body = '') => end({ status, body: Buffer.from(body) }),
    whenOver: (call) => {
      if (isOver) call();
      else over = call;
    },
    cut: () => end({ status: 500, body: Buffer.from(CUT) }),
    stream: (status: number, _: ResponseHeaders) => gathered((body) => end({ status, body })),
  };
}

const CUT = JSON.stringify({ error: { code: 'LIM-E001', message: 'the answer was cut off: the server is busy' } });

function headersOf(outer: HttpRequest, asked: ApiRequest): ReadonlyMap<string, string> {
  const headers = new Map(Object.entries(asked.headers));
  if (asked.json !== undefined) headers.set('content-type', 'application/json');
  for (const name of PASSED_ON) {
    const value = outer.only(name);
    if (value !== undefined) headers.set(name, value);
  }
  return headers;
}

function queryOf({ query = {} }: ApiRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) parameters.append(name, String(one));
  return parameters.toString();
}

/** Collects a streamed answer. */
function gathered(done: (body: Buffer) => void): ResponseStream {
  const pieces: Buffer[] = [];
  return {
    unreportedBytes: 0,
    write: async (chunk) => void pieces.push(Buffer.from(chunk)),
    end: () => done(Buffer.concat(pieces)),
  };
}
