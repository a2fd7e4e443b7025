// The gRPC front's interface: an rpc's name and its bytes in, bytes or an error out. It knows no messages: codecs stand
// behind it, and another implementation may take its place without the rest knowing.
import type { Socket } from 'node:net';
import type { EngineError } from '../../engine/base/errors.ts';
import type { ByteBudget } from '../byte-budget.ts';
import type { HttpHandler, TlsFiles } from '../http/listener.ts';

export interface GrpcCall {
  /** With its package: `memory.v1.MemoryService`. */
  readonly service: string;
  /** As in the proto: `Recall`. */
  readonly method: string;
  /** The request message. A view of what was received: copy what is kept or handed to another thread. */
  readonly bytes: Buffer;
  /** Milliseconds since 1970 after which the caller no longer waits. */
  readonly deadlineMs: number | undefined;
  /** The peer's IP address, or '' when it has gone. */
  readonly remoteAddress: string;
  /** Fires when the caller cancels, its deadline passes or the connection closes before the answer. */
  readonly aborted: AbortSignal;
  /** A metadata entry by its lower-case name; of several with one name, the first. Binary entries are not seen. */
  header(name: string): string | undefined;
  /** A metadata entry that may come once. Throws VAL-E001 when it came more often. */
  only(name: string): string | undefined;
}

/** `headers` travel as trailers, with any answer. Text that is not printable ASCII is percent-encoded there. */
export type GrpcAnswer = { readonly headers?: Readonly<Record<string, string>> } & (
  | { readonly bytes: Uint8Array }
  | { readonly error: EngineError }
);

/**
 * Answers a call. A rejection with EngineError is that error; with anything else it is a bug, goes to `onError` and is
 * answered INTERNAL.
 */
export type GrpcHandler = (call: GrpcCall) => Promise<GrpcAnswer>;

export interface GrpcOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls?: TlsFiles;
  /**
   * It listens on no port of its own (`host`, `port` and `tls` are not looked at): connections come by `inject`. Their
   * requests of another content type than gRPC's go to this handler.
   */
  readonly otherwise?: HttpHandler;
  /** For those requests, as ListenOptions have it. */
  readonly bodyTimeoutMs?: number;
  readonly onError?: (error: unknown) => void;
  /** Looks at what any call says in its headers (`:authority` is one), or throws EngineError. */
  readonly checkCaller?: (header: GrpcCall['header']) => void;
  /** What requests, and answers, have a share of; without them the front has budgets of its own. */
  readonly requests?: ByteBudget;
  readonly answers?: ByteBudget;
  /** Lets a caller use reflection, by its metadata, or throws EngineError. */
  readonly allowReflection: (header: GrpcCall['header'], remoteAddress: string) => void | Promise<void>;
  /** The caller's request id when it is sane, else one of ours: for errors that no handler has seen. */
  readonly requestIdOf: (given: string | undefined) => string;
}

export interface GrpcFront {
  /** 0 when it listens on none. */
  readonly port: number;
  /** Serves a connection that speaks HTTP/2 and was accepted, and decrypted, by somebody else. */
  inject(connection: Socket): void;
  /** What grpc.health.v1 says of the server and of each service. It says yes from the start. */
  setServing(serving: boolean): void;
  /** Says NOT_SERVING, stops accepting, lets calls finish; after `deadlineMs` it cuts them off. */
  drain(deadlineMs: number): Promise<void>;
  /** Cuts everything off at once. */
  close(): void;
}

/** Rejects with the system's error when it cannot listen. */
export type ListenGrpc = (options: GrpcOptions, handler: GrpcHandler) => Promise<GrpcFront>;
