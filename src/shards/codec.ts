// Wire bytes that the main thread forwards without looking inside, so that the one thread that does all the I/O does
// no decoding: a codec number says how the worker reads the request and writes the reply.
import type { Call, CallContext, Input, Method, Output } from './protocol.ts';

export interface ShardCodec {
  /**
   * The call that these bytes are. Pure; throws EngineError for what the sender did wrong. `bytes` is a view of the
   * whole batch: copy what is kept. `context` comes back when the body adds to it (a reason, a purpose).
   */
  decode(bytes: Uint8Array, context: CallContext): { readonly call: Call; readonly context?: CallContext };
  /** The reply's bytes, copied by the caller. `output` is that of the method that `decode` named. */
  encode(output: unknown, context: CallContext): Uint8Array;
}

/** Codecs by number, 1 to 255. The numbers live in one process: they may change between versions. */
export type ShardCodecs = Readonly<Record<number, ShardCodec>>;

export interface MethodCodec<M extends Method> {
  readonly method: M;
  decode(bytes: Uint8Array, context: CallContext): { readonly input: Input<M>; readonly context?: CallContext };
  encode(output: Output<M>, context: CallContext): Uint8Array;
}

/** A codec of one method. Holds the one cast that forgetting the method's type in `ShardCodecs` costs. */
export function defineCodec<M extends Method>(codec: MethodCodec<M>): ShardCodec {
  return {
    decode(bytes, context) {
      const { input, ...changed } = codec.decode(bytes, context);
      // The pair is a member of the union by its definition; TypeScript does not follow it through M.
      return { call: { method: codec.method, input } as unknown as Call, ...changed };
    },
    // The worker passes what the engine answered to this method.
    encode: (output, context) => codec.encode(output as Output<M>, context),
  };
}
