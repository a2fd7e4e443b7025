// Granary as one more peer: batches and recalls over gRPC. Its embedder draws the vectors that the rows of the others
// bring along.
import { join } from 'node:path';
import { hasNativeRuntime } from '../../../src/embed/builtin/runtime.ts';
import {
  AddRequest,
  BatchAddRequest,
  BatchAddResponse,
  RecallRequest,
  RecallResponse,
} from '../../../src/server/gen/memory/v1/memory.ts';
import { callHead, framed, GrpcConnection } from '../grpc-client.ts';
import { cacheFolder } from '../kept-vectors.ts';
import { createMemory, embedded, flushed, settled, startServer, type Target } from '../server.ts';
import { processCpuUs, snapshotOf } from '../thread-cpu.ts';
import { type Peer, type PeerKind, type PeerServer, timed } from './peer.ts';

const MEMORY = 'peer';
/** Merges of a million rows. */
const MERGE_MS_MAX = 1_200_000;

export const granaryKind: PeerKind = {
  start: startGranary,
  open: openGranary,
};

/** How a process reaches the server. */
type Address = Pick<Target, 'http' | 'grpc' | 'key' | 'pid'>;

async function startGranary(folder: string): Promise<PeerServer> {
  const server = await startServer({
    ...{ dataDirectory: join(folder, 'granary'), workers: 2, shards: 8, auth: 'api-key' },
    embedder: { runtime: hasNativeRuntime() ? 'native' : 'wasm', folder: cacheFolder(), grains: 'drawn' },
  });
  await createMemory(server, MEMORY);
  const { http, grpc, key, pid } = server;
  return {
    address: JSON.stringify({ http, grpc, key, pid } satisfies Address),
    pids: [pid],
    stop: () => server.stop(),
  };
}

async function openGranary(address: string): Promise<Peer> {
  const reached = JSON.parse(address) as Address; // as `startGranary` writes it
  const connection = await GrpcConnection.open(reached.grpc);
  const metadata = { 'x-memory-id': MEMORY, authorization: `Bearer ${reached.key}` };
  const ask = async (path: string, message: Uint8Array): Promise<Buffer> => {
    const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
    connection.call(callHead(path, metadata), framed(message), resolve);
    const reply = await promise;
    if (reply === undefined) throw new Error(`Granary refuses ${path}`);
    return reply;
  };
  return {
    async add(rows) {
      const items = rows.map(({ id, text }) =>
        AddRequest.fromPartial({
          grainType: 'belief',
          fieldsJson: JSON.stringify({ subject: `row-${id}`, relation: 'says', object: text }),
        }),
      );
      const reply = await ask(
        '/memory.v1.MemoryBatchService/BatchAdd',
        BatchAddRequest.encode(BatchAddRequest.fromPartial({ items })).finish(),
      );
      const { totalAdded } = BatchAddResponse.decode(reply);
      if (totalAdded !== rows.length) throw new Error(`Granary took ${totalAdded} of ${rows.length} grains`);
    },
    async index() {
      const server: Target = {
        ...reached,
        cpuUs: () => processCpuUs(reached.pid),
        cpu: async () => snapshotOf(reached.pid, []),
        residentBytes: () => undefined,
        stop: async () => undefined,
      };
      const untilEmbedded = await timed(async () => {
        await flushed(server, [MEMORY]);
        await embedded(server, [MEMORY]);
      });
      return untilEmbedded + (await settled(server, undefined, MERGE_MS_MAX));
    },
    async search(query, vector, limit) {
      const message = RecallRequest.fromPartial({ query, embedding: Array.from(vector), limit });
      const reply = await ask('/memory.v1.MemoryService/Recall', RecallRequest.encode(message).finish());
      return RecallResponse.decode(reply).results.map(({ fieldsJson }) => idOf(fieldsJson));
    },
    close: async () => connection.close(),
  };
}

function idOf(fields: string): number {
  const { subject } = JSON.parse(fields) as { readonly subject?: string }; // as `add` wrote it
  return Number(subject?.slice('row-'.length));
}
