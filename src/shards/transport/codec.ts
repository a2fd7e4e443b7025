// Wire bytes that the main thread forwards without looking inside, so that the one thread that does all the I/O does
// no decoding: a codec number says how the worker reads the request and writes the reply.
import type { Call, CallContext } from '../protocol.ts';

/** A call as it was read from wire bytes, and how its answer becomes wire bytes. */
export interface ReadCall {
  readonly call: Call;
  /** There when the body adds to the caller's context: a purpose. */
  readonly context?: CallContext;
  /** `output` is that of the call's method. */
  readonly encode: (output: unknown) => RawReply;
}

/** A reply as wire bytes, which whoever sends them copies, and what is said beside them: '' for nothing. */
export interface RawReply {
  readonly bytes: Uint8Array;
  readonly notes: string;
}

export interface ShardCodec {
  /** True when its calls are reads: they do not wait behind writes on their way to the worker. */
  readonly reads?: boolean;
  /**
   * The call that these bytes are. Pure; throws EngineError for what the sender did wrong. `bytes` is a view of the
   * whole batch: copy what is kept.
   */
  decode(bytes: Uint8Array, context: CallContext): ReadCall;
}

/** Codecs by number, 1 to 255. The numbers live in one process: they may change between versions. */
export type ShardCodecs = Readonly<Record<number, ShardCodec>>;
