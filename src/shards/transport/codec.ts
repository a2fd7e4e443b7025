// Codecs for wire bytes that the main thread forwards without decoding, because that thread does all the I/O. The codec
// number says how the worker decodes the request and encodes the reply.
import type { Call, CallContext } from '../protocol.ts';

/** A call decoded from wire bytes, with the encoder of its reply. */
export interface ReadCall {
  readonly call: Call;
  /** Set if the body changes the caller's context (it may add a purpose). */
  readonly context?: CallContext | undefined;
  /** `output` must be the output of the call's method. */
  readonly encode: (output: unknown) => RawReply;
}

/** A reply as wire bytes, which the transport copies, plus its notes; '' for none. */
export interface RawReply {
  readonly bytes: Uint8Array;
  readonly notes: string;
}

export interface ShardCodec {
  /** True if its calls are reads: they use the read lane and do not wait for writes. */
  readonly reads?: boolean | undefined;
  /**
   * Decodes a call. Pure. Throws EngineError for invalid input. `bytes` is a view of the whole batch: copy what you keep.
   * `inShard`: the thread that decodes it runs it too, so its input need not be data that can be packed.
   */
  decode(bytes: Uint8Array, context: CallContext, inShard?: boolean): ReadCall;
}

/** Codecs by number, 1 to 255. The numbers live in one process: they may change between versions. */
export type ShardCodecs = Readonly<Record<number, ShardCodec>>;
