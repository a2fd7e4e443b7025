// The HTTP listener's interface: bytes on a socket in, a request out. Two implementations (uws.ts, node.ts) pass one
// conformance suite; listen.ts chooses between them. Nothing here knows JSON, routes or errors of the contract.
import type { Socket } from 'node:net';
import { assert } from '../../engine/base/assert.ts';
import { REQUEST_MEMORY_MB } from '../../engine/base/limits.ts';
import { type ByteBudget, requestBudget } from '../byte-budget.ts';

/** Names in lower case. Content-Length, Transfer-Encoding, Connection and Date are the listener's own. */
export type ResponseHeaders = readonly (readonly [name: string, value: string])[];

export interface HttpRequest {
  /** As sent; methods are upper case. */
  readonly method: string;
  /** What stands before `?`, as sent: still percent-encoded, and of any bytes. The router decodes and refuses. */
  readonly path: string;
  /** What stands after `?`, as sent; '' without one. */
  readonly query: string;
  /**
   * Whom the request is for, as its target, its Host or `:authority` says: a name or an address, maybe with a port.
   * Undefined where nothing says so: HTTP/1.0 has no Host. Throws VAL-E001 when several Host headers came.
   */
  readonly authority: string | undefined;
  /** The peer's IP address. '' when the peer had gone before the first look. */
  readonly remoteAddress: string;
  /** Fires when the peer goes away, or stops sending, before the response is complete. */
  readonly aborted: AbortSignal;

  /** A header's value by its lower-case name; of several with one name, the first. */
  header(name: string): string | undefined;
  /** A header that may come once. Throws VAL-E001 when it came more often. */
  only(name: string): string | undefined;

  /**
   * The whole body; empty without one. Ask at most once. Rejects with LIM-E003 as soon as it is known to be longer than
   * `bytesMax` (a declared length tells at once), and with `RequestAborted` when it will not arrive. The bytes are the
   * caller's: they are not reused.
   */
  body(bytesMax: number): Promise<Uint8Array>;

  /** Sends the whole response. Once, and not with `stream`. Of no effect once the peer has gone. */
  respond(status: number, headers: ResponseHeaders, body?: string | Uint8Array): void;

  /** Calls back once: when the system has taken the whole response, or the peer has gone. Ask at most once. */
  whenOver(over: () => void): void;

  /** Closes the connection, whatever was sent of the response. */
  cut(): void;

  /** Begins a response whose length is not known yet. Once, and not with `respond`. */
  stream(status: number, headers: ResponseHeaders): ResponseStream;
}

export interface ResponseStream {
  /**
   * Sends some bytes; an empty chunk is nothing. Resolves when the peer has taken enough that more may be sent, so a
   * caller that awaits each write holds about one chunk. Rejects with `RequestAborted` when the peer has gone. The
   * chunk must not change until then.
   */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Ends the response after what was written. Of no effect once the peer has gone. */
  end(): void;
}

/**
 * Called for each request when its headers are complete. May throw or reject with `RequestAborted` freely; anything else
 * is a bug, goes to `onError` and, while nothing was sent, is answered by a bare 500.
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
  readonly tls?: TlsFiles;
  readonly onError?: (error: unknown) => void;
  /** A request whose body is not complete by then is answered 408 and its connection closed. */
  readonly bodyTimeoutMs?: number;
  /**
   * What a request is told that never reaches the handler; without it, nothing beside the status. uWebSockets.js answers
   * what its own parser refuses (some 400, 431) with a short text of its own, which it takes from nobody.
   */
  readonly refusal?: (status: RefusedStatus) => { readonly headers: ResponseHeaders; readonly body: string };
  /**
   * Takes connections that speak HTTP/2: so chosen in the TLS handshake, or said by their first bytes. Only the listener
   * on node:http knows them apart.
   */
  readonly http2?: (connection: Socket) => void;
  /** Connections beyond these are closed at once. */
  readonly connectionsMax?: number;
  /** What bodies have a share of; without it the listener has a budget of its own. */
  readonly requests?: ByteBudget;
}

/** Of a listener that is started without one. */
export function ownBudget(): ByteBudget {
  return requestBudget(REQUEST_MEMORY_MB);
}

/** Not readable as HTTP, a body that does not come, headers over the limit. */
export type RefusedStatus = 400 | 408 | 431;

export interface HttpListener {
  readonly kind: 'uws' | 'node';
  readonly port: number;
  /** Stops accepting, lets requests in flight finish, then closes all; after `deadlineMs` it closes them too. */
  drain(deadlineMs: number): Promise<void>;
  /** Closes everything at once. */
  close(): void;
}

/** Rejects with the system's error (EADDRINUSE and the like) when it cannot listen. */
export type Listen = (options: ListenOptions, handler: HttpHandler) => Promise<HttpListener>;

/** The peer went away or stopped sending: there is nobody to answer. */
export class RequestAborted extends Error {
  override name = 'RequestAborted';
  constructor() {
    super('the peer has gone');
  }
}

/** Refuses header text that would break out of its line: only a bug lets it come this far. */
export function checkHeaders(headers: ResponseHeaders): void {
  for (const header of headers) {
    assert(!LINE_BREAKING.test(header[1]), 'the value of a response header holds a control character');
  }
}

const LINE_BREAKING = /[\0\r\n]/;
