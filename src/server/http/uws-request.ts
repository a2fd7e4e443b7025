// One request to the listener on uWebSockets.js, and its answer.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { assert } from '../../engine/base/assert.ts';
import { BODY_DROPPED_BYTES_MAX } from '../../engine/base/limits.ts';
import { http } from '../../engine/base/node-http.ts';
import type { ByteBudget } from '../byte-budget.ts';
import { Body, type Flow } from './body.ts';
import { firstHeader, joinedHeader, onlyHeader } from './header-list.ts';
import { HeldAnswer } from './held-answer.ts';
import {
  checkHeaders,
  type HttpRequest,
  type RefusedStatus,
  RequestAborted,
  type ResponseHeaders,
  type ResponseStream,
} from './listener.ts';
import { UwsStream } from './uws-stream.ts';

/** The parts of the server that a request needs. */
export interface RequestOwner {
  readonly draining: boolean;
  /** Bytes of bodies that all requests may hold. */
  readonly requests: ByteBudget;
  /** The body has arrived, or is not wanted any more. */
  received(request: UwsRequest): void;
  /** The request has its answer, or its connection is gone. */
  finished(request: UwsRequest): void;
  /** The library may still buffer the end of a response to a slow peer. */
  linger(): void;
  /** False when too many answers to the peer's address have had no body of late. */
  mayBeBlind(response: NativeResponse): boolean;
  refusal(status: RefusedStatus): { readonly headers: ResponseHeaders; readonly body: string };
  report(error: unknown): void;
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
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

export class UwsRequest implements HttpRequest, Flow {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Its body is incomplete and still wanted. */
  receiving = false;
  /** 0 until the server tracks the body. */
  bodyDeadlineMs = 0;
  /** -1 for a chunked body. */
  private declaredBytes = 0;
  private readonly server: RequestOwner;
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

  constructor(server: RequestOwner, response: NativeResponse, head: RequestHead) {
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

  get headerList(): readonly string[] {
    return this.headers;
  }

  header(name: string): string | undefined {
    return firstHeader(this.headers, name);
  }

  only(name: string): string | undefined {
    return onlyHeader(this.headers, name);
  }

  joined(name: string): string | undefined {
    return joinedHeader(this.headers, name);
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
    const isHead = this.method === 'HEAD';
    const isBodiless = isHead || status === 204 || status === 304 || body.length === 0;
    if (!isBodiless || this.server.mayBeBlind(this.response)) this.sendNow(status, headers, body);
    else if (isHead || (status !== 204 && body.length === 0)) this.cut();
    else this.sendNow(200, headers, status === 204 ? '\n' : body);
  }

  private sendNow(status: number, headers: ResponseHeaders, body: string | Uint8Array): void {
    const { response } = this;
    response.cork(() => {
      this.begin(status, headers);
      // Without arguments: an undefined length would be sent as a number.
      if (status === 204 || status === 304) this.end(() => response.endWithoutBody());
      else if (this.method === 'HEAD') this.end(() => response.endWithoutBody(Buffer.byteLength(body)));
      else if (this.receiving && !this.isSafeToAnswer) this.end(() => response.end(body, true));
      else if (body.length === 0) this.end(() => response.end());
      else this.sendBody(body);
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

  private end(send: () => void): void {
    send();
    this.finish();
  }

  /**
   * Sends the body as the peer reads it: the library would keep what the socket does not take, without a limit. While a part
   * waits, a further request closes the connection, so that a peer that pipelines and reads nothing is cut off.
   */
  private sendBody(body: string | Uint8Array): void {
    const { response } = this;
    const length = Buffer.byteLength(body);
    const [, done] = response.tryEnd(body, length);
    if (done) {
      this.finish();
      return;
    }
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    response.onWritable((offset) => {
      const [taken, ended] = response.tryEnd(bytes.subarray(offset), length);
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

const STATUS_LINES: string[] = [];

function statusLine(status: number): string {
  STATUS_LINES[status] ??= `${status} ${http.STATUS_CODES[status] ?? 'Unknown'}`;
  return STATUS_LINES[status];
}
