// Requests over HTTP/2 on a port shared with gRPC: those that are not gRPC's are handled like any others.
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { assert } from '../../engine/base/assert.ts';
import { BODY_TIMEOUT_MS } from '../../engine/base/limits.ts';
import type { ByteBudget } from '../byte-budget.ts';
import { Body, type Flow } from './body.ts';
import { drained } from './drained.ts';
import { refusal } from './errors.ts';
import { handle } from './handle.ts';
import { firstHeader, joinedHeader, onlyHeader } from './header-list.ts';
import {
  checkHeaders,
  type HttpHandler,
  type HttpRequest,
  RequestAborted,
  type ResponseHeaders,
  type ResponseStream,
} from './listener.ts';

export interface Http2Exchange {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  readonly handler: HttpHandler;
  readonly onError: ((error: unknown) => void) | undefined;
  /** Resets a stream that is answered but still sends, once the peer has the answer. */
  readonly cutOff: () => void;
  /** As in ListenOptions: a body that takes longer is 408. A peer that reads nothing for as long is disconnected. */
  readonly bodyTimeoutMs?: number | undefined;
  readonly requests: ByteBudget;
}

/** Passes one request of an HTTP/2 connection to the handler. */
export function serveHttp2(exchange: Http2Exchange): void {
  const request = new Http2Request(exchange);
  handle(exchange.handler, request);
}

class Http2Request implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  private readonly exchange: Http2Exchange;
  private readonly incoming: ServerHttp2Stream;
  private readonly pendingBody: Body | undefined;
  private begun = false;
  /** The request was answered without the handler, whose answer is dropped. */
  private isRefused = false;
  private bodyTimer: NodeJS.Timeout | undefined;
  private controller: AbortController | undefined;

  constructor(exchange: Http2Exchange) {
    const { stream, headers, bodyTimeoutMs = BODY_TIMEOUT_MS } = exchange;
    this.exchange = exchange;
    this.incoming = stream;
    this.method = headers[':method'] ?? '';
    const target = headers[':path'] ?? '';
    const mark = target.indexOf('?');
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    this.remoteAddress = stream.session?.socket.remoteAddress ?? '';
    const length = Number(headers['content-length'] ?? -1);
    if (!stream.endAfterHeaders) {
      this.pendingBody = this.collect(length);
      this.bodyTimer = setTimeout(() => this.refuse(408), bodyTimeoutMs).unref();
    }
    // A silent peer is fine while a handler runs; unread bytes are not.
    stream.setTimeout(bodyTimeoutMs, () => {
      if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL);
    });
    // Every stream error is followed by `close`, which handles it.
    stream.on('error', () => undefined);
    stream.on('close', () => this.closed());
  }

  get aborted(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.gone) this.controller.abort(new RequestAborted());
    }
    return this.controller.signal;
  }

  get headerList(): readonly string[] {
    return this.exchange.rawHeaders;
  }

  header(name: string): string | undefined {
    return firstHeader(this.exchange.rawHeaders, name);
  }

  only(name: string): string | undefined {
    return onlyHeader(this.exchange.rawHeaders, name);
  }

  joined(name: string): string | undefined {
    return joinedHeader(this.exchange.rawHeaders, name);
  }

  get authority(): string | undefined {
    return this.only(':authority') ?? this.only('host');
  }

  body(bytesMax: number): Promise<Uint8Array> {
    return this.pendingBody?.ask(bytesMax) ?? Promise.resolve(new Uint8Array(0));
  }

  respond(status: number, headers: ResponseHeaders, body: string | Uint8Array = ''): void {
    const bodiless = status === 204 || status === 304;
    const length: ResponseHeaders = bodiless ? [] : [['content-length', String(Buffer.byteLength(body))]];
    const isEmpty = bodiless || this.method === 'HEAD' || body.length === 0;
    if (!this.begin(status, [...headers, ...length], isEmpty)) return;
    if (!isEmpty) this.incoming.end(body);
  }

  stream(status: number, headers: ResponseHeaders): ResponseStream {
    const isEmpty = this.method === 'HEAD';
    const isBegun = this.begin(status, headers, isEmpty);
    return new Http2ResponseStream(this.incoming, isEmpty, isBegun);
  }

  /** The body is abandoned: answer without the handler. */
  private refuse(status: 400 | 408): void {
    if (!this.begun) {
      const { headers, body } = refusal(status);
      this.respond(status, headers, body);
      this.exchange.cutOff();
    } else if (!this.incoming.destroyed) this.incoming.close(constants.NGHTTP2_CANCEL);
    this.isRefused = true;
    this.abandon();
  }

  /** False when the peer has disconnected, or was answered. */
  private begin(status: number, headers: ResponseHeaders, endStream: boolean): boolean {
    if (this.isRefused) return false;
    assert(!this.begun, 'a request has one response');
    checkHeaders(headers);
    this.begun = true;
    if (this.gone) return false;
    const fields: Record<string, string | number | string[]> = { ':status': status };
    for (const [name, value] of headers) {
      const known = fields[name];
      fields[name] = known === undefined ? value : [String(known), value];
    }
    this.incoming.respond(fields, { endStream });
    // Unread body bytes are discarded.
    this.pendingBody?.discard();
    return true;
  }

  whenOver(over: () => void): void {
    if (this.gone) over();
    else this.incoming.once('close', over);
  }

  cut(): void {
    this.incoming.close(constants.NGHTTP2_CANCEL);
  }

  /** The handler has finished. */
  handled(): void {
    this.pendingBody?.release();
  }

  failed(error: unknown): void {
    this.handled();
    if (!(error instanceof RequestAborted)) this.exchange.onError?.(error);
    if (!this.begun) this.respond(500, []);
    else if (!this.incoming.writableEnded) this.incoming.destroy();
  }

  private get gone(): boolean {
    return this.incoming.destroyed || this.incoming.closed;
  }

  private closed(): void {
    clearTimeout(this.bodyTimer);
    if (!this.incoming.writableFinished) this.abandon();
  }

  private abandon(): void {
    const reason = new RequestAborted();
    this.pendingBody?.fail(reason);
    this.controller?.abort(reason);
  }

  private collect(declaredBytes: number): Body {
    const stream = this.incoming;
    const flow: Flow = {
      pause: () => stream.pause(),
      resume: () => stream.resume(),
      refuse: (status) => this.refuse(status),
      overrun: () => stream.destroy(),
    };
    const body = new Body(declaredBytes, flow, this.exchange.requests);
    stream.on('data', (chunk: Buffer) => body.push(chunk));
    stream.on('end', () => {
      clearTimeout(this.bodyTimer);
      body.finish();
    });
    return body;
  }
}

class Http2ResponseStream implements ResponseStream {
  readonly unreportedBytes = 0;
  private readonly stream: ServerHttp2Stream;
  private readonly bodiless: boolean;
  private readonly isBegun: boolean;

  constructor(stream: ServerHttp2Stream, bodiless: boolean, isBegun: boolean) {
    this.stream = stream;
    this.bodiless = bodiless;
    this.isBegun = isBegun;
  }

  write(chunk: string | Uint8Array): Promise<void> {
    const { stream } = this;
    if (this.bodiless) return Promise.resolve();
    if (stream.destroyed || !this.isBegun) return Promise.reject(new RequestAborted());
    assert(!stream.writableEnded, 'a stream is not written after its end');
    if (chunk.length === 0 || stream.write(chunk)) return Promise.resolve();
    return drained(stream);
  }

  end(): void {
    if (!this.stream.destroyed && this.isBegun && !this.bodiless) this.stream.end();
  }
}
