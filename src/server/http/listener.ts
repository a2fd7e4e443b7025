// Interface of the HTTP listeners: bytes of a socket in, requests out. Two implementations (uws.ts, node.ts) pass one
// conformance suite; listen.ts chooses between them. JSON, routes and the contract's errors are unknown here.
import type { Socket } from 'node:net';
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { REQUEST_MEMORY_MB } from '../../engine/base/limits.ts';
import { type ByteBudget, requestBudget } from '../byte-budget.ts';

/** Names in lower case. The listener itself sets Content-Length, Transfer-Encoding, Connection and Date. */
export type ResponseHeaders = readonly (readonly [name: string, value: string])[];

export interface HttpRequest {
  /** As sent; methods are upper case. */
  readonly method: string;
  /** The part before `?`, as sent: percent-encoded, any bytes. The router decodes and validates it. */
  readonly path: string;
  /** The part after `?`, as sent; empty without one. */
  readonly query: string;
  /**
   * Host that the request is for, from its target, Host or `:authority`: a name or address, possibly with a port.
   * Undefined when none is given: HTTP/1.0 has no Host. Throws VAL-E001 for several Host headers.
   */
  readonly authority: string | undefined;
  /** The peer's IP address; empty when it disconnected before the first read. */
  readonly remoteAddress: string;
  /** True when the node that passed the request on found no page of another site behind it, by its own names. */
  readonly isKnownPage?: boolean | undefined;
  /** True when its caller's rate has counted it: it is a part of a message that was counted. */
  readonly isCounted?: boolean | undefined;
  /** Fires when the peer disconnects, or stops sending, before the response is complete. */
  readonly aborted: AbortSignal;

  /** The headers as received: names and values in turn. */
  readonly headerList: readonly string[];
  /** A header's value by lower-case name; the first one of several. */
  header(name: string): string | undefined;
  /** A header that must not repeat. Throws VAL-E001 when it does. */
  only(name: string): string | undefined;
  /** The values of all headers of this lower-case name, in order and joined by commas. */
  joined(name: string): string | undefined;

  /**
   * The whole body; empty without one. Call at most once. Rejects with LIM-E003 as soon as it is known to exceed
   * `bytesMax` (a declared length shows it at once), and with `RequestAborted` when it will not arrive. The caller owns
   * the bytes.
   */
  body(bytesMax: number): Promise<Uint8Array>;

  /**
   * Sends the whole response. Call once, and not with `stream`. No effect once the peer has disconnected. A 304 may
   * give the body of the 200, which is sent instead where an answer must have one.
   */
  respond(status: number, headers: ResponseHeaders, body?: string | Uint8Array): void;

  /**
   * Calls `over` once: when the system has taken the whole response, or the peer has disconnected. Call at most once.
   */
  whenOver(over: () => void): void;

  /** Closes the connection, even during a response. */
  cut(): void;

  /** Begins a response of unknown length. Call once, and not with `respond`. */
  stream(status: number, headers: ResponseHeaders): ResponseStream;
}

/** The request's authority; undefined where it names several. */
export function authorityOf(request: Pick<HttpRequest, 'authority'>): string | undefined {
  try {
    return request.authority;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return undefined;
  }
}

export interface ResponseStream {
  /** A write of at most this many bytes may resolve before the peer's pace is known; 0: none does. */
  readonly unreportedBytes: number;
  /**
   * Sends some bytes; an empty chunk does nothing. Resolves when more may be sent, so a caller that awaits each write
   * holds about one chunk. Rejects with `RequestAborted` when the peer has disconnected. The chunk must not change
   * until then.
   */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Ends the response after the written bytes. No effect once the peer has disconnected. */
  end(): void;
}

/**
 * Called for each request when its headers are complete. May throw or reject with `RequestAborted`; any other error is
 * a bug, goes to `onError` and, if nothing was sent yet, is answered by a bare 500.
 */
export type HttpHandler = (request: HttpRequest) => void | Promise<void>;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls?: TlsFiles | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
  /** A request whose body takes longer is answered 408, and its connection closed. */
  readonly bodyTimeoutMs?: number | undefined;
  /** See IDLE_TIMEOUT_MS. Only the listener on node:http knows it; uWebSockets.js closes idle connections by itself. */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * Body for errors of requests that never reach the handler; default: none. uWebSockets.js sends a fixed text of its
   * own for requests that its parser rejects (some 400, and 431).
   */
  readonly refusal?:
    | ((status: RefusedStatus) => { readonly headers: ResponseHeaders; readonly body: string })
    | undefined;
  /**
   * Takes HTTP/2 connections, recognised by the TLS handshake or their first bytes. Only the listener on node:http
   * supports it.
   */
  readonly http2?: ((connection: Socket) => void) | undefined;
  /** Further connections are closed at once. */
  readonly connectionsMax?: number | undefined;
  /**
   * How long `drain` goes on to accept, and tells each caller to send no more on its connection: requests that are on their way are
   * answered. Default: 0. Only the listener on node:http knows it.
   */
  readonly lastRequestsMs?: number | undefined;
  /**
   * True while each answer tells its caller to send no more on the connection, which leads elsewhere when it is made again. Default:
   * never. Only the listener on node:http knows it.
   */
  readonly sendsAway?: (() => boolean) | undefined;
  /** Budget for bodies; default: a budget of the listener's own. */
  readonly requests?: ByteBudget | undefined;
}

/** Budget for a listener that was started without one. */
export function ownBudget(): ByteBudget {
  return requestBudget(REQUEST_MEMORY_MB);
}

/** Invalid HTTP, a body that does not arrive, headers over the limit. */
export type RefusedStatus = 400 | 408 | 431;

export interface HttpListener {
  readonly kind: 'uws' | 'node';
  readonly port: number;
  /** Stops accepting, lets requests finish, then closes all; after `deadlineMs` it ends running ones too. */
  drain(deadlineMs: number): Promise<void>;
  /** Closes everything at once. */
  close(): void;
}

/** Rejects with the system's error (EADDRINUSE and the like) when it cannot listen. */
export type Listen = (options: ListenOptions, handler: HttpHandler) => Promise<HttpListener>;

/** The peer disconnected or stopped sending: there is no one to answer. */
export class RequestAborted extends Error {
  override name = 'RequestAborted';
  constructor() {
    super('the peer has disconnected');
  }
}

/** Rejects header text that would break out of its line; only a bug can cause that. */
export function checkHeaders(headers: ResponseHeaders): void {
  for (const header of headers) {
    assert(!LINE_BREAKING.test(header[1]), 'the value of a response header holds a control character');
  }
}

const LINE_BREAKING = /[\0\r\n]/;
