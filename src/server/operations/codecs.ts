// Codecs for the rows whose requests go to a worker undecoded, one for each face. The main thread only looks up the
// codec's number. The worker, which also loads this file, reads the request and writes the reply with the row's own steps.
import { assert } from '../../engine/base/assert.ts';
import { jsonBuffer } from '../../engine/grain/api/json.ts';
import type { Call, CallContext } from '../../shards/protocol.ts';
import type { RawReply, ReadCall, ShardCodec, ShardCodecs } from '../../shards/transport/codec.ts';
import { CHUNK_CODEC } from '../documents/chunk-batch.ts';
import { parseBody } from '../http/json.ts';
import type { Operation, Planned } from './define.ts';
import { add } from './grains/add.ts';
import { batchAdd } from './grains/batch-add.ts';
import { get } from './grains/get.ts';
import type { GrpcRow } from './grpc-face.ts';
import type { HttpRow } from './http-face.ts';
import { notesOf } from './notes.ts';
import { recall } from './recall/recall.ts';
import { type UnknownMember, unknownRefusal, unknownWarnings } from './unknown-members.ts';

const ROWS: readonly Operation[] = [add, batchAdd, get, recall];

const codecs: ShardCodec[] = [];
const numbers = new Map<GrpcRow | HttpRow, number>();
/** Numbers of the codecs that also read bytes prepared by the main thread (`Sidecar`). */
const sidecarNumbers = new Map<GrpcRow | HttpRow, number>();

for (const { grpc, http, plan, mutates, onUnknown, reach } of ROWS) {
  assert(plan !== undefined, 'a forwarded row makes exactly one call');
  assert(reach === 'binding', 'a forwarded row reaches its binding only, which the shard enforces');
  assert(onUnknown === 'warn', 'a forwarded row warns about unknown members');
  const reads = !mutates;
  if (grpc !== undefined) register(grpc, grpcCodec(grpc, plan), reads);
  // Only JSON bodies: members of the path or the query would not reach the worker.
  for (const row of http) if (row.body === 'json') register(row, httpCodec(row, plan), reads);
}

function register(face: GrpcRow | HttpRow, codec: Codec, reads: boolean): void {
  const decode: ShardCodec['decode'] = (bytes, context, inShard) => codec(bytes, context, { inShard });
  numbers.set(face, codecs.push({ reads, decode }));
  if (face.sidecar === undefined) return;
  const withSidecar: ShardCodec = {
    reads,
    decode: (bytes, context) => {
      const [sidecar, request] = unframed(bytes);
      return codec(request, context, { sidecar });
    },
  };
  sidecarNumbers.set(face, codecs.push(withSidecar));
}

/** The number of the codec that stores chunks of documents. */
export const CHUNKS = codecs.push(CHUNK_CODEC);

/** Codecs by number, for workers and for the router, which reads requests to several partitions. */
export const CODECS: ShardCodecs = Object.fromEntries(codecs.map((codec, index) => [index + 1, codec]));

/** The number of a face's codec; undefined when its requests are read on the main thread. */
export function codecOf(face: GrpcRow | HttpRow): number | undefined {
  return numbers.get(face);
}

/** The number of the face's codec for `framed` requests; undefined when the row has no `withSidecar`. */
export function sidecarCodecOf(face: GrpcRow | HttpRow): number | undefined {
  return sidecarNumbers.get(face);
}

/** Prefixes a request with the bytes that the main thread prepared: u32 length (little-endian), bytes, request. */
export function framed(sidecar: Uint8Array, request: Uint8Array): Uint8Array {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(sidecar.length);
  return Buffer.concat([head, sidecar, request]);
}

function unframed(bytes: Uint8Array): readonly [sidecar: Uint8Array, request: Uint8Array] {
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return [bytes.subarray(4, end), bytes.subarray(end)];
}

type Plan = (candidate: unknown, sidecar?: Uint8Array) => Planned;
type Codec = (bytes: Uint8Array, context: CallContext, how: How) => ReadCall;

interface How {
  readonly sidecar?: Uint8Array | undefined;
  /** True in the thread that runs the call. */
  readonly inShard?: boolean | undefined;
}

/** `notes` are the warnings that the message has no field for. */
function grpcCodec(row: GrpcRow, plan: Plan): Codec {
  return (bytes, context, { sidecar, inShard }) => {
    const unknown: UnknownMember[] = [];
    const candidate = (inShard === true ? row.readInShard?.(bytes, unknown) : undefined) ?? row.read(bytes, unknown);
    const warnings = warningsOf(unknown, context);
    return readCall(plan(candidate, sidecar), context, (output) => ({
      bytes: row.write(output, warnings),
      notes: notesOf(row.looseWarnings(output, warnings)),
    }));
  };
}

function httpCodec(row: HttpRow, plan: Plan): Codec {
  return (bytes, context, { sidecar, inShard }) => {
    const known = inShard === true ? row.readInShard?.(bytes) : undefined;
    const json = known === undefined ? parseBody(bytes) : undefined;
    const parts = { params: {}, query: {}, json, file: undefined, ifNoneMatch: undefined };
    const unknown: UnknownMember[] = [];
    const candidate = known ?? row.read(parts, unknown);
    const warnings = warningsOf(unknown, context);
    return readCall(plan(candidate, sidecar), context, (output) => {
      const reply = row.reply(output, parts, warnings);
      assert(
        reply.kind === 'json' && reply.status === row.successStatus,
        'a forwarded row answers JSON with one status',
      );
      return { bytes: jsonBuffer(reply.value), notes: '' };
    });
  };
}

/** These rows do not remove or govern data, so they refuse unknown members only if the caller asks for that. */
function warningsOf(unknown: readonly UnknownMember[], context: CallContext): readonly string[] {
  if (unknown.length === 0) return NO_WARNINGS;
  if (context.strict === true) throw unknownRefusal(unknown);
  return unknownWarnings(unknown);
}

const NO_WARNINGS: readonly string[] = [];

function readCall(planned: Planned, context: CallContext, write: (output: unknown) => RawReply): ReadCall {
  const { method, asked, answer } = planned;
  return {
    // Method and input were paired by the row.
    call: { method, input: asked.input } as Call,
    context: asked.purpose === undefined ? undefined : { ...context, purpose: asked.purpose },
    encode: (output) => write(answer(output)),
  };
}
