// Interface of the gRPC front: an rpc's name and bytes in, bytes or an error out. It does not know messages: codecs are
// behind it, so the implementation can be replaced.
import type { Socket } from 'node:net';
import type { EngineError } from '../../engine/base/errors.ts';
import type { ByteBudget } from '../byte-budget.ts';
import type { HttpHandler, TlsFiles } from '../http/listener.ts';

export interface GrpcCall {
  /** With its package: `memory.v1.MemoryService`. */
  readonly service: string;
  /** As in the proto: `Recall`. */
  readonly method: string;
  /** The request message. A view of the received bytes: copy what is kept or sent to another thread. */
  readonly bytes: Buffer;
  /** Deadline: a time of `steadyMs` (base/clock.ts). */
  readonly deadlineMs: number | undefined;
  /** The peer's IP address; empty when it has disconnected. */
  readonly remoteAddress: string;
  /** Fires when the caller cancels, its deadline passes or the connection closes before the answer. */
  readonly aborted: AbortSignal;
  /** The same object for calls of equal headers on a connection, where the listener recognises them. */
  readonly identity: object | undefined;
  /** All entries as sent: names and values in turn. */
  readonly headerList: readonly string[];
  /** A metadata entry by lower-case name; the first one of several. Binary entries are left out. */
  header(name: string): string | undefined;
  /** A metadata entry that must not repeat. Throws VAL-E001 when it does. */
  only(name: string): string | undefined;
  /** The values of all metadata entries of this lower-case name, in order and joined by commas. */
  joined(name: string): string | undefined;
}

/** `headers` are sent as trailers with any answer. Text other than printable ASCII is percent-encoded. */
export type GrpcAnswer = { readonly headers?: Readonly<Record<string, string>> | undefined } & (
  | { readonly bytes: Uint8Array }
  | { readonly error: EngineError }
);

/**
 * Answers a call. A rejection with EngineError is sent as that error; anything else is a bug, goes to `onError` and is
 * sent as INTERNAL.
 */
export type GrpcHandler = (call: GrpcCall) => Promise<GrpcAnswer>;

export interface GrpcOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls?: TlsFiles | undefined;
  /**
   * Listen on no port (`host`, `port` and `tls` are ignored): connections arrive through `inject`. This handler gets
   * their requests with content types other than gRPC's.
   */
  readonly otherwise?: HttpHandler | undefined;
  /** For those requests, as in ListenOptions. */
  readonly bodyTimeoutMs?: number | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Checks the headers of every call (`:authority` included); throws EngineError to reject it. */
  readonly checkCaller?: ((header: GrpcCall['header']) => void) | undefined;
  /** Budgets for requests and answers; default: budgets of the front's own. */
  readonly requests?: ByteBudget | undefined;
  readonly answers?: ByteBudget | undefined;
  /** Budget for what connections could not send besides; default: one of the front's own. */
  readonly unread?: ByteBudget | undefined;
  /** Decides by metadata whether a caller may use reflection; throws EngineError to reject it. */
  readonly allowReflection: (call: Pick<GrpcCall, 'only' | 'joined' | 'remoteAddress'>) => void | Promise<void>;
  /** The caller's request id if valid, otherwise a new one; for errors before any handler runs. */
  readonly requestIdOf: (given: string | undefined) => string;
}

export interface GrpcFront {
  /** 0 when it does not listen. */
  readonly port: number;
  /** Serves an HTTP/2 connection that another listener has accepted and decrypted. */
  inject(connection: Socket): void;
  /** Sets the status that grpc.health.v1 reports for the server and each service. It is SERVING from the start. */
  setServing(serving: boolean): void;
  /** Reports NOT_SERVING, stops accepting, and lets calls finish; ends them after `deadlineMs`. */
  drain(deadlineMs: number): Promise<void>;
  /** Ends everything at once. */
  close(): void;
}

/** Rejects with the system's error when it cannot listen. */
export type ListenGrpc = (options: GrpcOptions, handler: GrpcHandler) => Promise<GrpcFront>;
