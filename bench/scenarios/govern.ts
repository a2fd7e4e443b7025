// The cost of access decisions: one grain per call over gRPC into a memory with opt-in consent and restrictions
// compared with one without, and recalls by words and by structure in process over the same grains, with and without
// people whose grains are hidden.
import { join } from 'node:path';
import type { PolicyChange } from '../../src/engine/calls/govern.ts';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { LoadClient } from '../lib/load.ts';
import { type Measured, type Options, type Scenario, type Size, sized } from '../lib/scenario.ts';
import { askJson, createMemory, startServer } from '../lib/server.ts';
import { inTurns, median, medianRatio, rounded } from '../lib/statistics.ts';

/** As many as the grains have. */
const USERS = Array.from({ length: 50 }, (_, at) => `user-${at}`);
/** People other than those who have grains. */
const OTHERS = Array.from({ length: 950 }, (_, at) => `other-${at}`);
const RESTRICTED = OTHERS.slice(0, 20);
const IN_FLIGHT = 64;
const HITS = 20;
const CANDIDATES = 100;
const FREE = 1;
const GOVERNED = 2;

export const scenario: Scenario = {
  name: 'govern',
  about: 'policy, consent and restriction on, beside off: adds over gRPC, recalls in process',
  aims: [
    { metric: 'grpc_add_governed_over_free_ratio', atLeast: 0.95 },
    { metric: 'recall_words_added_us', atMost: 20 },
    { metric: 'recall_newest_added_us', atMost: 20 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  return inFolder(async (folder) => {
    const adds = await addsOverGrpc({ size, profile, start }, join(folder, 'served'));
    const recalls = await recallsInProcess(join(folder, 'shard'), size);
    return {
      parameters: { ...adds.parameters, ...recalls.parameters, consents: USERS.length + OTHERS.length },
      metrics: rounded({ ...adds.metrics, ...recalls.metrics }),
    };
  });
}

async function addsOverGrpc(
  { size, profile, start }: Options & Pick<Required<Options>, 'start'>,
  dataDirectory: string,
): Promise<Measured> {
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  // The system counts CPU time in ticks of 10 ms: too few calls may measure as zero.
  const calls = sized(size, { full: 20_000, quick: 8_000, smoke: 1_000 });
  const warming = sized(size, { full: 40_000, quick: 20_000, smoke: 64 });
  const client = LoadClient.start();
  const server = await start({ workers: 2, shards: 8, profile, dataDirectory, auth: 'api-key' });
  try {
    for (const id of ['free', 'governed']) await createMemory(server, id);
    const M = '/memories/governed';
    await askJson(server, 'PUT', `${M}/policy`, { overrides: { 'consent.mode': 'opt_in', 'consent.on_read': true } });
    await askJson(server, 'POST', `${M}/consent/grant-bulk`, { user_ids: [...USERS, ...OTHERS], purpose: 'storage' });
    for (const user of RESTRICTED)
      await askJson(server, 'POST', `${M}/app/exec`, { command: 'restrict', args: { user_id: user, reason: 'bench' } });
    let seed = 1;
    const add = (memory: string, count: number) =>
      client.run(server, {
        ...{ protocol: 'grpc', connections: 4, inFlight: IN_FLIGHT, calls: count, what: 'add', memories: [memory] },
        seed: ++seed,
      });
    for (const id of ['free', 'governed']) await add(id, warming);
    const turns = await inTurns(
      rounds,
      {
        free: async () => (await add('free', calls)).serverCpuUsPerCall,
        governed: async () => (await add('governed', calls)).serverCpuUsPerCall,
      },
      { free: { operations: calls, server }, governed: { operations: calls, server } },
    );
    return {
      parameters: { adds_a_round: calls, add_rounds: rounds, restricted: RESTRICTED.length },
      metrics: {
        // By the server's CPU time, which other load on the machine affects less than the clock.
        grpc_add_governed_over_free_ratio: medianRatio(turns.free, turns.governed),
        grpc_add_free_cpu_us: median(turns.free),
        grpc_add_governed_cpu_us: median(turns.governed),
      },
    };
  } finally {
    client.stop();
    await server.stop();
  }
}

async function recallsInProcess(folder: string, size: Size): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 500 });
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  const queries = sized(size, { full: 1_000, quick: 300, smoke: 20 });
  const source = grainSource(1);
  const shard = await openShard(folder);
  await makeMemories(shard.engine, FREE, 2);
  for (let left = grains; left > 0; left -= 10_000) {
    const items = source.take(Math.min(left, 10_000));
    for (const memory of [FREE, GOVERNED]) await addAll(shard, batchesOf(memory, items));
  }
  await settle(shard);
  // Each memory in one partition, so that the two do not differ otherwise.
  await shard.engine.write('compact', contextOf(FREE), {});
  await govern(shard);
  const questions = Array.from({ length: queries }, () => source.question());
  const subjects = Array.from({ length: queries }, () => source.subject());
  const rows = [];
  /** The first round warms up. */
  for (let round = 0; round <= rounds; round++) {
    const words = paired(
      shard,
      questions.map((query) => ({ query })),
    );
    const newest = paired(
      shard,
      subjects.map((subject) => ({ filter: { subject }, structural: true })),
    );
    if (round > 0) rows.push({ words, newest });
  }
  await shard.close();
  return {
    parameters: { grains, recalls_a_round: queries, recall_rounds: rounds },
    metrics: {
      recall_words_p50_us: median(rows.map(({ words }) => words.freeUs)),
      recall_words_added_us: median(rows.map(({ words }) => words.addedUs)),
      recall_newest_p50_us: median(rows.map(({ newest }) => newest.freeUs)),
      recall_newest_added_us: median(rows.map(({ newest }) => newest.addedUs)),
    },
  };
}

/** The medians of a recall without governing rules, and of the extra time of the same recall with them, alternating. */
function paired(shard: OpenShard, asked: readonly Partial<RecallQuery>[]): { freeUs: number; addedUs: number } {
  const pairs = asked.map((query, at) => {
    const memories = at % 2 === 0 ? [FREE, GOVERNED] : [GOVERNED, FREE];
    const [first, second] = memories.map((memory) => timed(() => recall(shard, memory, query))) as [number, number]; // two
    return at % 2 === 0 ? { free: first, governed: second } : { free: second, governed: first };
  });
  return {
    freeUs: median(pairs.map(({ free }) => free)),
    addedUs: median(pairs.map(({ free, governed }) => governed - free)),
  };
}

/** Consent on read, restrictions and times to live; grains of a few people are hidden. */
async function govern({ engine }: OpenShard): Promise<void> {
  const context = contextOf(GOVERNED);
  const change: PolicyChange = {
    overrides: { 'consent.mode': 'opt_out', 'consent.on_read': true, 'retention.default_ttl_days': 365 },
  };
  await engine.write('setPolicy', context, { change, isAdmin: true });
  const say = (userId: string, granted: boolean) => ({ userId, purpose: 'storage', granted });
  await engine.write('consent', context, { items: OTHERS.map((user) => say(user, true)) });
  await engine.write('consent', context, { items: USERS.slice(0, 2).map((user) => say(user, false)) });
  for (const userId of [...RESTRICTED, ...USERS.slice(2, 4)])
    await engine.write('restrict', context, { userId, restricted: true, reason: 'bench' });
}

function recall({ engine }: OpenShard, memory: number, asked: Partial<RecallQuery>): number {
  const query = { filter: {}, structural: false, limit: HITS, candidateLimit: CANDIDATES, ...asked };
  return engine.read('recall', contextOf(memory), query).hits.length;
}

/** Microseconds. */
function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return (performance.now() - start) * 1_000;
}
