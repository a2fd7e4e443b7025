// One shard in process: batches of 1,000 grains as JSON text, parsed, added, durable and searchable when answered. Each
// round goes on until its grains are sealed and merged. Compared with SQLite FTS5 with and without the same duties, up to
// its checkpoint, and with the log alone with records of the same size. Then batches of an agent, which are counted for
// it, beside batches of a key.
import { join } from 'node:path';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import type { Log } from '../../src/engine/log/log.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { addAll, BATCH_GRAINS, batchesOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { openSqlite, type SqlitePeer } from '../lib/sqlite.ts';
import { inTurns, median, medianRatio, rounded } from '../lib/statistics.ts';

/** Records of one append: the maximum of a group of writes. */
const GROUP_RECORDS = 256;

export const scenario: Scenario = {
  name: 'ingest',
  about: 'batches into one shard, in process, sealed and merged, beside SQLite FTS5 and the log alone',
  aims: [
    { metric: 'grains_per_s', atLeast: 30_000 },
    { metric: 'over_sqlite_duties_ratio', atLeast: 1.4 },
    { metric: 'over_log_ratio', atLeast: 0.25 },
    { metric: 'agent_over_key_cpu_ratio', atMost: 1.02 },
  ],
  run,
};

interface Turn {
  /** From the first call to the last answer. */
  readonly answeredPerSecond: number;
  /** With what follows the last answer: sealing and merging, or SQLite's checkpoint. */
  readonly perSecond: number;
}

async function run({ size }: Options): Promise<Measured> {
  const rounds = sized(size, { full: 7, quick: 3, smoke: 1 });
  // At full size two tails of a shard.
  const grains = sized(size, { full: 32_000, quick: 16_000, smoke: 300 });
  return inFolder(async (folder) => {
    const source = grainSource(1);
    // The first round warms up. Texts are made before any clock runs.
    const texts = Array.from({ length: rounds + 1 }, () =>
      batchesOf(1, source.take(grains)).map(({ items }) => JSON.stringify(items)),
    );
    const shard = await openShard(join(folder, 'granary'));
    await makeMemories(shard.engine, 1, 1);
    const duties = openSqlite(join(folder, 'duties.sqlite'), 'duties');
    const bare = openSqlite(join(folder, 'bare.sqlite'), 'bare');
    const log = openLmdbLog(join(folder, 'log'), { stamp: { formatVersion: 1, shard: 0, shards: 1 } });
    const counts = { granary: 0, duties: 0, bare: 0 };
    const intoSqlite = (name: 'duties' | 'bare', peer: SqlitePeer) => (round: number) =>
      turnOf(
        grains,
        () => {
          for (const text of texts[round]!) counts[name] += peer.insert(text);
        },
        () => timed(() => peer.checkpoint()),
      );
    const all = await inTurns(
      rounds + 1,
      {
        granary: (round) =>
          turnOf(
            grains,
            async () => {
              counts.granary += await addAll(shard, parsed(texts[round]!));
            },
            () => settle(shard),
          ),
        sqlite_duties: intoSqlite('duties', duties),
        sqlite_bare: intoSqlite('bare', bare),
        log: () =>
          turnOf(
            grains,
            () => appendAll(log, grains),
            () => 0,
          ),
      },
      { granary: grains, sqlite_duties: grains, sqlite_bare: grains, log: grains },
    );
    const { totalGrains } = shard.engine.read('statistics', { memory: 1, partition: 0, actor: '', requestId: '' }, {});
    const agents = await addsOfAgents(shard, source, { rounds, grains });
    await shard.close();
    duties.close();
    bare.close();
    await log.close();
    const of = (name: keyof typeof all, figure: keyof Turn): number[] => all[name].slice(1).map((turn) => turn[figure]);
    const over = (name: keyof typeof all): number => medianRatio(of('granary', 'perSecond'), of(name, 'perSecond'));
    const { granary } = cpuTable.figures();
    return {
      parameters: { grains_a_round: grains, rounds, batch_grains: BATCH_GRAINS },
      metrics: rounded({
        grains_per_s: median(of('granary', 'perSecond')),
        answered_grains_per_s: median(of('granary', 'answeredPerSecond')),
        cpu_us_per_grain: granary?.total_us ?? Number.NaN,
        sqlite_duties_grains_per_s: median(of('sqlite_duties', 'perSecond')),
        sqlite_bare_grains_per_s: median(of('sqlite_bare', 'perSecond')),
        log_records_per_s: median(of('log', 'perSecond')),
        over_sqlite_duties_ratio: over('sqlite_duties'),
        over_sqlite_bare_ratio: over('sqlite_bare'),
        over_log_ratio: over('log'),
        agent_over_key_cpu_ratio: agents,
        grains_held: totalGrains,
        sqlite_grains_held: counts.duties,
      }),
    };
  });
}

/** `settleWork` returns the milliseconds that count. */
async function turnOf(
  grains: number,
  work: () => void | Promise<void>,
  settleWork: () => number | Promise<number>,
): Promise<Turn> {
  const start = performance.now();
  await work();
  const answeredMs = performance.now() - start;
  const settleMs = await settleWork();
  return { answeredPerSecond: (grains * 1_000) / answeredMs, perSecond: (grains * 1_000) / (answeredMs + settleMs) };
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

async function appendAll(log: Log, count: number): Promise<void> {
  const recordBytes = 350;
  for (let left = count; left > 0; left -= GROUP_RECORDS) {
    const records = Array.from({ length: Math.min(left, GROUP_RECORDS) }, () => Buffer.alloc(recordBytes, 7));
    await log.append({ records });
  }
}

/** The CPU time of batches that an agent adds and that are counted for it, over that of batches of a key. */
async function addsOfAgents(
  shard: OpenShard,
  source: GrainSource,
  { rounds, grains }: { readonly rounds: number; readonly grains: number },
): Promise<number> {
  const cpuOf = async (actor: string): Promise<number> => {
    const batches = batchesOf(1, source.take(grains));
    const before = process.cpuUsage();
    await addAll(shard, batches, actor);
    const { user, system } = process.cpuUsage(before);
    // Sealing meanwhile would count for either.
    await settle(shard);
    return user + system;
  };
  const turns = await inTurns(rounds + 1, { key: () => cpuOf('key:bench'), agent: () => cpuOf('agent:planner') });
  return medianRatio(turns.agent.slice(1), turns.key.slice(1));
}

function* parsed(texts: readonly string[]) {
  // The scenario's own text.
  for (const text of texts) yield { memory: 1, items: JSON.parse(text) as Parameters<typeof batchesOf>[1] };
}
