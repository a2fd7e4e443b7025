// Kills the database that holds the logs.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { CorruptRecord, type Log } from '../../src/engine/log/log.ts';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { migrate } from '../../src/engine/log/postgres/migrate.ts';
import { openPostgresLog } from '../../src/engine/log/postgres/postgres-log.ts';
import { eventually } from '../support/eventually.ts';
import { NO_POSTGRES, PostgresInstance } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const SHARDS = 3;
const ROUNDS = 3;
const APPENDS = 50;
const LEASE_MS = 60_000;

function textsOf(log: Log): (readonly [number, string])[] {
  return [...log.scan(1)].map((record) => {
    assert.ok(!(record instanceof CorruptRecord));
    return [record.sequence, Buffer.from(record.bytes).toString()] as const;
  });
}

test('no acknowledged append is lost and none is written twice when the database is killed', {
  skip: NO_POSTGRES,
}, async (t) => {
  const instance = await PostgresInstance.start({ isDurable: true });
  const { url } = await instance.database();
  const database = await Database.open(url);
  t.after(() => database.close());
  await migrate(database, SHARDS);
  const folder = temporaryDirectory(t);
  const logs = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) =>
      openPostgresLog(join(folder, String(shard)), {
        stamp: { formatVersion: 1, shard, shards: SHARDS },
        node: 'a',
        leaseMs: LEASE_MS,
        database,
      }),
    ),
  );
  const counts = logs.map(() => 0);
  let isOver = false;
  const writing = logs.map(async (log, shard) => {
    while (!isOver) {
      const first = await log.append({ records: [Buffer.from(String(counts[shard]! + 1))] });
      counts[shard]! += 1;
      assert.equal(first, counts[shard]);
    }
  });
  for (let round = 0; round < ROUNDS; round++) {
    const before = counts.reduce((sum, count) => sum + count, 0);
    await eventually('appends go on', () => counts.reduce((sum, count) => sum + count, 0) >= before + APPENDS);
    instance.kill();
    await eventually('it has ended', () => !instance.isRunning);
    instance.restart();
  }
  isOver = true;
  await Promise.all(writing);
  for (const [shard, log] of logs.entries()) {
    await log.close();
    // Everything from the database alone.
    const fresh = join(folder, `fresh-${shard}`);
    const again = await openPostgresLog(fresh, {
      stamp: { formatVersion: 1, shard, shards: SHARDS },
      node: 'a',
      leaseMs: LEASE_MS,
      database,
    });
    const wanted = Array.from({ length: counts[shard]! }, (_, i) => [i + 1, String(i + 1)]);
    assert.deepEqual(textsOf(again), wanted);
    await again.close();
  }
});
