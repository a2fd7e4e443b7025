// Two nodes over one PostgreSQL: calls of a shard that the other node owns, takeover from a node that was killed, shards that
// move as planned, and both nodes beside one of them. All processes are on this machine.

import { NO_POSTGRES } from '../../test/support/postgres.ts';
import { CallerLoop, isServed } from '../lib/caller-loop.ts';
import { Cluster, killed, reached } from '../lib/cluster.ts';
import { inFolder } from '../lib/folder.ts';
import { GrpcConnection } from '../lib/grpc-client.ts';
import { LoadClient, type LoadJob, type ServedLoad } from '../lib/load.ts';
import type { Measured, Options, Scenario, Size, Skipped } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { flushed, grainsHeld, type Target } from '../lib/server.ts';
import { inTurns, median, percentile, rounded } from '../lib/statistics.ts';

const SHARDS = 4;
const WORKERS = 2;
const MEMORIES = 16;
/** Callers of a memory whose shard moves. */
const CALLERS = 4;
/** One round in so many warms up. */
const WARM_PART = 10;
/** The load before and after a move. */
const AROUND_MS = 500;

export const scenario: Scenario = {
  name: 'nodes',
  about: 'two nodes over one PostgreSQL: forwarding, takeover, planned moves, throughput',
  aims: [
    { metric: 'forwarded_added_p50_ms', atMost: 0.4 },
    { metric: 'other_node_added_p50_ms', atMost: 0.4 },
    { metric: 'other_owner_added_p50_ms', atMost: 0.4 },
    { metric: 'takeover_cold_over_lease_ms', atMost: 2_000 },
    { metric: 'takeover_over_lease_ms', atMost: 2_000 },
    { metric: 'takeover_lost', atMost: 0 },
    { metric: 'hand_over_p50_ms', atMost: 300 },
    { metric: 'hand_over_join_ms', atMost: 300 },
    { metric: 'hand_over_failed', atMost: 0 },
  ],
  run,
};

interface Parts {
  readonly cluster: Cluster;
  /** It runs the server. */
  readonly near: Target;
  /** The other node, started again after each takeover. In a smoke run, it joins late. */
  far: Target;
  readonly client: LoadClient;
  /** For callers of the other node at the same time. */
  readonly second: LoadClient;
  readonly size: Size;
  /** On a shard of the first node, and of the second one. */
  readonly nearMemory: string;
  readonly farMemory: string;
  /** Over all shards. */
  readonly memories: readonly string[];
  readonly leaseMs: number;
  /** In each of the two memories. */
  readonly grains: number;
}

type Figures = Record<string, number>;

async function run({ size }: Options): Promise<Measured | Skipped> {
  if (NO_POSTGRES !== undefined) return { skipped: NO_POSTGRES };
  const leaseMs = sized(size, { full: 10_000, quick: 5_000, smoke: 3_000 });
  const grains = sized(size, { full: 100_000, quick: 20_000, smoke: 100 });
  const workers = size === 'smoke' ? 1 : WORKERS;
  return inFolder(async (folder) => {
    const cluster = await Cluster.start(size, { folder, shards: SHARDS, workers, leaseMs });
    const client = LoadClient.start();
    const second = LoadClient.start();
    try {
      const parts = await partsOf({ cluster, client, second, size, leaseMs, grains });
      const metrics: Figures = {};
      for (const step of stepsOf(size)) Object.assign(metrics, await step(parts));
      return {
        parameters: { grains, shards: SHARDS, workers, lease_ms: leaseMs, memories: MEMORIES, callers: CALLERS },
        metrics: rounded(metrics),
      };
    } finally {
      client.stop();
      second.stop();
      await cluster.stop();
    }
  });
}

/** The first takeover is by a node that has never had the shard. A smoke run starts no node again. */
function stepsOf(size: Size): readonly ((parts: Parts) => Promise<Figures>)[] {
  return size === 'smoke'
    ? [fill, measureJoin, measureForwarding, measureMoves, measureThroughput, measureTakeovers]
    : [fill, measureForwarding, measureTakeovers, measureJoin, measureMoves, measureThroughput];
}

/** Two nodes, and memories on all shards. */
async function partsOf(
  known: Pick<Parts, 'cluster' | 'client' | 'second' | 'size' | 'leaseMs' | 'grains'>,
): Promise<Parts> {
  const { cluster, size } = known;
  const near = await cluster.node('near');
  let far = near;
  if (size !== 'smoke') {
    far = await cluster.node('far-1');
    await cluster.owns(far, SHARDS / 2);
  }
  const placed = new Map<string, number>();
  for (let i = 0; i < MEMORIES; i++) placed.set(`nodes-${i}`, await cluster.memory(near, `nodes-${i}`));
  const onShard = (wanted: number): string => {
    for (const [memory, shard] of placed) if (shard === wanted) return memory;
    throw new Error(`no memory is on shard ${wanted}`);
  };
  return { ...known, near, far, memories: [...placed.keys()], nearMemory: onShard(0), farMemory: onShard(SHARDS - 1) };
}

/** Both memories, so that a recall costs the same in them. */
async function fill({ client, near, nearMemory, farMemory, grains }: Parts): Promise<Figures> {
  const batchGrains = Math.min(1_000, grains);
  const job = { protocol: 'grpc', connections: 1, inFlight: 4, what: 'batchAdd', batchGrains } as const;
  for (const memory of [nearMemory, farMemory])
    await client.run(near, { ...job, calls: grains / batchGrains, memories: [memory], seed: 1 });
  await flushed(near, [nearMemory, farMemory]);
  return {};
}

/**
 * Recalls, one at a time, in short turns, since the machine may be faster in one minute than in the next: of a shard of the asked node, of another node's, and of that one's shard through the other node. The last
 * asks the other node for a shard of its own, which it answers by its copy of the control log.
 */
async function measureForwarding({ client, near, far, nearMemory, farMemory, size }: Parts): Promise<Figures> {
  const rounds = sized(size, { full: 70, quick: 20, smoke: 1 });
  const calls = sized(size, { full: 100, quick: 75, smoke: 10 });
  const job = { protocol: 'grpc', connections: 1, inFlight: 1, calls, what: 'recall' } as const;
  const p50 = (target: Target, memory: string) => async (round: number) =>
    (await client.run(target, { ...job, memories: [memory], seed: 10 + round })).p50Ms;
  const turns = await inTurns<string, number>(rounds + 1, {
    owner: p50(near, nearMemory),
    forwarded: p50(near, farMemory),
    other: p50(far, nearMemory),
    other_owner: p50(far, farMemory),
  });
  // The first rounds warm up.
  const of = (name: string): number[] => turns[name]!.slice(Math.ceil(rounds / WARM_PART));
  const added = (name: string): number[] => of(name).map((ms, round) => ms - of('owner')[round]!);
  return {
    owner_p50_ms: median(of('owner')),
    forwarded_p50_ms: median(of('forwarded')),
    forwarded_added_p50_ms: median(added('forwarded')),
    forwarded_over_other_owner_p50_ms: median(of('forwarded').map((ms, round) => ms - of('other_owner')[round]!)),
    other_node_p50_ms: median(of('other')),
    other_node_added_p50_ms: median(added('other')),
    other_owner_p50_ms: median(of('other_owner')),
    other_owner_added_p50_ms: median(added('other_owner')),
  };
}

/** The first takeover is by a node that has nothing of the shard; before the others it has had the shard. */
async function measureTakeovers(parts: Parts): Promise<Figures> {
  const { cluster, near, farMemory, size, leaseMs } = parts;
  const rounds = sized(size, { full: 4, quick: 3, smoke: 1 });
  const tookMs: number[] = [];
  const afterLeaseMs: number[] = [];
  const held = await grainsHeld(near, farMemory);
  let lost = 0;
  for (let round = 0; round < rounds; round++) {
    if (round > 0) {
      parts.far = await cluster.node('far-1');
      await cluster.owns(parts.far, SHARDS / 2);
    }
    const restMs = (await cluster.fleet()).shards.find(({ shard }) => shard === SHARDS - 1)?.leaseMs ?? 0;
    const connection = await GrpcConnection.open(near.grpc);
    const startMs = performance.now();
    killed(parts.far.pid);
    await reached('the memory is served', () => isServed(connection, near, farMemory));
    tookMs.push(performance.now() - startMs);
    afterLeaseMs.push(performance.now() - startMs - restMs);
    connection.close();
    lost += Math.max(0, held - (await grainsHeld(near, farMemory)));
    await cluster.owns(near, SHARDS);
  }
  const warm = (figures: readonly number[]): number => median(rounds === 1 ? figures : figures.slice(1));
  return {
    takeover_cold_ms: tookMs[0]!,
    takeover_cold_over_lease_ms: tookMs[0]! - leaseMs,
    takeover_cold_after_lease_end_ms: afterLeaseMs[0]!,
    takeover_p50_ms: warm(tookMs),
    takeover_over_lease_ms: warm(tookMs) - leaseMs,
    takeover_after_lease_end_ms: warm(afterLeaseMs),
    takeover_lost: lost,
  };
}

/** The longest call while a node with an empty directory joins, and takes the shard. */
async function measureJoin(parts: Parts): Promise<Figures> {
  const { cluster, near, farMemory } = parts;
  const loop = await CallerLoop.start(near, farMemory, CALLERS, 900);
  await pause(AROUND_MS);
  const startMs = performance.now();
  parts.far = await cluster.node('far-2');
  await cluster.owns(parts.far, SHARDS / 2);
  await pause(AROUND_MS);
  await loop.end();
  return { hand_over_join_ms: loop.longestSince(startMs), hand_over_join_failed: loop.failed };
}

/** The longest call while a shard moves to the other node, and back. */
async function measureMoves({ cluster, near, far, farMemory, size }: Parts): Promise<Figures> {
  const rounds = sized(size, { full: 6, quick: 3, smoke: 1 });
  const aroundMs = sized(size, { full: AROUND_MS, quick: AROUND_MS, smoke: 20 });
  const loop = await CallerLoop.start(near, farMemory, CALLERS, 1_000);
  const [away, back, calm]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    for (const longest of [away, back]) {
      const beforeMs = performance.now();
      await pause(aroundMs);
      calm.push(loop.longestSince(beforeMs));
      const startMs = performance.now();
      await cluster.drain(far, longest === away);
      await pause(aroundMs);
      longest.push(loop.longestSince(startMs));
    }
  }
  await loop.end();
  const all = [...away, ...back];
  return {
    hand_over_p50_ms: median(all),
    hand_over_min_ms: Math.min(...all),
    hand_over_max_ms: Math.max(...all),
    hand_over_away_p50_ms: median(away),
    hand_over_back_p50_ms: median(back),
    hand_over_calm_longest_p50_ms: median(calm),
    hand_over_calls: loop.calls.length,
    hand_over_failed: loop.failed,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

interface Turn {
  readonly perSecond: number;
  /** Cores that each process kept busy. */
  readonly cores: Readonly<Record<'near' | 'far' | 'database' | 'client', number>>;
}

/**
 * Single adds and batches over many memories, with one node and with two. All calls go to the node that runs the server, or half of them
 * to each of the `both`.
 */
async function measureThroughput(parts: Parts): Promise<Figures> {
  const { cluster, far, size } = parts;
  const rounds = sized(size, { full: 4, quick: 2, smoke: 1 });
  const adds = sized(size, { full: 20_000, quick: 4_000, smoke: 32 });
  const batches = sized(size, { full: 48, quick: 16, smoke: 4 });
  const batchGrains = sized(size, { full: 1_000, quick: 1_000, smoke: 5 });
  let seed = 2_000;
  const job = { protocol: 'grpc', connections: 4, memories: parts.memories } as const;
  const take = (name: 'add' | 'batchAdd', isOfBoth: boolean) => {
    seed += 2;
    const load = isOfBoth ? loadedBoth : loaded;
    return name === 'add'
      ? load(parts, { ...job, what: name, inFlight: 256, calls: adds, seed }, 1)
      : load(parts, { ...job, what: name, inFlight: 16, calls: batches, batchGrains, seed }, batchGrains);
  };
  const after =
    (isDraining: boolean, name: 'add' | 'batchAdd', isOfBoth = false) =>
    async (): Promise<Turn> => {
      await cluster.drain(far, isDraining);
      return take(name, isOfBoth);
    };
  const turns = await inTurns<string, Turn>(rounds, {
    one_add: after(true, 'add'),
    one_batch: after(true, 'batchAdd'),
    two_add: after(false, 'add'),
    two_batch: after(false, 'batchAdd'),
    both_add: after(false, 'add', true),
    both_batch: after(false, 'batchAdd', true),
  });
  await cluster.drain(far, false);
  const metrics: Figures = {};
  // The first round warms up.
  const of = (name: string): Turn[] => (rounds === 1 ? turns[name]! : turns[name]!.slice(1));
  for (const name of Object.keys(turns)) {
    metrics[`${name}_grains_per_s`] = median(of(name).map(({ perSecond }) => perSecond));
    for (const process of ['near', 'far', 'database', 'client'] as const)
      metrics[`${name}_${process}_cores`] = percentile(
        of(name).map(({ cores }) => cores[process]),
        0.5,
      );
  }
  for (const name of ['add', 'batch'])
    for (const nodes of ['two', 'both'])
      metrics[`${name}_${nodes}_over_one_ratio`] =
        metrics[`${nodes}_${name}_grains_per_s`]! / metrics[`one_${name}_grains_per_s`]!;
  return metrics;
}

function countersOf({ cluster, near, far }: Parts): readonly number[] {
  return [near.cpuUs() ?? Number.NaN, far.cpuUs() ?? Number.NaN, cluster.databaseCpuUs()];
}

async function loaded(parts: Parts, job: LoadJob, grainsPerCall: number): Promise<Turn> {
  let before = countersOf(parts);
  const load = await parts.client.run(parts.near, job, () => {
    before = countersOf(parts);
  });
  return turnOf(parts, { loads: [load], before, grainsPerCall });
}

/** Half of the calls go to each node, at the same time. */
async function loadedBoth(parts: Parts, job: LoadJob, grainsPerCall: number): Promise<Turn> {
  const { client, second, near, far } = parts;
  const half = { ...job, connections: job.connections / 2, inFlight: job.inFlight / 2, calls: job.calls / 2 };
  let before = countersOf(parts);
  const loads = await Promise.all([
    client.run(near, half, () => {
      before = countersOf(parts);
    }),
    second.run(far, { ...half, seed: half.seed + 1 }),
  ]);
  return turnOf(parts, { loads, before, grainsPerCall });
}

function turnOf(
  parts: Parts,
  {
    loads,
    before,
    grainsPerCall,
  }: { readonly loads: readonly ServedLoad[]; readonly before: readonly number[]; readonly grainsPerCall: number },
): Turn {
  const us = Math.max(...loads.map(({ seconds }) => seconds)) * 1_000_000;
  const [near, far, database] = countersOf(parts).map((now, at) => (now - before[at]!) / us);
  const sumOf = (of: (load: ServedLoad) => number): number => loads.reduce((sum, load) => sum + of(load), 0);
  return {
    perSecond: sumOf((load) => load.callsPerSecond) * grainsPerCall,
    cores: {
      near: near!,
      far: far!,
      database: database!,
      client: sumOf(({ cpuUsPerCall, calls }) => cpuUsPerCall * calls) / us,
    },
  };
}
