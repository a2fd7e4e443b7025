// Shows a gRPC client in Node: store a grain and a batch, recall, and read an error from the trailers. grpc-js takes the
// contract from proto/memory/v1/memory.proto, as a client in any language can.
//
// Start a server (`npm start`). Then, in another terminal, in the same folder, with Node 24:
//
//   export GRANARY_URL=http://127.0.0.1:8080 GRANARY_API_KEY=$(cat data/keys/bootstrap.key)
//   node examples/grpc.ts
//
// In a project of your own, install @grpc/grpc-js and @grpc/proto-loader. The example stores grains of a user of its own, whom
// it erases at the end.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const { GRANARY_URL, GRANARY_API_KEY } = process.env;
if (!GRANARY_URL || !GRANARY_API_KEY) throw new Error('set GRANARY_URL and GRANARY_API_KEY');

const PROTO = join(import.meta.dirname, '../proto/memory/v1/memory.proto');
const DEADLINE_MS = 10_000;

interface Contract {
  readonly memory: { readonly v1: Readonly<Record<'MemoryService' | 'MemoryBatchService', Service>> };
}
type Service = grpc.ServiceClientConstructor;

// The server tells over HTTP which port serves gRPC.
const config = await (await fetch(`${GRANARY_URL}/api/config`)).json();
const { features } = config as { readonly features: { readonly grpc_port: number; readonly tls: boolean } };
const address = `${new URL(GRANARY_URL).hostname}:${features.grpc_port}`;
const credentials = features.tls ? grpc.credentials.createSsl() : grpc.credentials.createInsecure();

// keepCase: fields have the names of the contract. longs: 64-bit integers arrive as numbers.
const definition = grpc.loadPackageDefinition(loadSync(PROTO, { keepCase: true, longs: Number, defaults: true }));
const { MemoryService, MemoryBatchService } = (definition as unknown as Contract).memory.v1;
const grains = new MemoryService(address, credentials);
const batches = new MemoryBatchService(address, credentials);

const metadata = new grpc.Metadata();
metadata.set('authorization', `Bearer ${GRANARY_API_KEY}`);
metadata.set('x-memory-id', 'default');

/** Makes a unary call. Rejects with grpc.ServiceError. */
function call<T>(client: InstanceType<Service>, method: string, message: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const answered = (error: grpc.ServiceError | null, answer: T) => (error === null ? resolve(answer) : reject(error));
    client[method]?.(message, metadata, { deadline: Date.now() + DEADLINE_MS }, answered);
  });
}

const user_id = `example-grpc-${randomUUID()}`;
const event = (content: string) => ({
  grain_type: 'event',
  fields_json: JSON.stringify({ content, role: 'user', user_id }),
});

console.log('Store an event:');
const { hash } = await call<{ hash: string }>(grains, 'Add', event('The printer is on the third floor.'));
console.log(`  ${hash}`);

console.log('Store a batch. Each item has a result of its own:');
const items = [event('The meeting moved to Friday.'), event('Lunch is at noon.'), { grain_type: 'unheard-of' }];
const { results } = await call<{ results: { error_code: string }[] }>(batches, 'BatchAdd', { items });
for (const result of results) console.log(`  ${result.error_code || 'stored'}`);

console.log('Recall by words:');
const request = { query: 'when is the meeting?', user_id, limit: 1 };
const recalled = await call<{ results: { fields_json: string }[] }>(grains, 'Recall', request);
for (const hit of recalled.results) console.log(`  ${JSON.parse(hit.fields_json).content}`);

console.log('Ask for a grain that is not there. The trailers hold the stable code:');
await call(grains, 'Get', { hash: '0'.repeat(64) }).catch((error: grpc.ServiceError) =>
  console.log(`  ${grpc.status[error.code]} ${error.metadata.get('x-error-code')[0]}`),
);

await call(grains, 'ForgetUser', { user_id });
