// The gRPC face of the table: an rpc's bytes in, its row's answer out.
import { assert } from '../engine/assert.ts';
import type { GrpcHandler } from './grpc/front.ts';
import type { Operation } from './operations/define.ts';
import { OPERATIONS } from './operations/table.ts';
import { UNIMPLEMENTED_RPC_ROWS } from './operations/unimplemented.ts';
import type { Wrapper } from './wrapper.ts';

const ROWS: ReadonlyMap<string, Operation> = new Map([
  ...UNIMPLEMENTED_RPC_ROWS,
  ...OPERATIONS.flatMap((row) => (row.grpc === undefined ? [] : [[row.grpc.rpc, row] as const])),
]);

/** `httpPort`: where the same server answers over HTTP; Health tells it, for callers who know the gRPC address alone. */
export function grpcHandler(wrapper: Wrapper, httpPort?: number): GrpcHandler {
  return async (call) => {
    const operation = ROWS.get(call.method);
    assert(operation !== undefined, `${call.method} has a row`);
    const { grpc } = operation;
    const answer = await wrapper.perform(
      {
        operation,
        face: 'grpc',
        memoryId: call.header('x-memory-id') || undefined,
        header: (name) => call.header(name),
        remoteAddress: call.remoteAddress,
        ...(call.deadlineMs === undefined ? {} : { deadlineMs: call.deadlineMs }),
      },
      {
        read: () => ({ candidate: grpc === undefined ? {} : grpc.read(call.bytes), bytes: call.bytes }),
        write: (output) => ({
          bytes: grpc === undefined ? EMPTY : grpc.write(output),
          warnings: grpc === undefined ? [] : grpc.looseWarnings(output),
        }),
      },
    );
    if (!answer.ok) return { error: answer.error, headers: answer.headers };
    const { bytes, warnings } = answer.reply;
    if (httpPort !== undefined && call.method === 'Health')
      return { bytes, headers: { ...answer.headers, 'x-http-port': String(httpPort) } };
    return {
      bytes,
      headers: warnings.length === 0 ? answer.headers : { ...answer.headers, 'x-warnings': JSON.stringify(warnings) },
    };
  };
}

const EMPTY = new Uint8Array(0);
