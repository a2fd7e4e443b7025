// Kills the database that holds the logs, and the nodes that own them.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CorruptRecord, type Log } from '../../src/engine/log/log.ts';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { migrate } from '../../src/engine/log/postgres/migrate.ts';
import { openPostgresLog } from '../../src/engine/log/postgres/postgres-log.ts';
import { eventually } from '../support/eventually.ts';
import { NO_POSTGRES, PostgresInstance } from '../support/postgres.ts';
import { childFile } from '../support/program.ts';
import { codeOf, contextOf, openShard } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { Added, PostgresChildOptions } from './postgres-child.ts';

const SHARDS = 3;
const ROUNDS = 3;
const APPENDS = 50;
const LEASE_MS = 60_000;
const CHILD = childFile(join(import.meta.dirname, 'postgres-child.ts'));
/** Beliefs that a node adds before it is killed. */
const ADDED = 200;

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
        database: database.retain(),
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
      database: database.retain(),
    });
    const wanted = Array.from({ length: counts[shard]! }, (_, i) => [i + 1, String(i + 1)]);
    assert.deepEqual(textsOf(again), wanted);
    await again.close();
  }
});

/** A node that adds beliefs until it has added enough and is killed. Resolves with what it acknowledged. */
async function addUntilKilled(options: PostgresChildOptions): Promise<readonly Added[]> {
  const child = fork(CHILD, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const added: Added[] = [];
  child.on('message', (one: Added) => {
    added.push(one);
    if (added.length === ADDED) child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'close');
  assert.equal(signal, 'SIGKILL');
  return added;
}

test('everything acknowledged is there on an empty folder after nodes were killed', {
  skip: NO_POSTGRES,
}, async (t) => {
  const instance = await PostgresInstance.start({ isDurable: true });
  const { url } = await instance.database();
  const database = await Database.open(url);
  t.after(() => database.close());
  await migrate(database, 1);
  const root = temporaryDirectory(t);
  const added: Added[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // The same node comes back on its copy, or on an empty folder.
    if (round === 2) rmSync(join(root, 'a'), { recursive: true });
    const options = { root, database: { url, node: 'a', leaseMs: LEASE_MS }, from: round * 1_000_000 };
    added.push(...(await addUntilKilled(options)));
  }
  // The killed node holds the shard until its lease ends; a node of its name takes it at once.
  const other = { url, node: 'b', leaseMs: LEASE_MS };
  assert.equal(await codeOf(() => openShard(join(root, 'b'), { database: other })), 'STO-E002');
  const engine = await openShard(join(root, 'empty'), { database: { ...other, node: 'a' } });
  assert.ok(added.length >= ROUNDS * ADDED);
  const subjects = new Map<string, number>();
  for (const { number, hash } of added) {
    assert.equal(await codeOf(() => engine.read('get', contextOf(1), { hash })), undefined, `belief ${number}`);
    subjects.set(hash, number);
  }
  assert.equal(subjects.size, added.length);
  const { totalGrains } = engine.read('statistics', contextOf(1), {});
  // Beliefs in flight when the node was killed may be there too, once.
  assert.ok(totalGrains >= added.length && totalGrains <= added.length + ROUNDS * 16, `${totalGrains} grains`);
  assert.equal((await engine.write('verifyAudit', contextOf(1), {})).valid, true);
  t.diagnostic(`${added.length} acknowledged in ${ROUNDS} rounds, 0 lost; ${totalGrains} grains`);
  await engine.close();
});
