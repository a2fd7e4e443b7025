// The HTTP transport of the operation table: finds a request's operation and sends its answer.
import { unreachable } from '../engine/base/assert.ts';
import { EngineError } from '../engine/base/errors.ts';
import { ANSWER_SHARED_BYTES_MIN, MESSAGE_BYTES_MAX } from '../engine/base/limits.ts';
import { jsonBuffer } from '../engine/grain/api/json.ts';
import { isRepeatable, requestIdOf } from './arrival.ts';
import { withoutBase } from './base-path.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Services } from './context.ts';
import type { GrpcAnswer, GrpcCall } from './grpc/front.ts';
import type { Cors } from './http/cors.ts';
import { respondError } from './http/errors.ts';
import { jsonBody } from './http/json.ts';
import type { HttpHandler, HttpRequest, ResponseHeaders } from './http/listener.ts';
import { fileUpload } from './http/multipart.ts';
import { Router } from './http/router.ts';
import type { McpFront } from './mcp/front.ts';
import { codecOf, sidecarCodecOf } from './operations/codecs.ts';
import type { Operation } from './operations/define.ts';
import type { HttpParts, HttpReply, HttpRow, UploadedFile } from './operations/http-face.ts';
import { fullPath } from './operations/openapi.ts';
import { OPERATIONS } from './operations/table.ts';
import type { UnknownMember } from './operations/unknown-members.ts';
import { askingOf, type PageGuard } from './page-guard.ts';
import type { TrustedProxies } from './proxies.ts';
import type { ConsoleSignIn } from './site/console-sign-in.ts';
import type { Site } from './site/site.ts';
import type { Forward, Wrapper } from './wrapper.ts';

interface Route {
  readonly operation: Operation;
  readonly row: HttpRow;
  /** Number of its codec, when a worker decodes its requests. */
  readonly codec: number | undefined;
}

/** A request that another node answers. */
export interface PassedOn {
  readonly request: HttpRequest;
  /** Its body, if it has been read. */
  readonly taken?: Promise<Uint8Array> | undefined;
  /** Headers of an answer that this node makes itself. */
  readonly always: ResponseHeaders;
  /** Budget of answers until clients have read them. */
  readonly answers: ByteBudget;
  /** No page of another site caused it, by the names of this node, which the other one does not know. */
  readonly isKnownPage: boolean;
  /** It does no harm when it runs twice. */
  readonly mayRepeat: boolean;
}

/** Answers requests that this node cannot answer from its copy of the control log. */
export interface Elsewhere {
  readonly http: (passed: PassedOn) => Promise<void>;
  readonly grpc: (call: GrpcCall, mayRepeat: boolean) => Promise<GrpcAnswer>;
}

export interface HandlerParts {
  /** Set on a node that has a copy of the control log alone. */
  readonly elsewhere?: Elsewhere | undefined;
  readonly wrapper: Wrapper;
  readonly cors: Cors;
  readonly extra: readonly Operation[];
  /** Set when the server requires no key. */
  readonly pages: PageGuard | undefined;
  /** Serves /mcp, unless it is off. */
  readonly mcp: McpFront | undefined;
  /** Path under which a proxy shows the server; empty: none. */
  readonly basePath: string;
  readonly proxies: TrustedProxies;
  /** The console and the documents, unless they are off. */
  readonly sites: readonly Site[];
  /** Signs people in to the console at the issuer of tokens. */
  readonly signIn: ConsoleSignIn | undefined;
  /** Parses a JSON body. */
  readonly readJson: (bytes: Uint8Array) => Promise<unknown>;
  /** For answers that continue after their operation. */
  readonly services: Pick<Services, 'events' | 'chats' | 'progress'>;
  /** Budget of answers until clients have read them. */
  readonly answers: ByteBudget;
}

/** Answers every request. `extra` are operations with absolute paths (`/metrics`). */
export function httpHandler(parts: HandlerParts): HttpHandler {
  const { cors, pages, sites, signIn, mcp, basePath, elsewhere, answers } = parts;
  const router = new Router<Route>();
  for (const operation of OPERATIONS)
    for (const row of operation.http)
      router.add(row.verb, `/api${fullPath(row.path)}`, { operation, row, codec: codecOf(row) });
  for (const operation of parts.extra)
    for (const row of operation.http) router.add(row.verb, row.path, { operation, row, codec: undefined });

  const serve: HttpHandler = async (request) => {
    if (cors.preflight(request)) return;
    const always = cors.headers(request);
    if (pages !== undefined && request.isKnownPage !== true) {
      const refused = refusedPage(pages, request);
      if (refused !== undefined) return refuse(request, refused, always);
    }
    const path = withoutBase(request.path, basePath);
    // Its state is that of one server.
    const isOfServer = signIn?.takes(request.method, path) === true || mcp?.takes(path) === true;
    if (isOfServer && elsewhere !== undefined) {
      const isKnownPage = pages !== undefined || mcp?.isKnownPage(request) === true;
      return elsewhere.http({ request, always, answers, isKnownPage, mayRepeat: false });
    }
    if (signIn?.takes(request.method, path) === true) return signIn.answer(request, always);
    if (sites.some((site) => site.answer(request, path, always))) return;
    if (mcp?.takes(path) === true) return mcp.answer(request, { path, always, serve });
    if (request.method === 'OPTIONS' && WHOLE_SERVER.has(path)) {
      request.respond(204, [...always, ['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']]);
      return;
    }
    let match: ReturnType<typeof router.match>;
    try {
      match = router.match(request.method, path);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return refuse(request, error, always);
    }
    if (match.found === 'nothing')
      return refuse(request, new EngineError('SYS-E003', 'there is no such route: see /api/openapi.json'), always);
    if (match.found === 'methods' && request.method === 'OPTIONS') {
      request.respond(204, [...always, ['allow', match.allow]]);
      return;
    }
    if (match.found === 'methods')
      return refuse(request, new EngineError('SYS-E004', 'method not allowed'), [...always, ['allow', match.allow]]);
    if (elsewhere !== undefined && match.route.operation.onAnyNode === false)
      return elsewhere.http({
        request,
        always,
        answers,
        isKnownPage: pages !== undefined,
        mayRepeat: isRepeatable(match.route.operation, request.header('idempotency-key')),
      });
    await answer(parts, request, match, always);
  };
  return serve;
}

/** Targets of availability checks: HAProxy's default, and `OPTIONS *`. */
const WHOLE_SERVER: ReadonlySet<string> = new Set(['/', '*']);

function refusedPage(pages: PageGuard, request: HttpRequest): EngineError | undefined {
  try {
    pages.check(askingOf(request));
    return undefined;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error;
  }
}

function refuse(request: HttpRequest, error: EngineError, headers: ResponseHeaders): void {
  const id = requestIdOf(request.header('x-request-id'));
  respondError(request, error, id, [...headers, ['x-request-id', id]]);
}

async function answer(
  { wrapper, proxies, readJson, answers, services, elsewhere, pages }: HandlerParts,
  request: HttpRequest,
  match: { readonly route: Route; readonly params: Readonly<Record<string, string>> },
  always: ResponseHeaders,
): Promise<void> {
  const { operation, row, codec } = match.route;
  const { id, ...rest } = match.params;
  const isOfMemory = operation.on === 'memory';
  const params = isOfMemory ? rest : match.params;
  let parts: HttpParts | undefined;
  let taken: Promise<Uint8Array> | undefined;
  // A body can be read only once.
  const jsonBytes = (): Promise<Uint8Array> => {
    taken ??= jsonBody(request, MESSAGE_BYTES_MAX);
    return taken;
  };
  const performed = await wrapper.perform<HttpReply>(
    {
      operation,
      face: 'http',
      memoryId: isOfMemory ? id : undefined,
      requestId: request.header('x-request-id'),
      header: (name) => request.only(name),
      get remoteAddress() {
        return proxies.clientOf(request);
      },
      // Asked for once the body is read.
      get target() {
        return operation.mutates ? targetOf(params, request.query, parts?.file) : undefined;
      },
      route: row,
      isCounted: request.isCounted,
    },
    {
      read: async () => {
        const { json, file, bytes } = await bodyOf(request, row, { jsonBytes, readJson });
        parts = {
          params,
          query: queryOf(request.query),
          json,
          file,
          ifNoneMatch: request.header('if-none-match'),
          accept: request.header('accept'),
          lastEventId: request.header('last-event-id'),
        };
        const unknown: UnknownMember[] = [];
        return { candidate: row.read(parts, unknown), bytes, unknown };
      },
      write: (output, performed) => row.reply(output, parts ?? NO_PARTS, performed),
      statusOf: (reply) => reply.status,
      // A query adds to the body and would not reach the worker.
      forward: codec === undefined || request.query !== '' ? undefined : forwardOf(row, codec, jsonBytes),
    },
  );
  if (!performed.ok && performed.isElsewhere === true && elsewhere !== undefined)
    return elsewhere.http({
      request,
      taken,
      always,
      answers,
      isKnownPage: pages !== undefined,
      mayRepeat: isRepeatable(operation, request.header('idempotency-key')),
    });
  const caching = cachingOf(request, performed.ok ? performed.reply : undefined);
  const headers: ResponseHeaders = [...always, ...caching, ...Object.entries(performed.headers)];
  if (performed.ok) {
    try {
      if (performed.reply.kind === 'open') {
        const { reply, requestId } = performed;
        const shown = [...Object.entries(reply.headers), ...headers];
        reply.open(services, request, { headers: shown, requestId });
      } else await send(request, performed.reply, headers, answers);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      respondError(request, error, performed.requestId, [...headers, ['retry-after', '1']]);
    }
  } else respondError(request, performed.error, performed.requestId, headers);
}

const NO_STORE: ResponseHeaders = [['cache-control', 'no-store']];

/**
 * Answers have data of persons, which no browser and no proxy may keep beyond an erasure. Caches keep answers to GET
 * without being told to, and to other methods only if a header says so. Some answers say themselves how they are kept.
 */
function cachingOf({ method }: HttpRequest, reply: HttpReply | undefined): ResponseHeaders {
  if (method !== 'GET' && method !== 'HEAD') return [];
  const saysItself = reply !== undefined && 'headers' in reply && reply.headers['cache-control'] !== undefined;
  return saysItself || reply?.kind === 'open' ? [] : NO_STORE;
}

function forwardOf(row: HttpRow, codec: number, bytes: () => Promise<Uint8Array>): Forward<HttpReply> {
  return {
    codec,
    bytes,
    onMainThread: row.onMainThread,
    sidecar: sidecarOf(row),
    write: (reply) => ({ kind: 'bytes', status: row.successStatus, headers: JSON_HEADERS, body: reply.bytes }),
  };
}

function sidecarOf(row: HttpRow): Forward<HttpReply>['sidecar'] {
  const codec = sidecarCodecOf(row);
  return codec === undefined || row.sidecar === undefined ? undefined : { codec, make: row.sidecar };
}

/** The name of an uploaded file is no part of its bytes, and is kept with them. */
function targetOf(params: HttpParts['params'], query: string, file: UploadedFile | undefined): string {
  return [...Object.values(params), query, ...(file === undefined ? [] : [file.name])].join('\n');
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const NO_BYTES = new Uint8Array(0);
const NO_CHUNKS: readonly Uint8Array[] = [];
const NO_PARTS: HttpParts = { params: {}, query: {}, json: undefined, file: undefined, ifNoneMatch: undefined };

interface Body {
  readonly json: unknown;
  readonly file: UploadedFile | undefined;
  readonly bytes: Uint8Array;
}

interface JsonReading {
  readonly jsonBytes: () => Promise<Uint8Array>;
  readonly readJson: HandlerParts['readJson'];
}

async function bodyOf(request: HttpRequest, row: HttpRow, { jsonBytes, readJson }: JsonReading): Promise<Body> {
  switch (row.body) {
    case 'none':
      return { json: undefined, file: undefined, bytes: NO_BYTES };
    case 'json': {
      const bytes = await jsonBytes();
      return { json: await readJson(bytes), file: undefined, bytes };
    }
    case 'file': {
      const { fileName, bytes, otherParts } = await fileUpload(request);
      // The boundary differs each time a form is sent.
      return { json: undefined, file: { name: fileName, bytes, otherParts }, bytes };
    }
    default:
      return unreachable(row.body);
  }
}

const NO_QUERY: HttpParts['query'] = {};

const PRINTABLE = /^[!-~]*$/;
const ENCODED = /(?:%[0-9a-f]{2})+/gi;

/** Throws VAL-E001 for bytes that are not UTF-8: URLSearchParams makes one name of several such ones. */
function checkQuery(query: string): void {
  try {
    if (PRINTABLE.test(query)) {
      for (const [encoded] of query.matchAll(ENCODED)) decodeURIComponent(encoded);
      return;
    }
  } catch {
    // The same refusal as for bytes that are not encoded.
  }
  throw new EngineError('VAL-E001', 'the query is not percent-encoded UTF-8');
}

function queryOf(query: string): HttpParts['query'] {
  if (query === '') return NO_QUERY;
  checkQuery(query);
  const values: Record<string, string[]> = Object.create(null) as Record<string, string[]>; // a name may be __proto__
  for (const [name, value] of new URLSearchParams(query)) {
    const known = values[name];
    if (known === undefined) values[name] = [value];
    else known.push(value);
  }
  return values;
}

/** Throws LIM-E001 before anything is sent when there is no room for the answer. */
async function send(
  request: HttpRequest,
  reply: Exclude<HttpReply, { readonly kind: 'open' }>,
  headers: ResponseHeaders,
  answers: ByteBudget,
): Promise<void> {
  switch (reply.kind) {
    case 'json': {
      const body = jsonBuffer(reply.value);
      holdAnswer(request, body.length, answers);
      request.respond(reply.status, [['content-type', 'application/json'], ...headers], body);
      return;
    }
    case 'bytes':
      holdAnswer(request, reply.body.length, answers);
      request.respond(reply.status, [...Object.entries(reply.headers), ...headers], reply.body);
      return;
    case 'stream':
      await sendStream(request, reply, headers, answers);
      return;
    default:
      unreachable(reply);
  }
}

/** Counts a long answer until the system has taken it. */
function holdAnswer(request: HttpRequest, bytes: number, answers: ByteBudget): void {
  if (bytes <= ANSWER_SHARED_BYTES_MIN) return;
  const share = answers.share(() => request.cut());
  try {
    share.hold(bytes);
  } catch (error) {
    share.release();
    throw error;
  }
  request.whenOver(() => share.release());
}

/** Only one piece is held at a time, while it waits for the peer. */
async function sendStream(
  request: HttpRequest,
  reply: HttpReply & { readonly kind: 'stream' },
  headers: ResponseHeaders,
  answers: ByteBudget,
): Promise<void> {
  const share = answers.share(() => request.cut());
  const stream = request.stream(reply.status, [...Object.entries(reply.headers), ...headers]);
  try {
    // Nothing is made for HEAD, which gets no body. An error during streaming is thrown to the listener, which cuts the
    // connection: the client sees a truncated answer.
    for await (const chunk of request.method === 'HEAD' ? NO_CHUNKS : reply.body) {
      share.hold(chunk.length);
      await stream.write(chunk);
      share.hold(0);
    }
  } catch (error) {
    // The answer has begun, so no error can be sent.
    throw error instanceof EngineError ? new Error('the answer could not be completed', { cause: error }) : error;
  } finally {
    share.release();
  }
  stream.end();
}
