import assert from 'node:assert/strict';
import fs, {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { NO_POSTGRES, savedState, sharedPostgres, testDatabase } from '../../../../test/support/postgres.ts';
import { TcpProxy } from '../../../../test/support/tcp-proxy.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { TEMPORARY_SUFFIX } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import {
  CHANGES_KEPT_APPENDS,
  COPY_SPARE_ROOM_BYTES,
  DATABASE_ANSWER_MS,
  DATABASE_CLOSING_MS,
} from '../../base/limits.ts';
import { openLmdbLog } from '../lmdb/lmdb-log.ts';
import { logConformance } from '../log.conformance.ts';
import type { Log } from '../log.ts';
import { COPY_MARK_FILE, fillCopy, fillCopyAhead, fillSpareCopy, reportedWentBack } from './copy.ts';
import { Database } from './database.ts';
import { Lease, ownerNow } from './lease.ts';
import { LeaseTable } from './lease-table.ts';
import { migrate, openStore } from './migrate.ts';
import { openPostgresLog, openPostgresShard } from './postgres-log.ts';
import { pruneChanges } from './prune.ts';
import { StoredFiles } from './stored-files.ts';

const SHARDS = 1_000;
const BACKUP = '-copy';
const LEASE_MS = 60_000;
const stampOf = (shard: number) => ({ formatVersion: 1, shard, shards: SHARDS });

/** The suite of every log. `onOpen` gets the folder of the local copy before the log is opened. */
function conformance(name: string, onOpen: (directory: string) => void): void {
  if (NO_POSTGRES !== undefined) {
    test(`${name} log`, { skip: NO_POSTGRES }, () => undefined);
    return;
  }
  let opening: Promise<Database> | undefined;
  const openDatabase = async (): Promise<Database> => {
    const { url } = await (await sharedPostgres()).database();
    const database = await Database.open(url);
    await migrate(database, SHARDS);
    return database;
  };
  after(async () => (await opening)?.close());
  const shards = new Map<string, number>();
  logConformance(name, {
    async open(directory) {
      const of = directory.endsWith(BACKUP) ? directory.slice(0, -BACKUP.length) : directory;
      const shard = shards.get(of) ?? shards.size;
      shards.set(of, shard);
      // A backup is the log of a server without a database.
      const isBackup = of !== directory && existsSync(join(directory, 'data.mdb'));
      if (isBackup) return openLmdbLog(directory, { stamp: stampOf(shard), exists: true });
      opening ??= openDatabase();
      onOpen(directory);
      return openPostgresLog(directory, {
        stamp: stampOf(shard),
        node: 'a',
        leaseMs: LEASE_MS,
        database: (await opening).retain(),
      });
    },
  });
}

conformance('postgres', () => undefined);
conformance('postgres without its copy', (directory) => rmSync(directory, { recursive: true, force: true }));

/** A migrated database, and how the log of shard 0 is opened in it. Undefined where there is no PostgreSQL. */
async function setUp(t: TestContext) {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, SHARDS);
  const folder = temporaryDirectory(t);
  const open = (node: string): Promise<Log> =>
    openPostgresLog(join(folder, node), { stamp: stampOf(0), node, leaseMs: LEASE_MS, database: database.retain() });
  return { database, folder, open, url: found.url };
}

/** A test on such a database; it is skipped where there is no PostgreSQL. */
function onDatabase(
  name: string,
  run: (set: NonNullable<Awaited<ReturnType<typeof setUp>>>, t: TestContext) => Promise<void>,
) {
  test(name, async (t) => {
    const set = await setUp(t);
    if (set !== undefined) await run(set, t);
  });
}

/** Takes the shard as `node` and brings its copy up to date. Nothing is open afterwards. */
async function fill(database: Database, folder: string, node: string) {
  const stamp = stampOf(0);
  const { mark } = await openStore(database);
  const lease = await Lease.take(database, { stamp, node, leaseMs: LEASE_MS });
  try {
    const options = { directory: join(folder, node), stamp, store: mark, taken: lease.taken };
    const { isKept, records, wentBack, settled } = await fillCopy(database, options);
    await settled;
    return wentBack ? { isKept, records, wentBack } : { isKept, records };
  } finally {
    await lease.release();
  }
}

function contentOf(log: Log): unknown {
  const records = [...log.scan(1)].map((record) => {
    assert.ok(!(record instanceof EngineError));
    return [record.sequence, Buffer.from(record.bytes).toString()];
  });
  return { records, state: [...log.scanState('')].map(([key, value]) => [key, Buffer.from(value).toString()]) };
}

const bytes = (text: string): Buffer => Buffer.from(text);

/** Appends that add, replace and remove, by number. */
async function appendSome(log: Log, from: number, to: number): Promise<void> {
  for (let i = from; i <= to; i++) {
    const next = log.nextSequence;
    await log.append({
      records: [bytes(`a${i}`), bytes(`b${i}`)],
      replacements: next > 4 ? [[next - 3, bytes(`replaced ${i}`)]] : [],
      removals: next > 4 ? [next - 4] : [],
      state: [
        ['count', bytes(String(i))],
        [`at/${i % 5}`, i % 2 === 0 ? null : bytes(String(i))],
      ],
    });
  }
}

onDatabase('a node fetches what another one appended, and gives the same log', async ({ database, folder, open }) => {
  const a = await open('a');
  await appendSome(a, 1, 20);
  await a.close();
  assert.deepEqual(await fill(database, folder, 'b'), { isKept: false, records: 22 });
  const b = await open('b');
  await appendSome(b, 21, 40);
  const wanted = contentOf(b);
  await b.close();
  const filled = await fill(database, folder, 'a');
  // 20 replaced, 20 removed, 40 new ones of which 19 were removed: far fewer than all.
  assert.equal(filled.isKept, true);
  assert.ok(filled.records < 60, `${filled.records} records`);
  const again = await open('a');
  assert.deepEqual(contentOf(again), wanted);
  assert.equal(again.nextSequence, 81);
  await again.close();
  assert.deepEqual(await fill(database, folder, 'a'), { isKept: true, records: 0 });
});

onDatabase(
  'records and files go to the database at a third more than their bytes',
  async ({ folder, url, open }, t) => {
    const proxy = await TcpProxy.to(t, Number(new URL(url).port));
    const near = new URL(url);
    near.port = String(proxy.port);
    const database = await Database.open(near.href);
    const log = await openPostgresLog(join(folder, 'a'), { stamp: stampOf(0), node: 'a', leaseMs: LEASE_MS, database });
    t.after(() => log.close());
    // Of every length about a group of base64, and every byte.
    const records = Array.from({ length: 255 }, (_, i) => Buffer.alloc(400 + i).map((_, at) => at * (i + 1)));
    await log.append({ records: [Buffer.from('the statement is prepared')] });
    const beforeBytes = proxy.takenBytes;
    const first = await log.append({ records });
    const ratio = (proxy.takenBytes - beforeBytes) / Buffer.concat(records).length;
    assert.ok(ratio < 1.4, `the database got ${ratio} times the bytes of an append`);
    const content = Buffer.concat(records);
    writeFileSync(join(folder, 'file'), content);
    const files = new StoredFiles(database, { shard: 0, token: 1 });
    const startBytes = proxy.takenBytes;
    const stored = await files.put('segments/file', join(folder, 'file'), () => true);
    const fileRatio = (proxy.takenBytes - startBytes) / content.length;
    assert.ok(fileRatio < 1.4, `the database got ${fileRatio} times the bytes of a file`);
    assert.equal(await files.fetch(stored, join(folder, 'fetched')), undefined);
    assert.deepEqual(readFileSync(join(folder, 'fetched')), content);
    await log.close();
    const again = await open('b');
    for (const [i, record] of records.entries()) assert.deepEqual(Buffer.from(again.read(first + i)!), record);
    await again.close();
  },
);

onDatabase('a copy that was filled from a damaged record or value is filled again, until it is whole', async (set) => {
  const { database, folder, open } = set;
  const a = await open('a');
  await appendSome(a, 1, 5);
  const wanted = contentOf(a);
  await a.close();
  assert.equal((await fill(database, folder, 'kept')).isKept, false);
  for (const table of ['granary_records', 'granary_state'] as const) {
    const place = table === 'granary_records' ? 'sequence = 10' : `key = 'count'`;
    const flip = () =>
      database.ask((sql) =>
        sql.unsafe(
          `UPDATE ${table} SET frame = set_byte(frame, 0, get_byte(frame, 0) # 1) WHERE shard = 0 AND ${place}`,
        ),
      );
    await flip();
    const node = `of ${table}`;
    assert.equal((await fill(database, folder, node)).isKept, false);
    assert.equal((await fill(database, folder, node)).isKept, false, 'the database has it damaged still');
    await flip();
    assert.equal((await fill(database, folder, node)).isKept, false);
    assert.equal((await fill(database, folder, node)).isKept, true);
    const log = await open(node);
    assert.deepEqual(contentOf(log), wanted);
    await log.close();
  }
  assert.equal((await fill(database, folder, 'kept')).isKept, true, 'one that had nothing to do with it');
});

onDatabase('a copy that was fetched ahead misses nothing that its owner prunes meanwhile', async (set) => {
  const { database, folder, open } = set;
  const stamp = stampOf(0);
  const { mark: store } = await openStore(database);
  const first = await open('b');
  const sequence = await first.append({ records: [bytes('stays'), bytes('is forgotten'), bytes('is sealed again')] });
  await first.append({ records: [], state: [['key', bytes('value')]] });
  await first.close();
  const owner = await open('a');
  const seen = await ownerNow(database, 0);
  await owner.append({ records: [], removals: [sequence + 1], replacements: [[sequence + 2, bytes('sealed')]] });
  await owner.append({ records: [], state: [['key', null]] });
  for (let i = 0; i < 3; i++) await owner.append({ records: [bytes(`${i}`)] });
  const now = (await ownerNow(database, 0))!;
  await pruneChanges(database, { shard: 0, token: now.token }, now.appends - 1);
  const wanted = contentOf(owner);
  const ahead = { directory: join(folder, 'b'), stamp, store, taken: { ...now, pruned: seen!.pruned } };
  await fillCopyAhead(database, ahead);
  await owner.close();
  const next = await open('b');
  assert.deepEqual(contentOf(next), wanted);
  await next.close();
});

onDatabase('a copy that is distrusted before it is durable stays so', async ({ database, folder, open, url }) => {
  const log = await open('a');
  await appendSome(log, 1, 50);
  await log.close();
  const directory = join(folder, 'b');
  const shard = await openPostgresShard(directory, stampOf(0), { url, node: 'b', leaseMs: LEASE_MS });
  shard.copy.distrust();
  await shard.log.close();
  assert.equal(existsSync(join(directory, COPY_MARK_FILE)), false);
  assert.equal((await fill(database, folder, 'b')).isKept, false);
});

onDatabase('a copy is closed again when its files cannot be compared', async ({ database, folder, open }, t) => {
  if (process.platform !== 'linux') return t.skip('open files are read from /proc');
  const stamp = stampOf(0);
  const { mark: store } = await openStore(database);
  const derived = join(folder, 'shard');
  const directory = join(derived, 'log');
  const log = await open('a');
  await appendSome(log, 1, 5);
  const taken = (await ownerNow(database, 0))!;
  const options = { directory, stamp, store, taken, derived };
  await fillCopyAhead(database, options);
  await log.close();
  // One is asked for the owner, and the next for the files.
  const ask = database.ask.bind(database);
  for (const fillAs of [fillCopyAhead, fillCopy]) {
    let asked = 0;
    const failing = t.mock.method(database, 'ask', (...given: Parameters<typeof ask>) => {
      asked += 1;
      return asked === 2 ? Promise.reject(new Error('gone')) : ask(...given);
    });
    await assert.rejects(fillAs(database, options), /gone/);
    failing.mock.restore();
    const files = readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith(directory));
    assert.deepEqual(files, [], fillAs.name);
  }
});

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // It was that of the listing.
    return '';
  }
}

onDatabase('a filling that broke off before the files came is no sign that the database went back', async (set) => {
  const { database, folder, open } = set;
  const stamp = stampOf(0);
  const { mark: store } = await openStore(database);
  const derived = join(folder, 'shard');
  const directory = join(derived, 'log');
  const fillAs = async (node: string) => {
    const lease = await Lease.take(database, { stamp, node, leaseMs: LEASE_MS });
    try {
      const filled = await fillCopy(database, { directory, stamp, store, taken: lease.taken, derived });
      await filled.settled;
      return filled;
    } finally {
      await lease.release();
    }
  };
  const appended = async (from: number) => {
    const other = await open('a');
    await appendSome(other, from, from + 5);
    await other.close();
  };
  await appended(1);
  await fillAs('b');
  await appended(6);
  const owner = await Lease.take(database, { stamp, node: 'c', leaseMs: LEASE_MS });
  writeFileSync(join(folder, 'file'), 'of the index');
  await new StoredFiles(database, { shard: 0, token: owner.taken.token }).put(
    'vectors/file',
    join(folder, 'file'),
    () => true,
  );
  await owner.release();
  // A folder where the file is to be written.
  const inTheWay = join(derived, 'vectors', `file${TEMPORARY_SUFFIX}`);
  mkdirSync(inTheWay, { recursive: true });
  await assert.rejects(fillAs('b'), { code: 'STO-E001' });
  rmSync(inTheWay, { recursive: true });
  const { isKept, wentBack } = await fillAs('b');
  assert.deepEqual({ isKept, wentBack }, { isKept: true, wentBack: false });
  assert.deepEqual(readdirSync(join(derived, 'vectors')), ['file']);
});

onDatabase('that the database went back is known until it was told, whatever fails meanwhile', async (set) => {
  const { database, folder, open } = set;
  const stamp = stampOf(0);
  const { mark: store } = await openStore(database);
  const directory = join(folder, 'a');
  const first = await open('a');
  await appendSome(first, 1, 5);
  await first.close();
  const restore = await savedState(database);
  const later = await open('a');
  await appendSome(later, 6, 9);
  await later.close();
  await restore();
  const other = await open('b');
  await appendSome(other, 6, 7);
  const taken = (await ownerNow(database, 0))!;
  await fillCopyAhead(database, { directory, stamp, store, taken });
  await other.close();
  for (const _ of ['a failed opening', 'the next one'])
    assert.equal((await fill(database, folder, 'a')).wentBack, true);
  reportedWentBack(directory);
  assert.equal((await fill(database, folder, 'a')).wentBack, undefined);
});

onDatabase('a copy that was fetched ahead keeps no file that its owner gave up meanwhile', async (set) => {
  const { database, folder } = set;
  const stamp = stampOf(0);
  const { mark: store } = await openStore(database);
  const owner = await Lease.take(database, { stamp, node: 'a', leaseMs: LEASE_MS });
  const stored = new StoredFiles(database, { shard: 0, token: owner.taken.token });
  for (const name of ['gone', 'kept']) {
    writeFileSync(join(folder, name), name);
    await stored.put(`vectors/${name}`, join(folder, name), () => true);
  }
  const derived = join(folder, 'shard');
  const ahead = { directory: join(derived, 'log'), stamp, store, taken: owner.taken, derived };
  await fillCopyAhead(database, ahead);
  assert.deepEqual(readdirSync(join(derived, 'vectors')), ['gone', 'kept']);
  await stored.keep(new Set(['vectors/kept']));
  await owner.release();
  const next = await Lease.take(database, { stamp, node: 'b', leaseMs: LEASE_MS });
  const { isKept, settled } = await fillCopy(database, { ...ahead, taken: next.taken });
  await settled;
  await next.release();
  assert.equal(isKept, true);
  assert.deepEqual(readdirSync(join(derived, 'vectors')), ['kept']);
});

onDatabase('a shard has one owner, and its former owner appends nothing', async ({ database, open }) => {
  const a = await open('a');
  await a.append({ records: [bytes('of a')] });
  await assert.rejects(open('b'), { code: 'STO-E002', message: /held by node a; its lease ends in \d+ s/ });
  // As if its lease had ended while it was stopped.
  await database.ask((sql) => sql`UPDATE granary_shards SET expires_at = now() WHERE shard = 0`);
  const b = await open('b');
  assert.deepEqual(contentOf(b), { records: [[1, 'of a']], state: [] });
  await assert.rejects(a.append({ records: [bytes('late')] }), {
    code: 'STO-E001',
    message: /shard 0 was taken by another node/,
  });
  assert.match(a.poisoned ?? '', /taken by another node/);
  assert.throws(() => a.checkOwner?.(), { code: 'STO-E001' });
  await b.append({ records: [bytes('of b')] });
  await a.close();
  assert.deepEqual(contentOf(b), { records: [[1, 'of a'], [2, 'of b']], state: [] }); // biome-ignore format: one row
  await b.close();
});

onDatabase(
  'a copy of a database that went back is not trusted, even when the database has grown past it',
  async ({ database, folder, open }) => {
    const a = await open('a');
    await appendSome(a, 1, 5);
    await a.close();
    const restore = await savedState(database);
    const later = await open('a');
    await appendSome(later, 6, 9);
    await later.close();
    await restore();
    const b = await open('b');
    for (let i = 0; i < 10; i++) await b.append({ records: [bytes(`other ${i}`)] });
    const wanted = contentOf(b);
    await b.close();
    assert.deepEqual(await fill(database, folder, 'b'), { isKept: true, records: 0 });
    const { isKept, wentBack } = await fill(database, folder, 'a');
    assert.deepEqual([isKept, wentBack], [false, true]);
    const again = await open('a');
    assert.deepEqual(contentOf(again), wanted);
    await again.close();
  },
);

onDatabase('a copy of another deployment, or a damaged one, is filled again', async ({ database, folder, open }) => {
  const a = await open('a');
  await appendSome(a, 1, 5);
  const wanted = contentOf(a);
  await a.close();
  cpSync(join(folder, 'a'), join(folder, 'kept'), { recursive: true });
  await database.ask((sql) => sql`UPDATE granary_store SET mark = 'another'::bytea`);
  assert.equal((await fill(database, folder, 'a')).isKept, false);
  assert.equal((await fill(database, folder, 'a')).isKept, true);
  // The meta pages are at its start.
  const data = join(folder, 'a', 'data.mdb');
  cpSync(join(import.meta.dirname, 'schema.ts'), data);
  assert.equal((await fill(database, folder, 'a')).isKept, false);
  const again = await open('a');
  assert.deepEqual(contentOf(again), wanted);
  await again.close();
});

onDatabase(
  'pruned changes leave the content, and older copies are filled again',
  async ({ database, folder, open }) => {
    const old = await open('old');
    await appendSome(old, 1, 5);
    await old.close();
    const a = await open('a');
    await appendSome(a, 6, 20);
    const wanted = contentOf(a);
    await a.close();
    const lease = await Lease.take(database, { stamp: stampOf(0), node: 'a', leaseMs: LEASE_MS });
    await pruneChanges(database, { shard: 0, token: lease.taken.token - 1 }, 10);
    const counts = () =>
      database.ask(
        (sql) => sql`
        SELECT (SELECT count(*) FROM granary_changes) AS changes, (SELECT pruned FROM granary_shards) AS pruned,
          (SELECT count(*) FROM granary_records WHERE frame IS NULL) AS removed`,
      );
    assert.deepEqual({ ...(await counts())[0] }, { changes: '36', pruned: '0', removed: '18' });
    await pruneChanges(database, { shard: 0, token: lease.taken.token }, 10);
    assert.deepEqual({ ...(await counts())[0] }, { changes: '20', pruned: '10', removed: '10' });
    // As the network may bring a statement that was given up.
    await pruneChanges(database, { shard: 0, token: lease.taken.token }, 4);
    assert.deepEqual({ ...(await counts())[0] }, { changes: '20', pruned: '10', removed: '10' });
    await lease.release();
    assert.equal((await fill(database, folder, 'a')).isKept, true);
    assert.equal((await fill(database, folder, 'old')).isKept, false);
    assert.ok(CHANGES_KEPT_APPENDS > 1_000);
    for (const node of ['a', 'old', 'new']) {
      const log = await open(node);
      assert.deepEqual(contentOf(log), wanted, node);
      await log.close();
    }
  },
);

onDatabase(
  'an append whose answer was lost is written once, and acknowledged',
  async ({ database: direct, folder, url }, t) => {
    const proxy = await TcpProxy.to(t, Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(proxy.port);
    const database = await Database.open(through.href);
    t.after(() => database.close());
    const options = { stamp: stampOf(0), node: 'a', leaseMs: LEASE_MS };
    const log = await openPostgresLog(join(folder, 'a'), { ...options, database: database.retain() });
    await log.append({ records: [bytes('1')] });
    const isCommitted = async (sequence: number): Promise<boolean> => {
      const rows = await direct.ask((sql) => sql`SELECT 1 FROM granary_records WHERE sequence = ${sequence}`);
      return rows.length > 0;
    };
    for (const removals of [[], [1], [], [2]]) {
      // A connection learns each statement with an answer first.
      await log.append({ records: [bytes('before')] });
      await log.append({ records: [bytes('before')], removals: [1] });
      const next = log.nextSequence;
      proxy.loseAnswers();
      let isAnswered = false;
      const appending = log.append({ records: [bytes(`lost ${next}`)], removals }).then((first) => {
        isAnswered = true;
        return first;
      });
      await eventually('the append is committed', () => isCommitted(next));
      assert.equal(isAnswered, false);
      assert.equal(log.nextSequence, next);
      proxy.cut();
      assert.equal(await appending, next);
    }
    assert.equal(log.poisoned, undefined);
    const wanted = contentOf(log);
    await log.close();
    const again = await openPostgresLog(join(folder, 'new'), { ...options, database: database.retain() });
    assert.deepEqual(contentOf(again), wanted);
    assert.equal(again.nextSequence, 14);
    await again.close();
  },
);

onDatabase(
  'a committed append whose answer was lost is acknowledged even if another node has taken the shard',
  async ({ database: direct, folder, url, open }, t) => {
    const proxy = await TcpProxy.to(t, Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(proxy.port);
    const database = await Database.open(through.href);
    t.after(() => database.close());
    const options = { stamp: stampOf(0), node: 'a', leaseMs: LEASE_MS };
    const log = await openPostgresLog(join(folder, 'a'), { ...options, database: database.retain() });
    await log.append({ records: [bytes('1')] });
    proxy.loseAnswers();
    const appending = log.append({ records: [bytes('2')] });
    await eventually('the append is committed', async () => {
      const rows = await direct.ask((sql) => sql`SELECT sequence FROM granary_records`);
      return rows.length === 2;
    });
    await direct.ask((sql) => sql`UPDATE granary_shards SET expires_at = now() WHERE shard = 0`);
    const b = await open('b');
    proxy.cut();
    assert.equal(await appending, 2);
    await assert.rejects(log.append({ records: [bytes('3')] }), { code: 'STO-E001' });
    await log.close();
    assert.deepEqual(contentOf(b), { records: [[1, '1'], [2, '2']], state: [] }); // biome-ignore format: one row
    await b.close();
  },
);

onDatabase('a log that closes gives up an append whose outcome is unknown', async ({ folder, url, open }, t) => {
  for (const away of ['stop', 'loseAnswers'] as const) {
    const proxy = await TcpProxy.to(t, Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(proxy.port);
    const database = await Database.open(through.href);
    t.after(() => database.close());
    const options = { stamp: stampOf(0), node: 'a', leaseMs: LEASE_MS };
    const log = await openPostgresLog(join(folder, 'a'), { ...options, database: database.retain() });
    await log.append({ records: [bytes('1')] });
    const { nextSequence } = log;
    proxy[away]();
    const beganMs = performance.now();
    const appending = assert.rejects(log.append({ records: [bytes('2')] }), {
      code: 'STO-E001',
      message: /outcome is unknown/,
    });
    await log.close();
    await appending;
    assert.ok(performance.now() - beganMs < DATABASE_ANSWER_MS, 'it does not wait as long as for an answer');
    const again = await open('a');
    assert.ok(again.nextSequence === nextSequence || again.nextSequence === nextSequence + 1);
    await again.close();
  }
});

onDatabase('connections that are closed end what waits for an answer', async ({ url }, t) => {
  const proxy = await TcpProxy.to(t, Number(new URL(url).port));
  const through = new URL(url);
  through.port = String(proxy.port);
  const database = await Database.open(through.href);
  await database.ask((sql) => sql`SELECT 1`);
  proxy.loseAnswers();
  const asked = assert.rejects(
    database.ask((sql) => sql`SELECT 1`),
    /connections to the database were closed/,
  );
  await database.close();
  await asked;
});

onDatabase('a log that takes long to close goes on with appends that are answered', async ({ open }, t) => {
  const log = await open('a');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const appending = log.append({ records: [bytes('1')] });
  log.closing?.();
  await appending;
  t.mock.timers.tick(DATABASE_CLOSING_MS);
  t.mock.timers.reset();
  assert.equal(log.poisoned, undefined);
  await log.append({ records: [bytes('2')] });
  await log.close();
});

/** The part of a log over LMDB that commits. */
interface Committing {
  readonly databases: { readonly stamp: { ifVersion: () => Promise<boolean> } };
  apply(...input: unknown[]): Promise<void>;
}

/** Commits into every copy of this thread fail as on a broken disk, until the function that it returns is called. */
async function breakCommits(t: TestContext): Promise<() => void> {
  const log = openLmdbLog(temporaryDirectory(t), { stamp: stampOf(0) });
  const kind: Committing = Object.getPrototypeOf(log);
  await log.close();
  const { apply } = kind;
  const broken = t.mock.method(kind, 'apply', function (this: Committing, ...input: unknown[]) {
    this.databases.stamp.ifVersion = failCommit;
    return apply.apply(this, input);
  });
  return () => broken.mock.restore();
}

/** As the library does it. */
function failCommit(): Promise<never> {
  const commitError = Promise.reject(Object.assign(new Error('Input/output error'), { code: 5 }));
  commitError.catch(() => undefined);
  return Promise.reject(Object.assign(new Error('Commit failed (see commitError for details)'), { commitError }));
}

onDatabase('a log whose copy takes no commit is opened again, with a new copy', async ({ database, folder }, t) => {
  const leases = LeaseTable.of(1);
  const directory = join(folder, 'a');
  const open = (): Promise<Log> =>
    openPostgresLog(directory, {
      stamp: stampOf(0),
      node: 'a',
      leaseMs: LEASE_MS,
      leases: leases.buffer,
      database: database.retain(),
    });
  const first = await open();
  await appendSome(first, 1, 20);
  await eventually('the copy is trusted', () => existsSync(join(directory, COPY_MARK_FILE)));
  const mend = await breakCommits(t);
  await appendSome(first, 21, 22);
  await eventually('the shard is to be opened again', () => leases.isSpoiled(0));
  await assert.rejects(appendSome(first, 23, 23), /STO-E001.*Input\/output error/);
  assert.equal(existsSync(join(directory, COPY_MARK_FILE)), false, 'its copy is not trusted');
  mend();
  const wanted = contentOf(first);
  await first.close();
  const second = await open();
  assert.equal(leases.isSpoiled(0), false);
  assert.deepEqual(contentOf(second), wanted);
  await appendSome(second, 23, 40);
  await second.close();
});

onDatabase('a copy beside the one in use that is given up waits for no answer of the database', async (set, t) => {
  const { database, folder, url } = set;
  const proxy = await TcpProxy.to(t, Number(new URL(url).port));
  const proxied = new URL(url);
  proxied.port = String(proxy.port);
  const directory = join(folder, 'a');
  const shard = await openPostgresShard(directory, stampOf(0), { url: proxied.href, node: 'a', leaseMs: LEASE_MS });
  await appendSome(shard.log, 1, 20);
  const { mark: store } = await openStore(database);
  const taken = (await ownerNow(database, 0))!;
  const slow = await Database.open(proxied.href);
  await slow.ask((sql) => sql`SELECT 1`);
  proxy.blackHole();
  const ending = new AbortController();
  const askingForTheOwner = shard.copy.fillAgain(ending.signal);
  const readingPages = fillSpareCopy(slow, { directory, stamp: stampOf(0), store, taken }, ending.signal);
  await new Promise((resolve) => setImmediate(resolve));
  ending.abort();
  // And not the error of a database that did not answer in time.
  await assert.rejects(askingForTheOwner, { name: 'AbortError' });
  await assert.rejects(readingPages, { name: 'AbortError' });
  assert.deepEqual(readdirSync(folder), ['a']);
  proxy.heal();
  await shard.log.close();
  await slow.close();
});

onDatabase('a copy is filled beside the one in use only if the disk has room for both', async (set, t) => {
  const { database, folder, open } = set;
  const log = await open('a');
  await appendSome(log, 1, 20);
  const directory = join(folder, 'a');
  const { mark: store } = await openStore(database);
  const options = { directory, stamp: stampOf(0), store, taken: (await ownerNow(database, 0))! };
  const { signal } = new AbortController();
  const { bsize } = fs.statfsSync(folder);
  const bytes = fs.statSync(join(directory, 'data.mdb')).size + COPY_SPARE_ROOM_BYTES;
  let bavail = Math.ceil(bytes / bsize) - 1;
  const disk = t.mock.method(fs, 'statfsSync', () => ({ bavail, bsize }));
  syncBuiltinESMExports();
  try {
    assert.equal(await fillSpareCopy(database, options, signal), 'no room');
    assert.deepEqual(readdirSync(folder), ['a']);
    bavail += 1;
    assert.equal(await fillSpareCopy(database, options, signal), 'filled');
  } finally {
    disk.mock.restore();
    syncBuiltinESMExports();
  }
  await log.close();
});
