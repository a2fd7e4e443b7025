// The listener on node:http: the default, and the fallback where the uWebSockets.js binary does not load.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { assert } from '../../engine/base/assert.ts';
import {
  BODY_TIMEOUT_MS,
  CONNECTIONS_MAX,
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  IDLE_TIMEOUT_MS,
} from '../../engine/base/limits.ts';
import { http, https } from '../../engine/base/node-http.ts';
import type { ByteBudget } from '../byte-budget.ts';
import { TLS_OPTIONS } from '../tls.ts';
import { Body, type Flow } from './body.ts';
import { drained } from './drained.ts';
import { handle } from './handle.ts';
import { firstHeader, joinedHeader, onlyHeader } from './header-list.ts';
import { takeHttp2Away } from './http2-connections.ts';
import { closeGently, endGently } from './linger.ts';
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

/** Listens with node:http. */
export const listenNode: Listen = (options, handler) =>
  new Promise((resolve, reject) => {
    const bodyTimeoutMs = options.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
    const serverOptions: ServerOptions = {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, bodyTimeoutMs),
      requestTimeout: bodyTimeoutMs,
      keepAliveTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(5_000, Math.ceil(bodyTimeoutMs / 4)),
      noDelay: true,
      // The handler rejects it like other invalid requests.
      requireHostHeader: false,
    };
    const server = options.tls
      ? https().createServer({
          ...serverOptions,
          ...TLS_OPTIONS,
          handshakeTimeout: HEADERS_TIMEOUT_MS,
          cert: readFileSync(options.tls.certFile),
          key: readFileSync(options.tls.keyFile),
          ALPNProtocols: options.http2 === undefined ? undefined : ['h2', 'http/1.1'],
        })
      : http.createServer(serverOptions);
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, () => {
      server.off('error', reject);
      resolve(new NodeServer(server, options, handler));
    });
  });

/** node:http's error codes with a status of their own; all others are 400. */
const REFUSED: ReadonlyMap<string, RefusedStatus> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

class NodeServer implements HttpListener {
  readonly kind = 'node';
  readonly port: number;
  draining = false;
  /** Each answer tells its caller to send no more on its connection. */
  get endsConnections(): boolean {
    return this.draining || this.options.sendsAway?.() === true;
  }
  private readonly server: Server;
  private readonly options: ListenOptions;
  private readonly handler: HttpHandler;
  readonly requests: ByteBudget;
  readonly bodyTimeoutMs: number;
  /** Connections and their running requests. */
  private readonly connections = new Map<Socket, Set<NodeRequest>>();
  /** Bytes that had arrived when a connection without a running request was found silent. */
  private readonly silent = new WeakMap<Socket, number>();
  /** Connections that were refused and take no more requests. */
  private readonly refused = new WeakSet<Duplex>();

  constructor(server: Server, options: ListenOptions, handler: HttpHandler) {
    this.server = server;
    this.options = options;
    this.handler = handler;
    this.requests = options.requests ?? ownBudget();
    this.bodyTimeoutMs = options.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
    this.port = (server.address() as AddressInfo).port; // it listens on TCP
    server.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
    server.on('error', (error) => this.report(error));
    const accepted = options.tls ? 'secureConnection' : 'connection';
    if (options.http2 !== undefined) takeHttp2Away(server, accepted, options.http2);
    server.prependListener(accepted, (socket: Socket) => {
      this.connections.set(socket, new Set());
      socket.on('close', () => this.connections.delete(socket));
    });
    server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Duplex) => {
      if (code === 'ECONNRESET') socket.destroy();
      else this.refuse(socket, REFUSED.get(code ?? '') ?? 400);
    });
    const accept = (request: IncomingMessage, response: ServerResponse): void => this.accept(request, response);
    server.on('request', accept);
    // The peer is told to go on when its body is read.
    server.on('checkContinue', accept);
    server.setTimeout(HEADERS_TIMEOUT_MS, (socket: Socket) => this.noteSilence(socket));
  }

  /**
   * A silent peer is fine while a handler runs or an event stream waits; unread bytes are not, nor a peer that asks for nothing
   * more for long: it may be gone, and nothing would say so. node:http closes no connection by itself when something listens
   * for its timeouts.
   */
  private noteSilence(socket: Socket): void {
    const { bytesRead } = socket;
    const isBetweenRequests = this.connections.get(socket)?.size === 0;
    if (socket.writableLength > 0 || (isBetweenRequests && this.silent.get(socket) === bytesRead)) socket.destroy();
    else if (isBetweenRequests) {
      this.silent.set(socket, bytesRead);
      socket.setTimeout(this.options.idleTimeoutMs ?? IDLE_TIMEOUT_MS);
    }
  }

  async drain(deadlineMs: number): Promise<void> {
    this.draining = true;
    const lastMs = Math.min(this.options.lastRequestsMs ?? 0, deadlineMs / 2);
    if (lastMs > 0 && this.connections.size > 0) await pause(lastMs);
    await this.end(deadlineMs - lastMs);
  }

  private end(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const force = setTimeout(() => {
        this.server.closeAllConnections();
        resolve();
      }, deadlineMs);
      this.server.close(() => {
        clearTimeout(force);
        resolve();
      });
      // closeIdleConnections leaves connections that have sent no request yet.
      for (const [socket, requests] of this.connections) if (requests.size === 0) socket.destroy();
    });
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  report(error: unknown): void {
    if (!(error instanceof RequestAborted)) this.options.onError?.(error);
  }

  /** Answers a connection that sends no valid request, or stopped sending, and closes it. */
  refuse(socket: Duplex, status: RefusedStatus): void {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    const requests = this.connections.get(socket as Socket) ?? []; // of a server on TCP, as all are
    if (!socket.writable || [...requests].some((request) => request.isAnswering)) {
      socket.destroy();
      return;
    }
    const { headers, body } = this.options.refusal?.(status) ?? { headers: [], body: '' };
    const lines = [
      `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    endGently(socket, `${lines.join('\r\n')}\r\n\r\n${body}`);
  }

  private accept(incoming: IncomingMessage, response: ServerResponse): void {
    const { socket } = incoming;
    const requests = this.connections.get(socket);
    if (incoming.httpVersion === '1.1' && incoming.headers.host === undefined) {
      this.refuse(socket, 400);
      return;
    }
    const request = new NodeRequest(this, incoming, response);
    requests?.add(request);
    response.on('close', () => {
      request.closed();
      // A response that began before the drain did not announce the end of its connection.
      if (requests?.delete(request) && this.draining && requests.size === 0) socket.end();
    });
    handle(this.handler, request);
  }
}

class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  private readonly server: NodeServer;
  private readonly incoming: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly address: string;
  /** Host of an absolute target. */
  private readonly absolute: string | undefined;
  private readonly pendingBody: Body | undefined;
  private begun = false;
  private gone = false;
  /** The peer waits for 100 Continue before it sends its body. */
  private expects: boolean;
  private controller: AbortController | undefined;

  constructor(server: NodeServer, incoming: IncomingMessage, response: ServerResponse) {
    this.server = server;
    this.incoming = incoming;
    this.response = response;
    this.method = incoming.method ?? '';
    this.address = incoming.socket.remoteAddress ?? '';
    const { authority, target } = splitTarget(incoming.url ?? '');
    this.absolute = authority;
    const mark = target.indexOf('?');
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    const { 'content-length': length, 'transfer-encoding': encoding, expect } = incoming.headers;
    this.expects = expect !== undefined && incoming.httpVersion === '1.1';
    if (encoding !== undefined || (length !== undefined && length !== '0')) {
      this.pendingBody = this.collect(encoding === undefined ? Number(length) : -1);
    }
  }

  get remoteAddress(): string {
    return this.address;
  }

  get authority(): string | undefined {
    return this.absolute ?? this.only('host');
  }

  /** True once part of the response may have reached the peer. */
  get isAnswering(): boolean {
    return this.begun;
  }

  get aborted(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.gone) this.controller.abort(new RequestAborted());
    }
    return this.controller.signal;
  }

  get headerList(): readonly string[] {
    return this.incoming.rawHeaders;
  }

  header(name: string): string | undefined {
    // For repeated names, `headers` joins some values and drops others; both listeners return the first.
    return firstHeader(this.incoming.rawHeaders, name);
  }

  only(name: string): string | undefined {
    return onlyHeader(this.incoming.rawHeaders, name);
  }

  joined(name: string): string | undefined {
    return joinedHeader(this.incoming.rawHeaders, name);
  }

  body(bytesMax: number): Promise<Uint8Array> {
    if (this.pendingBody === undefined) return Promise.resolve(new Uint8Array(0));
    const body = this.pendingBody.ask(bytesMax);
    if (this.expects && !this.pendingBody.hasFailed) {
      this.expects = false;
      if (!this.gone) this.response.writeContinue();
    }
    return body;
  }

  respond(status: number, headers: ResponseHeaders, body: string | Uint8Array = ''): void {
    assert(!this.begun, 'a request has one response');
    checkHeaders(headers);
    this.begun = true;
    if (this.gone) return;
    const bodiless = status === 204 || status === 304;
    const length: ResponseHeaders = bodiless ? [] : [['content-length', String(Buffer.byteLength(body))]];
    this.response.writeHead(status, this.writtenHeaders(headers, length));
    this.spareAnswer();
    if (bodiless || this.method === 'HEAD') this.response.end();
    else this.response.end(body);
    this.discardBody();
  }

  stream(status: number, headers: ResponseHeaders): ResponseStream {
    assert(!this.begun, 'a request has one response');
    checkHeaders(headers);
    this.begun = true;
    if (!this.gone) {
      this.response.writeHead(status, this.writtenHeaders(headers, []));
      this.spareAnswer();
      this.discardBody();
    }
    return new NodeStream(this.response, this.method === 'HEAD', () => this.gone);
  }

  whenOver(over: () => void): void {
    if (this.response.closed) over();
    else this.response.once('close', over);
  }

  cut(): void {
    this.response.destroy();
  }

  /** The handler has finished. */
  handled(): void {
    this.pendingBody?.release();
  }

  failed(error: unknown): void {
    this.handled();
    this.server.report(error);
    if (!this.begun) this.respond(500, []);
    else if (!this.response.writableEnded) this.response.destroy();
  }

  /** The response is complete or has failed. */
  closed(): void {
    if (this.response.writableFinished) return;
    this.gone = true;
    const reason = new RequestAborted();
    this.pendingBody?.fail(reason);
    this.controller?.abort(reason);
  }

  private collect(declaredBytes: number): Body {
    const { incoming } = this;
    const flow: Flow = {
      pause: () => incoming.pause(),
      resume: () => incoming.resume(),
      refuse: (status) => {
        body.fail(new RequestAborted());
        this.server.refuse(incoming.socket, status);
      },
      overrun: () => incoming.socket.destroy(),
    };
    const body = new Body(declaredBytes, flow, this.server.requests);
    incoming.on('data', (chunk: Buffer) => body.push(chunk));
    incoming.on('end', () => body.finish());
    // Timeouts and unparsable chunks arrive here too.
    incoming.on('error', () => body.fail(new RequestAborted()));
    return body;
  }

  /** A connection that closes with unread bytes is reset, and its peer may lose the answer. */
  private spareAnswer(): void {
    const { incoming, response } = this;
    if (this.pendingBody?.isComplete === false && !response.shouldKeepAlive)
      closeGently(incoming.socket, incoming, this.server.bodyTimeoutMs);
  }

  /** A connection can serve its next request only after this body is read or discarded. */
  private discardBody(): void {
    this.pendingBody?.discard();
  }

  private writtenHeaders(headers: ResponseHeaders, own: ResponseHeaders): string[] {
    const list: string[] = [];
    for (const [name, value] of headers) list.push(name, value);
    for (const [name, value] of own) list.push(name, value);
    // A peer that was not told to go on may send its body or leave it out.
    if (this.server.endsConnections || (this.expects && this.pendingBody !== undefined))
      list.push('connection', 'close');
    return list;
  }
}

/**
 * Splits a target. It is a path, or an absolute URL when the peer treats this server as a proxy: that gives the host.
 */
function splitTarget(sent: string): { readonly authority: string | undefined; readonly target: string } {
  const found = /^https?:\/\/([^/?#]*)/i.exec(sent);
  if (found === null) return { authority: undefined, target: sent };
  const target = sent.slice(found[0].length);
  return { authority: found[1], target: target.startsWith('/') ? target : `/${target}` };
}

class NodeStream implements ResponseStream {
  readonly unreportedBytes = 0;
  private readonly response: ServerResponse;
  private readonly bodiless: boolean;
  private readonly gone: () => boolean;

  constructor(response: ServerResponse, bodiless: boolean, gone: () => boolean) {
    this.response = response;
    this.bodiless = bodiless;
    this.gone = gone;
  }

  write(chunk: string | Uint8Array): Promise<void> {
    const { response } = this;
    if (this.gone() || response.destroyed) return Promise.reject(new RequestAborted());
    assert(!response.writableEnded, 'a stream is not written after its end');
    if (this.bodiless || response.write(chunk)) return Promise.resolve();
    return drained(response);
  }

  end(): void {
    if (!this.gone()) this.response.end();
  }
}
