// The gRPC transport of the operation table: bytes of an rpc in, the operation's answer out.
import { assert } from '../engine/base/assert.ts';
import { JSON_PARSED_HERE_BYTES_MAX } from '../engine/base/limits.ts';
import { type Arrival, isRepeatable } from './arrival.ts';
import type { GrpcAnswer, GrpcCall, GrpcHandler } from './grpc/front.ts';
import type { Elsewhere } from './http.ts';
import type { ReadMessage } from './jobs/read-json.ts';
import { codecOf, sidecarCodecOf } from './operations/codecs.ts';
import type { Operation } from './operations/define.ts';
import type { GrpcRow } from './operations/grpc-face.ts';
import { notesOf } from './operations/notes.ts';
import { OPERATIONS } from './operations/table.ts';
import type { UnknownMember } from './operations/unknown-members.ts';
import type { TrustedProxies } from './proxies.ts';
import type { Face, Forward, ReadInput, Wrapper } from './wrapper.ts';

interface Route {
  readonly operation: Operation;
  /** Number of its codec, when a worker decodes its requests. */
  readonly codec: number | undefined;
}

const ROUTES: ReadonlyMap<string, Route> = new Map(
  OPERATIONS.flatMap((operation) => {
    const { grpc } = operation;
    return grpc === undefined ? [] : [[grpc.rpc, { operation, codec: codecOf(grpc) }] as const];
  }),
);

interface Reply {
  readonly bytes: Uint8Array;
  /** Warnings about unknown fields, from `notesOf`. */
  readonly warnings: string;
}

export interface GrpcParts {
  readonly wrapper: Wrapper;
  readonly proxies: TrustedProxies;
  /** Set on a node that has a copy of the control log alone. */
  readonly elsewhere?: Elsewhere['grpc'] | undefined;
  /** Port of HTTP on this server. Health reports it to callers that know only the gRPC address. */
  readonly httpPort: () => number | undefined;
  /** Decodes a long message in another thread. */
  readonly readLong: (rpc: string, bytes: Uint8Array) => Promise<ReadMessage>;
}

export function grpcHandler({ wrapper, proxies, httpPort, readLong, elsewhere }: GrpcParts): GrpcHandler {
  /** The caller looks for HTTP on the host that it asked, whichever node has answered. */
  const withPort = ({ method }: GrpcCall, answer: GrpcAnswer): GrpcAnswer => {
    const port = method === 'Health' && !('error' in answer) ? httpPort() : undefined;
    return port === undefined ? answer : { ...answer, headers: { ...answer.headers, 'x-http-port': String(port) } };
  };
  return async (call) => {
    const route = ROUTES.get(call.method);
    assert(route !== undefined, `${call.method} has a row`);
    const pass = (to: Elsewhere['grpc']) => to(call, isRepeatable(route.operation, call.header('idempotency-key')));
    if (elsewhere !== undefined && route.operation.onAnyNode === false) return withPort(call, await pass(elsewhere));
    const answer = await wrapper.perform(arrivalOf(call, route.operation, proxies), faceOf(call, route, readLong));
    if (!answer.ok && answer.isElsewhere === true && elsewhere !== undefined) return pass(elsewhere);
    if (!answer.ok) return { error: answer.error, headers: answer.headers };
    const { bytes, warnings } = answer.reply;
    const headers = warnings === '' ? answer.headers : { ...answer.headers, 'x-warnings': warnings };
    return withPort(call, { bytes, headers });
  };
}

function arrivalOf(call: GrpcCall, operation: Operation, proxies: TrustedProxies): Arrival {
  const { deadlineMs } = call;
  return {
    operation,
    face: 'grpc',
    get memoryId() {
      return call.only('x-memory-id') || undefined;
    },
    requestId: call.header('x-request-id'),
    header: (name) => call.only(name),
    get remoteAddress() {
      return proxies.clientOf(call);
    },
    identity: call.identity,
    deadlineMs,
  };
}

function faceOf(call: GrpcCall, { operation: { grpc }, codec }: Route, readLong: GrpcParts['readLong']): Face<Reply> {
  return {
    read: () => {
      const { bytes } = call;
      if (grpc !== undefined && bytes.length > JSON_PARSED_HERE_BYTES_MAX) return readElsewhere(grpc, bytes, readLong);
      const unknown: UnknownMember[] = [];
      return { candidate: grpc === undefined ? {} : grpc.read(bytes, unknown), bytes, unknown };
    },
    write: (output, extra) => ({
      bytes: grpc === undefined ? EMPTY : grpc.write(output, extra),
      warnings: grpc === undefined ? '' : notesOf(grpc.looseWarnings(output, extra)),
    }),
    forward:
      codec === undefined
        ? undefined
        : {
            codec,
            bytes: () => call.bytes,
            onMainThread: grpc?.onMainThread,
            sidecar: sidecarOf(grpc),
            write: ({ bytes, notes }) => ({ bytes, warnings: notes }),
          },
  };
}

async function readElsewhere({ rpc }: GrpcRow, bytes: Uint8Array, readLong: GrpcParts['readLong']): Promise<ReadInput> {
  return { ...(await readLong(rpc, bytes)), bytes };
}

function sidecarOf(grpc: Operation['grpc']): Forward<Reply>['sidecar'] {
  const codec = grpc === undefined ? undefined : sidecarCodecOf(grpc);
  return codec === undefined || grpc?.sidecar === undefined ? undefined : { codec, make: grpc.sidecar };
}

const EMPTY = new Uint8Array(0);
