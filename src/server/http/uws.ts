// The listener on uWebSockets.js. Behaviour of the library itself, measured on the pinned version: it closes
// connections that send no request, no complete headers, no further request or less than 16 KB/s of a body within a
// time that can be set, without an answer, and unread responses after half a minute; after an answer to a request with
// `Connection: close` it closes at once, unread bytes or not, and the reset may cost the peer the answer; HTTP/1.0,
// absolute-form targets and CONNECT get a 505, and chunk extensions and trailers a 400. A request pipelined behind a
// running one closes the connection: answers are never mixed, but a client that pipelines must be ready to send again.
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import { accessSync, constants } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { assert } from '../../engine/base/assert.ts';
import {
  BODY_DROPPED_BYTES_MAX,
  BODY_TIMEOUT_MS,
  CONNECTIONS_MAX,
  HEADERS_TIMEOUT_MS,
  RESPONSE_PIECE_BYTES,
} from '../../engine/base/limits.ts';
import type { ByteBudget } from '../byte-budget.ts';
import { UWS_CIPHERS } from '../tls.ts';
import { Body, type Flow } from './body.ts';
import { handle } from './handle.ts';
import { firstHeader, onlyHeader } from './header-list.ts';
import { HeldAnswer } from './held-answer.ts';
import {
  checkHeaders,
  type HttpHandler,
  type HttpListener,
  type HttpRequest,
  type Listen,
  type ListenOptions,
  ownBudget,
  type RefusedStatus,
  RequestAborted,
  type ResponseHeaders,
  type ResponseStream,
} from './listener.ts';
import { loadUws, type UwsApp, type UwsModule } from './uws-loader.ts';
import { UwsStream } from './uws-stream.ts';

/** Listens with uWebSockets.js. Rejects with the loader's reason where its binary does not load. */
export const listenUws: Listen = (options, handler) =>
  new Promise((resolve, reject) => {
    const found = loadUws();
    if ('reason' in found) throw new Error(found.reason);
    const { uws } = found;
    // The library reports only that a file is bad; the system says why.
    for (const file of options.tls ? [options.tls.certFile, options.tls.keyFile] : []) accessSync(file, constants.R_OK);
    const app = options.tls
      ? uws.SSLApp({
          cert_file_name: options.tls.certFile,
          key_file_name: options.tls.keyFile,
          ssl_ciphers: UWS_CIPHERS,
        })
      : uws.App();
    const server = new UwsServer(app, options, handler);
    app.listen(options.host, options.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket === false) {
        server.close();
        reject(new Error(`cannot listen on ${options.host} port ${options.port}: in use, or not allowed`));
        return;
      }
      server.start(uws, socket);
      resolve(server);
    });
  });

/** How long a drain waits for a slow peer to read the end of a response. */
const LINGER_MS = 2_000;

/** Time for a connection that waits for its peer, at least, and the library's inexactness. */
const IDLE_SECONDS_MIN = HEADERS_TIMEOUT_MS / 1_000;
const IDLE_STEP_SECONDS = 8;
/** Looks for late bodies within the time for a body. */
const SWEEPS = 4;

type ListenSocket = Parameters<UwsModule['us_listen_socket_close']>[0];

class UwsServer implements HttpListener {
  readonly kind = 'uws';
  port = 0;
  draining = false;
  private readonly app: UwsApp;
  private readonly options: ListenOptions;
  private readonly handler: HttpHandler;
  private readonly bodyTimeoutMs: number;
  readonly requests: ByteBudget;
  /** Requests whose body is still arriving, oldest first. */
  private readonly receiving = new Set<UwsRequest>();
  /** Requests of this event-loop turn: most have their body before it ends and need no tracking. */
  private fresh: UwsRequest[] = [];
  private sweep: NodeJS.Timeout | undefined;
  private inFlight = 0;
  private connections = 0;
  private heldEndMs = Number.NEGATIVE_INFINITY;
  private stopListening: (() => void) | undefined;
  private drained: (() => void) | undefined;
  private closed = false;

  constructor(app: UwsApp, options: ListenOptions, handler: HttpHandler) {
    this.app = app;
    this.options = options;
    this.handler = handler;
    this.bodyTimeoutMs = options.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
    this.requests = options.requests ?? ownBudget();
    // The server answers a late body itself, before the library closes its connection.
    const bodySeconds = Math.ceil((this.bodyTimeoutMs * (1 + 1 / SWEEPS)) / 1_000);
    const idleSeconds = Math.max(IDLE_SECONDS_MIN, bodySeconds + IDLE_STEP_SECONDS);
    app.setIdleTimeout(idleSeconds);
    app.setResponseTimeout(idleSeconds);
    const connectionsMax = options.connectionsMax ?? CONNECTIONS_MAX;
    const count = (response: NativeResponse, change: number): void => {
      this.connections += change;
      if (change > 0 && this.connections > connectionsMax) response.close();
    };
    app.filter(count);
    // One registration per method, so that the method is known without asking.
    app.get('/*', (response, request) => this.accept('GET', response, request));
    app.post('/*', (response, request) => this.accept('POST', response, request));
    app.put('/*', (response, request) => this.accept('PUT', response, request));
    app.patch('/*', (response, request) => this.accept('PATCH', response, request));
    app.del('/*', (response, request) => this.accept('DELETE', response, request));
    app.any('/*', (response, request) => this.accept(request.getCaseSensitiveMethod(), response, request));
  }

  start(uws: UwsModule, socket: ListenSocket): void {
    this.port = uws.us_socket_local_port(socket);
    this.stopListening = () => uws.us_listen_socket_close(socket);
    this.sweep = setInterval(() => this.expireBodies(), Math.ceil(this.bodyTimeoutMs / SWEEPS)).unref();
  }

  drain(deadlineMs: number): Promise<void> {
    this.draining = true;
    this.stopListening?.();
    this.stopListening = undefined;
    return new Promise((resolve) => {
      const force = setTimeout(() => this.drained?.(), deadlineMs);
      this.drained = () => {
        clearTimeout(force);
        this.drained = undefined;
        this.close();
        resolve();
      };
      this.settle();
    });
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.sweep);
    this.app.close();
  }

  finished(request: UwsRequest): void {
    if (request.receiving) this.received(request);
    this.inFlight--;
    if (this.draining) this.settle();
  }

  /** The library may still buffer the end of a response to a slow peer. */
  linger(): void {
    this.heldEndMs = performance.now();
  }

  /** Ends the drain when nothing is left. */
  private settle(): void {
    if (this.inFlight > 0) return;
    const lingering = this.connections > 0 && performance.now() - this.heldEndMs < LINGER_MS;
    // In both cases the last bytes leave this callback's cork first.
    if (lingering) setTimeout(() => this.settle(), 50);
    else
      setImmediate(() => {
        // On a kept-alive connection another request may have arrived in this turn; its end comes here again.
        if (this.inFlight === 0) this.drained?.();
      });
  }

  received(request: UwsRequest): void {
    request.receiving = false;
    if (request.bodyDeadlineMs !== 0) this.receiving.delete(request);
  }

  refusal(status: RefusedStatus): { readonly headers: ResponseHeaders; readonly body: string } {
    return this.options.refusal?.(status) ?? { headers: [], body: '' };
  }

  report(error: unknown): void {
    if (!(error instanceof RequestAborted)) this.options.onError?.(error);
  }

  private accept(method: string, response: NativeResponse, native: NativeRequest): void {
    const headers = collectHeaders(native);
    this.inFlight++;
    const request = new UwsRequest(this, response, {
      method,
      path: native.getUrl(),
      query: native.getQuery() ?? '',
      headers,
    });
    response.onAborted(() => request.abort());
    const declared = bodyBytes(headers);
    if (declared === MALFORMED) {
      request.refuse(400);
      return;
    }
    if (declared !== 0) {
      request.expect(declared);
      if (this.fresh.push(request) === 1) setImmediate(this.watchFresh);
    }
    handle(this.handler, request);
  }

  private readonly watchFresh = (): void => {
    const deadlineMs = performance.now() + this.bodyTimeoutMs;
    for (const request of this.fresh) {
      if (!request.receiving) continue;
      request.bodyDeadlineMs = deadlineMs;
      this.receiving.add(request);
    }
    this.fresh = [];
  };

  private expireBodies(): void {
    const now = performance.now();
    for (const request of this.receiving) {
      if (request.bodyDeadlineMs > now) return;
      request.refuse(408);
    }
  }
}

// States of a request: open, then sending (or streaming), then done; or gone at any time before that. One that is refused
// takes no answer of its handler any more.
const OPEN = 0;
const SENDING = 1;
const STREAMING = 2;
const DONE = 3;
const GONE = 4;
const REFUSED = 5;

/** The parts of the native request, which is valid only during its callback. */
interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

class UwsRequest implements HttpRequest, Flow {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Its body is incomplete and still wanted. */
  receiving = false;
  /** 0 until the server tracks the body. */
  bodyDeadlineMs = 0;
  /** -1 for a chunked body. */
  private declaredBytes = 0;
  private readonly server: UwsServer;
  private readonly response: NativeResponse;
  private readonly headers: readonly string[];
  private state = OPEN;
  private address: string | undefined;
  private pendingBody: Body | undefined;
  private pendingStream: UwsStream | undefined;
  private controller: AbortController | undefined;
  private over: (() => void) | undefined;
  /** The answer that waits for the rest of the body. */
  private held: HeldAnswer | undefined;

  constructor(server: UwsServer, response: NativeResponse, head: RequestHead) {
    this.server = server;
    this.response = response;
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
    this.headers = head.headers;
  }

  get remoteAddress(): string {
    if (this.address === undefined) {
      this.address = this.alive() ? Buffer.from(this.response.getRemoteAddressAsText()).toString('latin1') : '';
    }
    return this.address;
  }

  get authority(): string | undefined {
    return this.only('host');
  }

  get aborted(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.takesNoAnswer) this.controller.abort(new RequestAborted());
    }
    return this.controller.signal;
  }

  header(name: string): string | undefined {
    return firstHeader(this.headers, name);
  }

  only(name: string): string | undefined {
    return onlyHeader(this.headers, name);
  }

  body(bytesMax: number): Promise<Uint8Array> {
    if (this.pendingBody !== undefined) return this.pendingBody.ask(bytesMax);
    return Promise.resolve(new Uint8Array(0));
  }

  respond(status: number, headers: ResponseHeaders, body: string | Uint8Array = ''): void {
    if (this.takesNoAnswer) return;
    assert(this.state === OPEN, 'a request has one response');
    checkHeaders(headers);
    this.state = SENDING;
    if (this.receiving && !this.isSafeToAnswer) this.hold(() => this.send(status, headers, body));
    else this.send(status, headers, body);
  }

  /**
   * False when the library would close the connection after the answer, as it decides by the length of the header, or
   * would read on without a limit.
   */
  private get isSafeToAnswer(): boolean {
    const closes = this.header('connection')?.length === 'close'.length;
    return !closes && this.declaredBytes >= 0 && this.declaredBytes <= BODY_DROPPED_BYTES_MAX;
  }

  /** Answers when the rest of the body is read, or the peer sends no more of it. */
  private hold(answer: () => void): void {
    this.pendingBody?.discard();
    this.held = new HeldAnswer(() => {
      this.held = undefined;
      if (this.alive()) answer();
    });
  }

  private send(status: number, headers: ResponseHeaders, body: string | Uint8Array): void {
    // uWebSockets.js copies what it cannot send at once, so long bodies are sent as the peer reads them.
    const long = body.length > RESPONSE_PIECE_BYTES && this.method !== 'HEAD';
    this.response.cork(() => {
      this.begin(status, headers);
      if (long) this.sendLong(typeof body === 'string' ? Buffer.from(body) : body);
      else this.sendShort(status, body);
    });
  }

  whenOver(over: () => void): void {
    if (this.alive()) this.over = over;
    else over();
  }

  cut(): void {
    if (this.alive()) this.response.close();
  }

  stream(status: number, headers: ResponseHeaders): ResponseStream {
    const gone = this.takesNoAnswer;
    assert(gone || this.state === OPEN, 'a request has one response');
    if (!gone) checkHeaders(headers);
    const stream = new UwsStream(this.response, {
      bodiless: this.method === 'HEAD',
      ended: (held) => {
        if (held) this.server.linger();
        this.finish();
      },
    });
    if (gone) {
      stream.abort();
      return stream;
    }
    this.state = STREAMING;
    this.pendingStream = stream;
    this.response.cork(() => this.begin(status, headers));
    return stream;
  }

  // ---- callbacks of the server ----

  expect(declaredBytes: number): void {
    const { response } = this;
    this.receiving = true;
    this.declaredBytes = declaredBytes;
    const body = new Body(declaredBytes, this, this.server.requests);
    this.pendingBody = body;
    response.onData((chunk, isLast) => {
      // The library reuses the memory when this returns.
      if (chunk.byteLength > 0) body.push(new Uint8Array(chunk), true);
      this.held?.arrived();
      if (isLast) {
        this.server.received(this);
        body.finish();
        this.held?.release();
      }
    });
  }

  pause(): void {
    if (this.alive()) this.response.pause();
  }

  resume(): void {
    if (this.alive()) this.response.resume();
  }

  /** The connection has closed. */
  abort(): void {
    if (this.state === DONE || this.state === GONE) return;
    this.state = GONE;
    this.held?.release();
    const reason = new RequestAborted();
    this.pendingBody?.fail(reason);
    this.pendingStream?.abort();
    this.controller?.abort(reason);
    this.server.finished(this);
    this.over?.();
  }

  /** Answers without the handler, and closes the connection. */
  refuse(status: 400 | 408): void {
    this.pendingBody?.fail(new RequestAborted());
    if (this.held !== undefined) this.held.release();
    else if (this.state !== OPEN) {
      if (this.alive()) this.response.close();
      this.abort();
    } else if (status === 400 && this.receiving) {
      this.state = REFUSED;
      this.hold(() => this.sendRefusal(status));
    } else this.sendRefusal(status);
  }

  private sendRefusal(status: 400 | 408): void {
    const { headers, body } = this.server.refusal(status);
    this.response.cork(() => {
      this.response.writeStatus(statusLine(status));
      for (const [name, value] of headers) this.response.writeHeader(name, value);
      this.response.end(body, true);
    });
    this.abort();
  }

  /** An answer that was sent left a body of a bounded length. */
  overrun(): void {
    this.held?.release();
  }

  failed(error: unknown): void {
    this.handled();
    this.server.report(error);
    if (this.state === OPEN) this.respond(500, []);
    else if (this.state === STREAMING) this.response.close();
  }

  /** The handler has finished. */
  handled(): void {
    this.pendingBody?.release();
  }

  private get takesNoAnswer(): boolean {
    return this.state === GONE || this.state === REFUSED;
  }

  private alive(): boolean {
    return this.state !== DONE && this.state !== GONE;
  }

  private begin(status: number, headers: ResponseHeaders): void {
    this.response.writeStatus(statusLine(status));
    for (const header of headers) this.response.writeHeader(header[0], header[1]);
    if (this.server.draining) this.response.writeHeader('connection', 'close');
  }

  private sendShort(status: number, body: string | Uint8Array): void {
    const { response } = this;
    // Without arguments: an undefined length would be sent as a number.
    if (status === 204 || status === 304) response.endWithoutBody();
    else if (this.method === 'HEAD') response.endWithoutBody(Buffer.byteLength(body));
    else response.end(body, this.receiving && !this.isSafeToAnswer);
    this.finish();
  }

  private sendLong(body: Uint8Array): void {
    const { response } = this;
    const [, done] = response.tryEnd(body, body.byteLength);
    if (done) {
      this.finish();
      return;
    }
    response.onWritable((offset) => {
      const [taken, ended] = response.tryEnd(body.subarray(offset), body.byteLength);
      if (ended) this.finish();
      return taken;
    });
  }

  private finish(): void {
    this.state = DONE;
    this.server.finished(this);
    this.over?.();
  }
}

const MALFORMED = -2;

/** Declared length of the body: 0 without one, -1 when it is chunked. */
function bodyBytes(headers: readonly string[]): number {
  let declared = 0;
  let given = false;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at];
    if (name === 'content-length') {
      // The library takes the first of several; a proxy in front may take another, which allows request smuggling.
      if (given) return MALFORMED;
      given = true;
      declared = Number(headers[at + 1]);
      if (!Number.isSafeInteger(declared) || declared < 0) return MALFORMED;
    } else if (name === 'transfer-encoding') {
      if (given || headers[at + 1]!.toLowerCase() !== 'chunked') return MALFORMED;
      given = true;
      declared = -1;
    }
  }
  return declared;
}

// One collector for all requests: a closure for each would cost more than the headers.
let collecting: string[] = [];
const collect = (name: string, value: string): void => {
  collecting.push(name, value);
};

function collectHeaders(request: NativeRequest): readonly string[] {
  collecting = [];
  request.forEach(collect);
  return collecting;
}

const STATUS_LINES: string[] = [];

function statusLine(status: number): string {
  STATUS_LINES[status] ??= `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  return STATUS_LINES[status];
}
