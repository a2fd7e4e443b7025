// One shard in process: batches of 1,000 grains as JSON text, parsed, added, durable and searchable when answered.
// Compared with SQLite FTS5 with and without the same duties, and with the log alone with records of the same size. Then
// batches of an agent, which are counted for it, beside batches of a key.
import { join } from 'node:path';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import { addAll, BATCH_GRAINS, batchesOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { openSqlite } from '../lib/sqlite.ts';
import { inTurns, median, medianRatio, rounded } from '../lib/statistics.ts';

/** Records of one append: the maximum of a group of writes. */
const GROUP_RECORDS = 256;

export const scenario: Scenario = {
  name: 'ingest',
  about: 'batches into one shard, in process, beside SQLite FTS5 and the log alone',
  aims: [
    { metric: 'grains_per_s', atLeast: 30_000 },
    { metric: 'over_sqlite_duties_ratio', atLeast: 1 },
    { metric: 'over_log_ratio', atLeast: 0.25 },
    { metric: 'agent_over_key_cpu_ratio', atMost: 1.02 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const rounds = sized(size, { full: 7, quick: 3, smoke: 1 });
  const grains = sized(size, { full: 20_000, quick: 10_000, smoke: 300 });
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
    const engineMs: number[] = [];
    const engineCpuUs: number[] = [];
    const variants = {
      granary: async (round: number) => {
        const cpu = process.cpuUsage();
        const perSecond = await rate(grains, async () => {
          counts.granary += await addAll(shard, parsed(texts[round]!));
        });
        const { user, system } = process.cpuUsage(cpu);
        engineMs.push((grains / perSecond) * 1_000);
        engineCpuUs.push((user + system) / grains);
        return perSecond;
      },
      duties: (round: number) =>
        rate(grains, () => {
          for (const text of texts[round]!) counts.duties += duties.insert(text);
        }),
      bare: (round: number) =>
        rate(grains, () => {
          for (const text of texts[round]!) counts.bare += bare.insert(text);
        }),
      log: () =>
        rate(grains, async () => {
          const recordBytes = 350;
          for (let left = grains; left > 0; left -= GROUP_RECORDS) {
            const records = Array.from({ length: Math.min(left, GROUP_RECORDS) }, () => Buffer.alloc(recordBytes, 7));
            await log.append({ records });
          }
        }),
    };
    const all = await inTurns(rounds + 1, variants);
    const settleStart = performance.now();
    await settle(shard);
    const settleMs = performance.now() - settleStart;
    const totalMs = engineMs.reduce((sum, ms) => sum + ms, settleMs);
    const { totalGrains } = shard.engine.read('statistics', { memory: 1, partition: 0, actor: '', requestId: '' }, {});
    const agents = await addsOfAgents(shard, source, { rounds, grains });
    await shard.close();
    duties.close();
    bare.close();
    await log.close();
    const measured = Object.fromEntries(
      Object.entries(all).map(([name, figures]) => [name, figures.slice(1)]),
    ) as typeof all; // the same keys
    return {
      parameters: { grains_a_round: grains, rounds, batch_grains: BATCH_GRAINS },
      metrics: rounded({
        grains_per_s: median(measured.granary),
        cpu_us_per_grain: median(engineCpuUs.slice(1)),
        settled_grains_per_s: (counts.granary * 1_000) / totalMs,
        sqlite_duties_grains_per_s: median(measured.duties),
        sqlite_bare_grains_per_s: median(measured.bare),
        log_records_per_s: median(measured.log),
        over_sqlite_duties_ratio: medianRatio(measured.granary, measured.duties),
        over_sqlite_bare_ratio: medianRatio(measured.granary, measured.bare),
        over_log_ratio: medianRatio(measured.granary, measured.log),
        agent_over_key_cpu_ratio: agents,
        grains_held: totalGrains,
        sqlite_grains_held: counts.duties,
      }),
    };
  });
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
    // What is sealed meanwhile would count for either.
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

async function rate(grains: number, work: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (grains * 1_000) / (performance.now() - start);
}
