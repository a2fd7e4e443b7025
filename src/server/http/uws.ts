// The listener on uWebSockets.js. Behaviour of the library itself, measured on the pinned version: it closes
// connections that send no request, no complete headers, no further request or less than 16 KB/s of a body within a
// time that can be set, without an answer, and unread responses after half a minute; after an answer to a request with
// `Connection: close` it closes at once, unread bytes or not, and the reset may cost the peer the answer; HTTP/1.0,
// absolute-form targets and CONNECT get a 505, and chunk extensions and trailers a 400. A request pipelined behind a
// running one closes the connection: answers are never mixed, but a client that pipelines must be ready to send again.
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import { accessSync, constants } from 'node:fs';
import { BODY_TIMEOUT_MS, CONNECTIONS_MAX, HEADERS_TIMEOUT_MS } from '../../engine/base/limits.ts';
import type { ByteBudget } from '../byte-budget.ts';
import { UWS_CIPHERS } from '../tls.ts';
import { handle } from './handle.ts';
import {
  type HttpHandler,
  type HttpListener,
  type Listen,
  type ListenOptions,
  ownBudget,
  type RefusedStatus,
  RequestAborted,
  type ResponseHeaders,
} from './listener.ts';
import { loadUws, type UwsApp, type UwsModule } from './uws-loader.ts';
import { type RequestOwner, UwsRequest } from './uws-request.ts';

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

/** Answers without a body to one network; beyond, they get one, or the connection is closed. */
const BLIND_ANSWERS_PER_SECOND = 100;
/** How long a drain waits for a slow peer to read the end of a response. */
const LINGER_MS = 2_000;

/** Time for a connection that waits for its peer, at least, and the library's inexactness. */
const IDLE_SECONDS_MIN = HEADERS_TIMEOUT_MS / 1_000;
const IDLE_STEP_SECONDS = 8;
/** Looks for late bodies within the time for a body. */
const SWEEPS = 4;

type ListenSocket = Parameters<UwsModule['us_listen_socket_close']>[0];

class UwsServer implements HttpListener, RequestOwner {
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
  private blindSinceMs = Number.NEGATIVE_INFINITY;
  /** In this second, by network. */
  private readonly blindAnswers = new Map<string, number>();
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

  /**
   * The library says of answers with a body alone whether the socket has taken them, and keeps the others without a limit: a
   * peer that pipelines requests and reads nothing must get few of them.
   */
  mayBeBlind(response: NativeResponse): boolean {
    const nowMs = performance.now();
    if (nowMs - this.blindSinceMs >= 1_000) {
      this.blindSinceMs = nowMs;
      this.blindAnswers.clear();
    }
    const peer = networkOf(Buffer.from(response.getRemoteAddress()));
    const answers = (this.blindAnswers.get(peer) ?? 0) + 1;
    this.blindAnswers.set(peer, answers);
    return answers <= BLIND_ANSWERS_PER_SECOND;
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

/** The address, or the half of an IPv6 address that names its network. */
function networkOf(address: Buffer): string {
  const isMapped = address.length === 4 || address.readUIntBE(6, 6) === 0xffff;
  return address.toString('latin1', 0, isMapped ? address.length : 8);
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
