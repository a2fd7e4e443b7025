// The gRPC face of an operation: its rpc, and the codecs of its messages.
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { DeepPartial, MessageFns } from '../gen/memory/v1/memory.ts';
import { decodeMessage } from './message-reader.ts';
import { fromMessage, isMembers, type Members, type SchemaNode, toMessage } from './names.ts';
import type { OnMainThread, Sidecar } from './sidecar.ts';
import type { FindUnknown, UnknownMember } from './unknown-members.ts';

/** An rpc with its codecs. `rpc()` makes it and checks that the message types match. */
export interface GrpcFace<Out> {
  readonly rpc: string;
  /** Appends fields that the message does not define to `unknown`. */
  readonly decode: (bytes: Uint8Array, input: SchemaNode, unknown: UnknownMember[]) => unknown;
  /** `decode` for the thread that runs the call; undefined for a request that `decode` must read. */
  readonly decodeInShard: ((bytes: Uint8Array) => unknown) | undefined;
  /** `warnings` are warnings to add to the output's own; a message without a field for warnings omits them. */
  readonly encode: (output: Out, node: SchemaNode, warnings: readonly string[]) => Uint8Array;
  /** True when the message has a field for warnings; otherwise they travel as trailing metadata. */
  readonly carriesWarnings: boolean;
  readonly onMainThread: OnMainThread;
  readonly sidecar: Sidecar | undefined;
}

/** Set `read` and `write` only where the mechanical rules do not fit. */
export function rpc<Req extends object, Res extends object, Out>(face: {
  readonly rpc: string;
  readonly request: MessageFns<Req>;
  readonly response: MessageFns<Res>;
  readonly read?: ((message: Req) => unknown) | undefined;
  /** Instead of decoding and `read` in the thread that runs the call; undefined for a request that those must read. */
  readonly readInShard?: ((bytes: Uint8Array) => unknown) | undefined;
  readonly write?: ((output: Out) => DeepPartial<Res>) | undefined;
  /** Instead of `write`, for messages of a thousand members: the bytes that the generated code would write. */
  readonly pack?: ((output: Out) => Uint8Array) | undefined;
  readonly onMainThread?: OnMainThread | undefined;
  readonly sidecar?: Sidecar | undefined;
}): GrpcFace<Out> {
  const shape = face.response.create() as Members; // a message is a plain object of its members
  const written = (output: Out, node: SchemaNode): Uint8Array => {
    const partial =
      face.write === undefined
        ? (toMessage(node, isMembers(output) ? output : {}, shape) as DeepPartial<Res>) // members that `shape` has
        : face.write(output);
    return encoded(face.response, partial);
  };
  return {
    rpc: face.rpc,
    carriesWarnings: 'warnings' in shape,
    onMainThread: face.onMainThread,
    sidecar: face.sidecar,
    decode: (bytes, input, unknown) => {
      const message = decodeMessage(face.request, bytes, unknown);
      return face.read === undefined ? fromMessage(input, message as Members) : face.read(message); // a plain object
    },
    decodeInShard: face.readInShard,
    encode: (output, node, warnings) => {
      const bytes = face.pack === undefined ? written(output, node) : face.pack(output);
      if (warnings.length === 0 || !('warnings' in shape)) return bytes;
      // Protobuf decoders append a repeated field of a later message to the earlier one, so concatenation adds warnings.
      const more = { warnings: warnings } as DeepPartial<Res>; // `shape` has them
      return Buffer.concat([bytes, encoded(face.response, more)]);
    },
  };
}

/** A writer that wrote more is let go, with its buffer. */
const WRITER_BYTES_MAX = 1_048_576;
/** A new writer for each answer would double its buffer seven times for an answer of 20 KB. */
let writer = new BinaryWriter();

function encoded<Res>({ encode, fromPartial }: MessageFns<Res>, partial: DeepPartial<Res>): Uint8Array {
  const message = fromPartial(partial);
  let bytes: Uint8Array | undefined;
  try {
    bytes = encode(message, writer).finish();
    return bytes;
  } finally {
    // A writer that threw holds half a message.
    if (bytes === undefined || bytes.length > WRITER_BYTES_MAX) writer = new BinaryWriter();
  }
}

export interface GrpcRow {
  readonly rpc: string;
  readonly onMainThread: OnMainThread;
  readonly sidecar: Sidecar | undefined;
  /** Decodes the request to an input that is not yet validated. Appends unknown fields to `unknown`. */
  readonly read: (bytes: Uint8Array, unknown: UnknownMember[]) => unknown;
  /** The same in the thread that runs the call; undefined for a request that `read` must read. */
  readonly readInShard: ((bytes: Uint8Array, unknown: UnknownMember[]) => unknown) | undefined;
  /** Adds the warnings `warnings` to the output's own. */
  readonly write: (output: unknown, warnings: readonly string[]) => Uint8Array;
  /** Warnings for the trailing metadata, because the output's message has no field for them. */
  readonly looseWarnings: (output: unknown, warnings: readonly string[]) => readonly string[];
}

/** Makes the row of a face. */
export function grpcRow<Out>(
  face: GrpcFace<Out>,
  input: SchemaNode,
  output: SchemaNode,
  findInInput: FindUnknown | undefined,
): GrpcRow {
  return {
    rpc: face.rpc,
    onMainThread: face.onMainThread,
    sidecar: face.sidecar,
    read: (bytes, unknown) => {
      const candidate = face.decode(bytes, input, unknown);
      findInInput?.(candidate, unknown);
      return candidate;
    },
    readInShard:
      face.decodeInShard &&
      ((bytes, unknown) => {
        const candidate = face.decodeInShard?.(bytes);
        if (candidate !== undefined) findInInput?.(candidate, unknown);
        return candidate;
      }),
    write: (value, warnings) => face.encode(value as Out, output, warnings), // what the row's own run returned
    looseWarnings: (value, warnings) => {
      if (face.carriesWarnings) return [];
      if (!isMembers(value) || !Array.isArray(value['warnings'])) return warnings;
      return [...value['warnings'].map(String), ...warnings];
    },
  };
}
