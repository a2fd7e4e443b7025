// Appends to a log in PostgreSQL, beside the bare database taking the same bytes in the same groups through the same client,
// and beside the write-ahead file of a server without a database. A group is what that many callers leave while an append is
// in flight. Then a whole server over PostgreSQL beside one over its directory: batches, single adds and recalls.
import { join } from 'node:path';
import postgres from 'postgres';
import type { Log } from '../../src/engine/log/log.ts';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { migrate } from '../../src/engine/log/postgres/migrate.ts';
import { openPostgresLog } from '../../src/engine/log/postgres/postgres-log.ts';
import { takeOwnership } from '../../src/engine/log/wal/owner.ts';
import { openWalLog } from '../../src/engine/log/wal/wal-log.ts';
import { NO_POSTGRES } from '../../test/support/postgres.ts';
import { closedLoop, type Loop } from '../lib/append-loop.ts';
import { databaseServer } from '../lib/cluster.ts';
import { inFolder } from '../lib/folder.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { SERVED_AIMS, servedOverPostgres } from '../lib/served-over-postgres.ts';
import { startServer } from '../lib/server.ts';
import { median, rounded } from '../lib/statistics.ts';

const RECORD = Buffer.alloc(250, 7);
const GROUPS = [1, 64, 255, 1_000];
const SHARDS = 8;
/** The three take turns, so that a busy machine is busy for all of them. */
const ROUNDS = 5;

export const scenario: Scenario = {
  name: 'postgres',
  about: 'appends to a log in PostgreSQL beside the bare database and a write-ahead file',
  aims: [
    { metric: 'group_255_over_bare_ratio', atLeast: 0.7 },
    { metric: 'group_1000_over_bare_ratio', atLeast: 0.7 },
    ...SERVED_AIMS,
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured | Skipped> {
  if (NO_POSTGRES !== undefined) return { skipped: NO_POSTGRES };
  const milliseconds = sized(size, { full: 1_500, quick: 300, smoke: 10 });
  return inFolder(async (directory) => {
    const instance = await databaseServer(size);
    const { url } = await instance.database();
    const database = await Database.open(url);
    const sql = postgres(url, { max: 1 });
    try {
      await migrate(database, SHARDS);
      await sql`CREATE TABLE bare (sequence int8 PRIMARY KEY, bytes bytea)`;
      const metrics = {
        ...(await groups(directory, database, sql, milliseconds)),
        ...(await shardsSideBySide(directory, database, milliseconds)),
        ...(await servedOverPostgres({ folder: directory, instance, size, profile, start })),
      };
      return { parameters: { record_bytes: RECORD.length, milliseconds }, metrics: rounded(metrics) };
    } finally {
      await sql.end();
      await database.close();
      if (size !== 'smoke') instance.kill();
    }
  });
}

function openShard(directory: string, database: Database, shard: number): Promise<Log> {
  return openPostgresLog(join(directory, `postgres-${shard}`), {
    database: database.retain(),
    stamp: { formatVersion: 1, shard, shards: SHARDS },
    node: 'bench',
    leaseMs: 60_000,
  });
}

async function groups(
  directory: string,
  database: Database,
  sql: postgres.Sql,
  milliseconds: number,
): Promise<Record<string, number>> {
  const log = await openShard(directory, database, 0);
  const wal = join(directory, 'wal');
  const ahead = openWalLog(join(directory, 'ahead'), {
    stamp: { formatVersion: 1, shard: 0, shards: 1 },
    writeAhead: { directory: wal, workers: 1, worker: 0, mark: takeOwnership(wal) },
  });
  let next = 1;
  const bare = async (group: Uint8Array[]): Promise<void> => {
    await sql`INSERT INTO bare ${sql(group.map((bytes) => ({ sequence: next++, bytes })))}`;
  };
  const figures: Record<string, number> = {};
  for (const inFlight of GROUPS) {
    const append = (to: Log) => closedLoop(RECORD, (group) => to.append({ records: group }), inFlight, milliseconds);
    // Each statement is prepared first.
    await closedLoop(RECORD, (group) => log.append({ records: group }), inFlight, 1);
    await closedLoop(RECORD, bare, inFlight, 1);
    const rounds: { ours: Loop; raw: Loop; files: Loop }[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({
        ours: await append(log),
        raw: await closedLoop(RECORD, bare, inFlight, milliseconds),
        files: await append(ahead),
      });
    const name = `group_${inFlight}`;
    figures[`${name}_records_per_s`] = median(rounds.map(({ ours }) => ours.perSecond));
    figures[`${name}_commit_p50_ms`] = median(rounds.map(({ ours }) => ours.commitP50Ms));
    figures[`${name}_cpu_us`] = median(rounds.map(({ ours }) => ours.cpuUs));
    figures[`${name}_over_bare_ratio`] = median(rounds.map(({ ours, raw }) => ours.perSecond / raw.perSecond));
    figures[`${name}_over_file_ratio`] = median(rounds.map(({ ours, files }) => ours.perSecond / files.perSecond));
  }
  await log.close();
  await ahead.close();
  return figures;
}

/** Logs of one thread at the same time: their appends overlap. */
async function shardsSideBySide(
  directory: string,
  database: Database,
  milliseconds: number,
): Promise<Record<string, number>> {
  const logs: Log[] = [];
  for (let shard = 0; shard < SHARDS; shard++) logs.push(await openShard(directory, database, shard));
  const loop = (log: Log) => closedLoop(RECORD, (group) => log.append({ records: group }), 8, milliseconds);
  const alone = await loop(logs[0]!);
  const all = await Promise.all(logs.map(loop));
  for (const log of logs) await log.close();
  const perSecond = all.reduce((sum, one) => sum + one.perSecond, 0);
  return {
    [`shards_${SHARDS}_group_8_records_per_s`]: perSecond,
    [`shards_${SHARDS}_over_one_ratio`]: perSecond / alone.perSecond,
  };
}
