// Segments and vectors of a shard in PostgreSQL: uploaded when they are sealed, fetched by the next owner, and removed when they
// are no longer in force.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MERGE_FANOUT } from '../src/engine/base/limits.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { SegmentChange } from '../src/engine/index/shard-index.ts';
import { FORMAT_VERSION } from '../src/engine/log/format.ts';
import { Database } from '../src/engine/log/postgres/database.ts';
import { migrate } from '../src/engine/log/postgres/migrate.ts';
import { hasDigest } from '../src/engine/log/postgres/stored-files.ts';
import { fetchAhead } from '../src/engine/maintain/housekeeping/fetch-ahead.ts';
import { uploadsBehind } from '../src/engine/maintain/reports/uploads-behind.ts';
import { embedAll, embedderOf } from './support/letters.ts';
import { testDatabase } from './support/postgres.ts';
import { addBelief, contextOf, openShard, recalled, settingsOf, until } from './support/shard.ts';
import { temporaryDirectory } from './support/temporary.ts';

const context = contextOf(1);

interface Place {
  readonly root: string;
  readonly url: string;
  readonly database: Database;
  open(node: string): Promise<Engine>;
}

/** Runs a test on a shard with a memory in a database of its own; it is skipped where there is no PostgreSQL. */
function onPlace(name: string, run: (place: Place, t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    const found = await testDatabase(t);
    if (found === undefined) return;
    const root = temporaryDirectory(t);
    const database = await Database.open(found.url);
    t.after(() => database.close());
    await migrate(database, 1);
    const open = (node: string): Promise<Engine> =>
      openShard(join(root, node), { database: { url: found.url, node, leaseMs: 60_000 }, sealVectors: 8 });
    await run({ root, url: found.url, database, open }, t);
  });
}

/** Adds grains in several segments, with vectors. Resolves with their hashes. */
async function fill(engine: Engine, segments = 3): Promise<string[]> {
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const hashes: string[] = [];
  for (let segment = 0; segment < segments; segment++) {
    for (let i = 0; i < 10; i++)
      hashes.push(
        await addBelief(engine, 1, { subject: `s${i}`, object: `thing ${segment} ${i}`, user_id: `u${i % 2}` }),
      );
    await engine.write('flush', context, {});
  }
  await embedAll(engine, { '': embedderOf(0) });
  await until(engine, () => !engine.maintain(5));
  return hashes;
}

const vectorsOf = (engine: Engine): number => engine.store.vectors.count(1);

interface Row {
  readonly name: string;
  readonly digest: Buffer;
}

async function rowsIn({ database }: Place): Promise<readonly Row[]> {
  return database.ask((sql) => sql<Row[]>`SELECT name, digest FROM granary_segments ORDER BY name`);
}

async function digestsOfParts({ database }: Place): Promise<readonly string[]> {
  const rows = await database.ask((sql) => sql`SELECT DISTINCT digest FROM granary_segment_parts`);
  return rows.map((row) => row['digest'].toString('hex')).sort();
}

/** The database has the files in force, each whole, and nothing else. */
async function assertStored(place: Place, node: string, engine: Engine): Promise<void> {
  const directory = join(place.root, node, 'shard-0');
  const names = [...engine.store.index.files(), ...engine.store.vectors.paths()]
    .map((path) => path.slice(directory.length + 1))
    .sort();
  const rows = await rowsIn(place);
  assert.deepEqual(
    rows.map(({ name }) => name),
    names,
  );
  for (const { name, digest } of rows)
    assert.ok(
      createHash('sha256')
        .update(readFileSync(join(directory, name)))
        .digest()
        .equals(digest),
      name,
    );
  assert.deepEqual(await digestsOfParts(place), rows.map(({ digest }) => digest.toString('hex')).sort());
}

onPlace('a node with an empty folder fetches segments and vectors, and builds none again', async (place) => {
  const first = await place.open('a');
  const hashes = await fill(first);
  await first.store.uploads?.settle();
  await assertStored(place, 'a', first);
  const [vectors, sealed] = [vectorsOf(first), first.store.index.sealedSequence];
  assert.ok(vectors >= hashes.length && first.store.index.segments >= 2);
  await first.abandon();

  const second = await place.open('b');
  // Nothing of what was sealed was published again.
  assert.equal(second.store.index.sealedSequence, sealed);
  assert.equal(second.store.index.tailGrains, 0);
  assert.equal(vectorsOf(second), vectors);
  assert.deepEqual(recalled(second, 1, 'thing').sort(), [...hashes].sort());
  assert.deepEqual(second.read('health', context, undefined as never).reasons, []);
  hashes.push(await addBelief(second, 1, { subject: 'more', object: 'thing more' }));
  await second.write('compact', context, {});
  await assertStored(place, 'b', second);
  await second.close();

  // The first node keeps of its folder what the database has too.
  const again = await place.open('a');
  assert.deepEqual(recalled(again, 1, 'thing').sort(), [...hashes].sort());
  assert.equal(again.store.index.tailGrains, 0);
  await again.close();
});

onPlace('what the database has in part, or damaged, is built again, and health says so', async (place) => {
  const first = await place.open('a');
  const hashes = await fill(first);
  await first.store.uploads?.settle();
  assert.deepEqual([...(await uploadsBehind(place.database))], []);
  await first.abandon();
  const [one, two] = (await rowsIn(place)).filter(({ name }) => name.startsWith('segments/'));
  assert.ok(one !== undefined && two !== undefined);
  await place.database.ask(
    (sql) => sql`
      UPDATE granary_segment_parts SET content = overlay(content PLACING '\\x00ff00'::bytea FROM 100)
      WHERE digest = ${one.digest}`,
  );
  await place.database.ask((sql) => sql`DELETE FROM granary_segment_parts WHERE digest = ${two.digest}`);
  await place.database.ask((sql) => sql`UPDATE granary_segments SET name = 'x' WHERE name = ${two.name}`);
  assert.deepEqual([...(await uploadsBehind(place.database))], [[0, 1]]);
  await place.database.ask((sql) => sql`UPDATE granary_segments SET name = ${two.name} WHERE name = 'x'`);

  const second = await place.open('b');
  const { reasons } = second.read('health', context, undefined as never);
  assert.equal(reasons.length, 2);
  assert.match(
    reasons[0] ?? '',
    /rebuilt, because the copy in the database is incomplete or damaged: the bytes of segments\/\d+\.seg/,
  );
  assert.match(reasons[1] ?? '', /segments\/\d+\.seg has 0 bytes in the database/);
  assert.deepEqual(recalled(second, 1, 'thing').sort(), [...hashes].sort());
  await second.write('flush', context, {});
  await second.store.uploads?.settle();
  await assertStored(place, 'b', second);
  await second.close();
});

onPlace('a failed upload is told and tried again, and the parts of one that was cut are swept', async (place) => {
  const first = await place.open('a');
  await place.database.ask(
    (sql) => sql`ALTER TABLE granary_segments ADD CONSTRAINT closed CHECK (bytes < 0) NOT VALID`,
  );
  const hashes = await fill(first);
  const uploads = first.store.uploads;
  assert.ok(uploads !== undefined);
  await assert.rejects(uploads.settle(), { code: 'STO-E001', message: /cannot be uploaded/ });
  const { reasons, ok } = first.read('health', context, undefined as never);
  assert.equal(ok, true);
  assert.match(reasons.join(), /segments are not uploaded, and another node would have to rebuild them: .*closed/);
  assert.ok(uploads.pending > 0 && first.store.counters.uploadFailures > 0);
  assert.deepEqual(recalled(first, 1, 'thing').sort(), [...hashes].sort());
  // As after a kill: parts are there, and no file names them.
  await first.abandon();
  assert.ok((await digestsOfParts(place)).length > 0 && (await rowsIn(place)).length === 0);

  await place.database.ask((sql) => sql`ALTER TABLE granary_segments DROP CONSTRAINT closed`);
  const second = await place.open('b');
  assert.deepEqual(recalled(second, 1, 'thing').sort(), [...hashes].sort());
  await second.write('flush', context, {});
  await second.store.uploads?.settle();
  assert.deepEqual(second.read('health', context, undefined as never).reasons, []);
  await assertStored(place, 'b', second);
  await second.close();
});

onPlace('an erasure is noted as pending until the database has no segment with what was erased', async (place) => {
  const engine = await place.open('a');
  await fill(engine);
  await engine.store.uploads?.settle();
  const before = await digestsOfParts(place);
  await place.database.ask(
    (sql) => sql`
      CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'closed'; END $$ LANGUAGE plpgsql`,
  );
  await place.database.ask(
    (sql) => sql`CREATE TRIGGER closed BEFORE DELETE ON granary_segments EXECUTE FUNCTION refuse()`,
  );
  await engine.write('eraseUser', context, { userId: 'u1' });
  const uploads = engine.store.uploads;
  assert.ok(uploads !== undefined);
  const { counters } = engine.store;
  const failed = counters.uploadFailures;
  await until(engine, () => counters.uploadFailures > failed);
  assert.equal(engine.store.purgePending.size, 1);
  assert.ok((await digestsOfParts(place)).some((digest) => before.includes(digest)));

  await place.database.ask((sql) => sql`DROP TRIGGER closed ON granary_segments`);
  await until(engine, () => engine.store.purgePending.size === 0);
  const after = await digestsOfParts(place);
  assert.deepEqual(
    after.filter((digest) => before.includes(digest)),
    [],
    'no part of a segment from before is left',
  );
  await uploads.settle();
  await assertStored(place, 'a', engine);
  await engine.abandon();
  const other = await place.open('b');
  assert.equal(recalled(other, 1, 'thing').length, 15);
  await other.close();
});

onPlace('a merged segment is uploaded before it takes the place of others', async (place, t) => {
  const engine = await place.open('a');
  const { index, counters, uploads } = engine.store;
  assert.ok(uploads !== undefined);
  /** Files that another node would lack, right after each merge. */
  const lacking: number[] = [];
  const commit = index.commit.bind(index);
  t.mock.method(index, 'commit', (change: SegmentChange) => {
    commit(change);
    if (change.kind === 'merge') lacking.push(uploads.pending);
  });
  await fill(engine, MERGE_FANOUT);
  await until(engine, () => counters.merges > 0);
  assert.deepEqual(lacking, [0]);
  await engine.close();
});

onPlace(
  'a node that fetches a shard ahead finds all of it when it takes the shard, and no wait for uploads comes between',
  async (place) => {
    const first = await place.open('a');
    const hashes = await fill(first);
    await first.prepareMove();
    const ahead = {
      directory: join(place.root, 'b', 'shard-0'),
      stamp: { formatVersion: FORMAT_VERSION, shard: 0, shards: 1 },
      database: { url: place.url, node: 'b', leaseMs: 60_000 },
    };
    await fetchAhead(ahead);
    for (const { name, digest } of await rowsIn(place))
      assert.ok(await hasDigest(join(ahead.directory, name), digest), name);
    // The owner goes on: it adds, erases, rewrites segments, and seals.
    hashes.push(await addBelief(first, 1, { subject: 'more', object: 'thing more' }));
    await first.write('compact', context, {});
    hashes.push(await addBelief(first, 1, { subject: 'late', object: 'thing late' }));
    // Once more, from what is here.
    await fetchAhead(ahead);
    const [gone] = hashes.splice(0, 1);
    await first.write('forget', context, { hashes: [gone!], check: false });
    hashes.push(await addBelief(first, 1, { subject: 'last', object: 'thing last' }));
    await first.prepareMove();
    const [uploads, tail] = [first.store.uploads!, first.store.index.tailGrains];
    uploads.settleWithin = () => assert.fail('a close after that waits for no upload');
    hashes.push(await addBelief(first, 1, { subject: 'unsealed', object: 'thing unsealed' }));
    await first.close();
    assert.equal(tail, 0);

    const second = await place.open('b');
    assert.equal(second.store.index.tailGrains, 1, 'only what came last is replayed');
    assert.deepEqual(recalled(second, 1, 'thing').sort(), [...hashes].sort());
    assert.deepEqual((await second.write('verify', context, {})).findings, []);
    assert.deepEqual(second.read('health', context, undefined as never).reasons, []);
    await second.write('compact', context, {});
    await assertStored(place, 'b', second);
    await second.close();
  },
);
