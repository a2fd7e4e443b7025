// The rows whose requests go to a worker as they came: a codec for each face of each. The main thread only looks up the
// number; the worker, which loads this file too, reads the request and writes the reply with the row's own steps.
import { assert } from '../../engine/assert.ts';
import { stringifyJson } from '../../engine/grain/api-json.ts';
import type { RawReply, ReadCall, ShardCodec, ShardCodecs } from '../../shards/codec.ts';
import type { Call, CallContext } from '../../shards/protocol.ts';
import { parseBody } from '../http/json.ts';
import type { GrpcRow, HttpRow, Operation, Planned } from './define.ts';
import { add } from './grains/add.ts';
import { batchAdd } from './grains/batch-add.ts';
import { get } from './grains/get.ts';
import { recall } from './grains/recall.ts';

const ROWS: readonly Operation[] = [add, batchAdd, get, recall];

const codecs: ShardCodec[] = [];
const numbers = new Map<GrpcRow | HttpRow, number>();

for (const { grpc, http, plan } of ROWS) {
  assert(plan !== undefined, 'a row that is forwarded is one call');
  if (grpc !== undefined) register(grpc, grpcCodec(grpc, plan));
  // What the path or the query adds to the body would not reach the worker.
  for (const row of http) if (row.body === 'json') register(row, httpCodec(row, plan));
}

function register(face: GrpcRow | HttpRow, codec: ShardCodec): void {
  numbers.set(face, codecs.push(codec));
}

/** For workers, and for the router, which reads what is for several partitions. */
export const CODECS: ShardCodecs = Object.fromEntries(codecs.map((codec, index) => [index + 1, codec]));

/** The number of a face's codec; undefined when its requests are read on the main thread. */
export function codecOf(face: GrpcRow | HttpRow): number | undefined {
  return numbers.get(face);
}

type Plan = (candidate: unknown) => Planned;

/** Notes are the warnings that the message has no place for, as a JSON array. */
function grpcCodec(row: GrpcRow, plan: Plan): ShardCodec {
  return {
    decode: (bytes, context) =>
      readCall(plan(row.read(bytes)), context, (output) => {
        const warnings = row.looseWarnings(output);
        return { bytes: row.write(output), notes: warnings.length === 0 ? '' : JSON.stringify(warnings) };
      }),
  };
}

function httpCodec(row: HttpRow, plan: Plan): ShardCodec {
  return {
    decode: (bytes, context) => {
      const parts = { params: {}, query: {}, json: parseBody(bytes), file: undefined, ifNoneMatch: undefined };
      return readCall(plan(row.read(parts)), context, (output) => {
        const reply = row.reply(output, parts);
        assert(
          reply.kind === 'json' && reply.status === row.successStatus,
          'a forwarded row answers JSON, as one status',
        );
        return { bytes: Buffer.from(stringifyJson(reply.value)), notes: '' };
      });
    },
  };
}

function readCall(planned: Planned, context: CallContext, write: (output: unknown) => RawReply): ReadCall {
  const { method, asked, answer } = planned;
  return {
    // Method and input were paired by the row.
    call: { method, input: asked.input } as Call,
    ...(asked.purpose === undefined ? {} : { context: { ...context, purpose: asked.purpose } }),
    encode: (output) => write(answer(output)),
  };
}
