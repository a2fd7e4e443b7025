// Runs adds and recalls, as requests of both interfaces, on a shard that lasts no longer. The first calls of a thread take
// many times as long as later ones, since code is read and compiled when it first runs. A node that waits for its first
// shard runs them meanwhile, so that the calls that wait for the shard are answered soon.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { assert } from '../engine/base/assert.ts';
import type { CallContext } from '../engine/calls/context.ts';
import type { Engine } from '../engine/engine.ts';
import { MemoryLog } from '../engine/log/memory.ts';
import { type EngineOptions, openEngine } from '../engine/open.ts';
import type { ReadCall } from '../shards/transport/codec.ts';
import { AddRequest, RecallRequest } from './gen/memory/v1/memory.ts';
import { CODECS, codecOf } from './operations/codecs.ts';
import type { Operation } from './operations/define.ts';
import { add } from './operations/grains/add.ts';
import type { GrpcRow } from './operations/grpc-face.ts';
import type { HttpRow } from './operations/http-face.ts';
import { recall } from './operations/recall/recall.ts';

/** More cost more than they save. */
const ROUNDS = 5;
/** The last rounds search a sealed file too. */
const SEAL_GRAINS = 4;
const MAINTAIN_MS = 5;
const INDEX_HEAP_BYTES = 2 ** 20;
const WORDS = ['river', 'garden', 'winter', 'letter', 'engine', 'market', 'silver'] as const;

const context: CallContext = { memory: 1, partition: 0, actor: 'system', requestId: 'rehearsal' };

/**
 * `options`: of a shard that is not open in this process. Resolves to the hits that all recalls had together. Rejects with
 * EngineError.
 */
export async function rehearse(options: Pick<EngineOptions, 'directory' | 'shards' | 'shard'>): Promise<number> {
  const { directory: besides, shard, shards } = options;
  const directory = join(dirname(besides), `rehearsal-${shard}`);
  // A killed process left it.
  rmSync(directory, { recursive: true, force: true });
  const engine = await openEngine({
    ...{ directory, keysDirectory: join(directory, 'keys'), shard, shards },
    ...{ indexHeapBytes: INDEX_HEAP_BYTES, sealGrains: SEAL_GRAINS },
    masterKeys: [Buffer.alloc(32)],
    log: new MemoryLog(),
  });
  try {
    return await play(engine);
  } finally {
    await engine.abandon();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function play(engine: Engine): Promise<number> {
  const settings = { number: context.memory, id: 'rehearsal', partitions: 1, language: 'en', createdAtMs: Date.now() };
  await engine.write('attachMemory', context, { settings: { ...settings, dedup: 'exact', dedupThreshold: 1 } });
  let hits = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const [subject, near, far] = [0, 2, 3].map((step) => WORDS[(round + step) % WORDS.length]);
    const fields = { subject, relation: 'is_near', object: `the ${near} and the ${far} ${round}` };
    const query = `${near} ${far}`;
    const adding = AddRequest.fromPartial({ grainType: 'belief', fieldsJson: JSON.stringify(fields) });
    const asking = RecallRequest.fromPartial({ query });
    await added(engine, add.grpc, AddRequest.encode(adding).finish());
    await added(engine, jsonRow(add), Buffer.from(JSON.stringify({ ...fields, relation: 'is_beside' })));
    hits += recalled(engine, recall.grpc, RecallRequest.encode(asking).finish());
    hits += recalled(engine, jsonRow(recall), Buffer.from(JSON.stringify({ query })));
    engine.maintain(MAINTAIN_MS);
    // Where there is no worker, the thread has requests to read.
    await setImmediate();
  }
  return hits;
}

function jsonRow({ http }: Operation): HttpRow | undefined {
  return http.find(({ body }) => body === 'json');
}

async function added(engine: Engine, row: GrpcRow | HttpRow | undefined, bytes: Uint8Array): Promise<void> {
  const { call, encode } = decoded(row, bytes);
  assert(call.method === 'add', 'the row of add makes an add');
  encode(await engine.write(call.method, context, call.input));
}

/** The number of hits. */
function recalled(engine: Engine, row: GrpcRow | HttpRow | undefined, bytes: Uint8Array): number {
  const { call, encode } = decoded(row, bytes);
  assert(call.method === 'recall', 'the row of recall makes a recall');
  const output = engine.read(call.method, context, call.input);
  encode(output);
  return output.hits.length;
}

function decoded(row: GrpcRow | HttpRow | undefined, bytes: Uint8Array): ReadCall {
  const codec = row === undefined ? undefined : codecOf(row);
  assert(codec !== undefined, 'adds and recalls go to the workers undecoded');
  return CODECS[codec]!.decode(bytes, context, true);
}
