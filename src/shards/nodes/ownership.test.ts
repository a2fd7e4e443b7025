import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { testDatabase } from '../../../test/support/postgres.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { NODE_LOOK_MS } from '../../engine/base/limits.ts';
import { FORMAT_VERSION } from '../../engine/log/format.ts';
import { Database } from '../../engine/log/postgres/database.ts';
import { drainNode, enterNode, readFleet } from '../../engine/log/postgres/fleet.ts';
import { LeaseTable } from '../../engine/log/postgres/lease-table.ts';
import { migrate } from '../../engine/log/postgres/migrate.ts';
import { fetchAhead, openEngine } from '../../engine/open.ts';
import type { CallContext } from '../protocol.ts';
import { ADD_CODEC, addCodec } from '../testing/add-codec.ts';
import { SETTINGS } from '../testing/memory.ts';
import { LocalShards } from '../transport/local.ts';
import { Ownership } from './ownership.ts';
import { RoutedShard } from './routed-shard.ts';

const SHARDS = 4;
/** Long enough for a busy machine: no lease ends in these tests. */
const LEASE_MS = 30_000;
const ENTRY = { id: 'a', address: 'a:1', httpPort: 0, grpcPort: 0, version: '0', protocol: 1, weight: 1 };
const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };

interface TestNode {
  readonly id: string;
  readonly routes: readonly RoutedShard[];
  readonly ownership: Ownership;
  readonly set: LocalShards;
  owned(): number;
  stop(): Promise<void>;
}

/** A database of one shard. */
async function oneShard(t: TestContext): Promise<Database | undefined> {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const database = await Database.open(found.url);
  await migrate(database, 1);
  return database;
}

/**
 * The ownership of a node that opens its shard by `open`, which never succeeds. `told` gets what it logs. `end` ends it and its
 * database, at the latest after the test.
 */
function withoutShards(
  t: TestContext,
  database: Database,
  { open, isOpen = () => false, told = [] }: { open: () => Promise<never>; isOpen?: () => boolean; told?: string[] },
): { ownership: Ownership; end: () => Promise<void> } {
  const ownership = new Ownership({
    self: ENTRY,
    database,
    leaseMs: LEASE_MS,
    routes: [new RoutedShard(0)],
    set: {
      open,
      closeShard: () => Promise.resolve(),
      fetch: () => Promise.resolve(),
      prepare: () => Promise.resolve(),
      isOpen,
      caller: () => assert.fail('nothing is open'),
    },
    leases: LeaseTable.of(1),
    callerAt: () => ({ call: () => assert.fail('no node answers'), callRaw: () => assert.fail('no node answers') }),
    tellNode: () => undefined,
    log: { info: (_, message) => void told.push(message), error: (_, message) => void told.push(message) },
  });
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => (ending ??= ownership.stop(0).then(() => database.close()));
  t.after(end);
  return { ownership, end };
}

/** A database, and nodes of one process that call one another without a connection. */
async function setUp(t: TestContext) {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, SHARDS);
  const root = temporaryDirectory(t);
  const nodes = new Map<string, TestNode>();
  const start = async (id: string, weight = 1): Promise<TestNode> => {
    const leases = LeaseTable.of(SHARDS);
    const set = await LocalShards.start({
      shards: SHARDS,
      opens: 'asked',
      lapsed: (shard) => (leases.isHeld(shard) || leases.isGivenBack(shard) ? undefined : 'the lease has ended'),
      engineOptions: (shard) => ({
        directory: join(root, id, `shard-${shard}`),
        keysDirectory: join(root, id, 'keys', `shard-${shard}`),
        shard,
        shards: SHARDS,
        masterKeys: [Buffer.alloc(32, 7)],
        indexHeapBytes: 1 << 20,
        database: { url: found.url, node: id, leaseMs: LEASE_MS, leases: leases.buffer },
      }),
      openEngine: (options, { onBug }) => openEngine({ ...options, onFatal: onBug }),
      fetchShard: (options) => fetchAhead(options),
      codecs: { [ADD_CODEC]: addCodec },
      log: { info: () => undefined, error: () => undefined },
    });
    const routes = Array.from(
      { length: SHARDS },
      // Calls wait for moves however long a busy machine takes.
      (_, shard) => new RoutedShard(shard, { onElsewhere: () => ownership.wake(), movesMs: 600_000 }),
    );
    const ownership: Ownership = new Ownership({
      self: { id, address: `${id}:1`, httpPort: 0, grpcPort: 0, version: '0', protocol: 1, weight },
      database,
      leaseMs: LEASE_MS,
      routes,
      set,
      leases,
      callerAt: (node, shard) => nodes.get(node.id)!.routes[shard]!.here,
      tellNode: (node, notice) => nodes.get(node.id)?.ownership.heard(id, notice),
      log: {
        info: () => undefined,
        error: (fields, message) => t.diagnostic(`${id}: ${message} ${JSON.stringify(fields)}`),
      },
    });
    const owned = (): number => routes.filter(({ route }) => route.kind === 'here').length;
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (isStopped) return;
      isStopped = true;
      await ownership.stop(10_000);
      await set.close();
    };
    const node = { id, routes, ownership, set, owned, stop };
    nodes.set(id, node);
    t.after(stop);
    await ownership.start();
    return node;
  };
  return { database, root, start };
}

test('nodes share the shards, and no call fails while they move', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { database, start } = set;
  const a = await start('a');
  // Calls wait until the shards are there.
  for (const { caller } of a.routes) await caller.call('attachMemory', CONTEXT, { settings: SETTINGS });
  assert.equal(a.owned(), SHARDS);

  const added: { readonly shard: number; readonly hash: string }[] = [];
  let count = 0;
  let isOver = false;
  const load = async (node: TestNode): Promise<void> => {
    while (!isOver) {
      const shard = count % SHARDS;
      const item = { grainType: 'event', fields: { content: `grain ${count++}`, created_at: 1_700_000_000 } };
      const { caller } = node.routes[shard]!;
      // The load is not what the test is about.
      await new Promise((resolve) => setTimeout(resolve, 2));
      const { bytes } = await caller.callRaw(ADD_CODEC, CONTEXT, Buffer.from(JSON.stringify(item)));
      added.push({ shard, hash: Buffer.from(bytes).toString() });
    }
  };
  const loads = Array.from({ length: 4 }, () => load(a));
  const b = await start('b');
  loads.push(load(b), load(b));
  await eventually('b has its share', () => a.owned() === 2 && b.owned() === 2);
  const c = await start('c', 2);
  loads.push(load(c));
  await eventually('c has its share', () => a.owned() === 1 && b.owned() === 1 && c.owned() === 2);

  await drainNode(database, 'a', true);
  await eventually('a has none', () => a.owned() === 0 && b.owned() + c.owned() === SHARDS);
  await drainNode(database, 'a', false);
  await eventually('a has one again', () => a.owned() === 1);
  const before = added.length;
  await eventually('calls go on', () => added.length > before + 20);
  const stopping = b.stop();
  isOver = true;
  // A failed call rejects here.
  await Promise.all(loads);
  await stopping;
  await eventually('others have what b had', () => a.owned() + c.owned() === SHARDS);
  await eventually('b has left', () => a.ownership.fleet.nodes.every(({ id }) => id !== 'b'));

  assert.equal(new Set(added.map(({ hash }) => hash)).size, added.length);
  for (let shard = 0; shard < SHARDS; shard++) {
    const hashes = added.filter((one) => one.shard === shard).map(({ hash }) => hash);
    for (const { routes } of [a, c]) {
      const { held } = await routes[shard]!.caller.call('locate', CONTEXT, { hashes });
      assert.ok(held.every(Boolean), 'everything that was acknowledged is there');
    }
  }
  t.diagnostic(`${added.length} added while shards moved, 0 failed`);
  await a.stop();
  await c.stop();
});

test('people are erased while their shards move, and stay erased at the next owners', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { database, start } = set;
  const a = await start('a');
  for (const { caller } of a.routes) await caller.call('attachMemory', CONTEXT, { settings: SETTINGS });
  const erased: { readonly shard: number; readonly hash: string; readonly key: string; readonly user: string }[] = [];
  const kept: { readonly shard: number; readonly hash: string }[] = [];
  let count = 0;
  let isOver = false;
  const load = async (node: TestNode): Promise<void> => {
    while (!isOver) {
      const number = count++;
      const shard = number % SHARDS;
      const { caller } = node.routes[shard]!;
      const add = async (user: string) => {
        const fields = { subject: user, relation: 'is', object: `thing ${number}`, user_id: user };
        return (await caller.call('add', CONTEXT, { grainType: 'belief', fields, sync: false })).hash;
      };
      const user = `erased-${number}`;
      const hash = await add(user);
      kept.push({ shard, hash: await add(`kept-${number}`) });
      const proof = await caller.call('eraseUser', CONTEXT, { userId: user });
      assert.equal(proof.count, 1);
      erased.push({ shard, hash, key: proof.keyFingerprint!, user });
    }
  };
  const loads = [load(a), load(a)];
  const b = await start('b');
  loads.push(load(b));
  await eventually('b has its share', () => a.owned() === 2 && b.owned() === 2);
  await drainNode(database, 'a', true);
  await eventually('b has all', () => b.owned() === SHARDS);
  await drainNode(database, 'a', false);
  await eventually('a has some again', () => a.owned() === 2);
  const before = erased.length;
  await eventually('erasures go on', () => erased.length > before + 10);
  isOver = true;
  // A failed call rejects here.
  await Promise.all(loads);
  const codeOf = (shard: number, hash: string) =>
    a.routes[shard]!.caller.call('get', CONTEXT, { hash }).then(
      () => undefined,
      ({ code }: EngineError) => code,
    );
  const rows = await database.ask((sql) => sql`SELECT shard, slot FROM granary_keys`);
  const slots = rows.map((row) => `${row['shard']} ${row['slot'].toString('hex', 16, 24)}`);
  for (const { shard, hash, key, user } of erased) {
    assert.match((await codeOf(shard, hash)) ?? 'read', /^MEM-E00[16]$/, user);
    assert.ok(slots.includes(`${shard} ${key}`), 'the database has the tombstone of the key');
    const again = await b.routes[shard]!.caller.call('eraseUser', CONTEXT, { userId: user });
    assert.equal(again.keyFingerprint, key);
  }
  for (const { shard, hash } of kept) assert.equal(await codeOf(shard, hash), undefined);
  for (const { caller } of a.routes) assert.equal((await caller.call('verifyAudit', CONTEXT, {})).valid, true);
  t.diagnostic(`${erased.length} erased while shards moved`);
  await b.stop();
  await a.stop();
});

test('a node that comes back at another address, before its lease has ended, is asked there', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const a = await set.start('a');
  const b = await set.start('b');
  await eventually('b has its share', () => a.owned() === 2 && b.owned() === 2);
  const addresses = (): string[] =>
    a.routes.flatMap(({ route }) => (route.kind === 'there' ? [`${route.node} at ${route.address}`] : []));
  await eventually('a knows the way to b', () => addresses().length === 2);
  assert.deepEqual(addresses(), ['b at b:1', 'b at b:1']);
  await enterNode(set.database, {
    id: 'b',
    address: 'b:2',
    httpPort: 0,
    grpcPort: 0,
    version: '0',
    protocol: 1,
    weight: 1,
  });
  await eventually('a asks at the new address', () => addresses().join() === 'b at b:2,b at b:2');
  await a.stop();
  await b.stop();
});

test('a node that ends hands its shards over before it is gone', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const a = await set.start('a');
  const b = await set.start('b');
  await eventually('b has its share', () => a.owned() === 2 && b.owned() === 2);
  await a.stop();
  const { shards } = await readFleet(set.database);
  assert.deepEqual([...new Set(shards.map(({ owner }) => owner))], ['b']);
  // It may be opening the last one.
  await eventually('b has all', () => b.owned() === SHARDS);
  await b.stop();
});

test('a shard whose log takes nothing any more is opened again, and its calls wait', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { database, start } = set;
  const a = await start('a');
  const [route] = a.routes;
  const { caller } = route!;
  await caller.call('attachMemory', CONTEXT, { settings: SETTINGS });
  const add = (content: string) =>
    caller.call('add', CONTEXT, { grainType: 'event', fields: { content }, sync: false });
  const { hash } = await add('before');
  // As if somebody else had taken it and ended.
  await database.ask(
    (sql) => sql`UPDATE granary_shards SET token = token + 1, owner = NULL, expires_at = NULL WHERE shard = 0`,
  );
  await assert.rejects(add('refused'), { code: 'STO-E002' });
  await eventually('it takes writes again', () =>
    add('after').then(
      () => true,
      () => false,
    ),
  );
  assert.deepEqual((await caller.call('locate', CONTEXT, { hashes: [hash] })).held, [true]);
  await a.stop();
});

test('a shard that one node cannot open is served by another, and told; without another one its calls are refused', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  // A file lies where the copy of the shard's log would.
  mkdirSync(join(set.root, 'a'), { recursive: true });
  writeFileSync(join(set.root, 'a', 'shard-1'), 'no folder');
  const a = await set.start('a');
  const locate = (): Promise<unknown> => a.routes[1]!.caller.call('locate', CONTEXT, { hashes: [] });
  await eventually('a has the others', () => a.owned() === SHARDS - 1);
  await eventually('its calls are refused', () => a.routes[1]!.route.kind === 'nowhere');
  await assert.rejects(locate(), {
    code: 'STO-E002',
    message: /no node can open shard 1: .*cannot be opened: EEXIST in mkdir/,
  });
  const refused = async () => (await readFleet(set.database)).nodes.map((node) => [node.id, node.refused.map(({ shard }) => shard)]); // biome-ignore format: one row
  await eventually('the others know', async () => JSON.stringify(await refused()) === '[["a",[1]]]');

  const b = await set.start('b');
  await eventually('b has it', () => b.routes[1]!.route.kind === 'here' && a.routes[1]!.route.kind === 'there');
  // It answers: it has no such memory.
  await assert.rejects(locate(), { code: 'MEM-E003' });
  await eventually('both have their share', () => a.owned() === 2 && b.owned() === 2);
  assert.equal(b.routes[1]!.route.kind, 'here');
  assert.deepEqual(await refused(), [['a', [1]], ['b', []]]); // biome-ignore format: one row
  await a.stop();
  await b.stop();
});

test('a shard that cannot be opened is tried again, and not at once', async (t) => {
  const database = await oneShard(t);
  if (database === undefined) return;
  const tries: number[] = [];
  const told: string[] = [];
  const open = () => {
    tries.push(performance.now());
    return Promise.reject(new EngineError('STO-E001', 'no room'));
  };
  const { ownership, end } = withoutShards(t, database, { open, told });
  await ownership.start();
  await eventually('it was tried several times', () => {
    // Others may ask for a look at any time.
    ownership.wake();
    return tries.length >= 4;
  });
  await end();
  for (const [i, atMs] of tries.entries()) assert.ok(i === 0 || atMs - tries[i - 1]! >= NODE_LOOK_MS);
  assert.deepEqual(told, ['this node cannot take a shard: another node may, and this one keeps trying']);
});

test('what the database refuses again and again is told once, and its end', async (t) => {
  const database = await oneShard(t);
  if (database === undefined) return;
  await database.ask(
    (sql) => sql`ALTER TABLE granary_nodes ADD CONSTRAINT no_refusals CHECK (refused = '[]' OR node <> 'a')`,
  );
  const told: string[] = [];
  let looks = 0;
  const open = () => Promise.reject(new EngineError('STO-E001', 'no room'));
  const isOpen = () => {
    looks += 1;
    return false;
  };
  const { ownership, end } = withoutShards(t, database, { open, isOpen, told });
  await ownership.start();
  const looked = async (): Promise<void> => {
    const untilLooks = looks + 20;
    await eventually('it has looked several times', () => {
      ownership.wake();
      return looks >= untilLooks;
    });
  };
  await eventually('it cannot note the shard', () => told.length >= 2);
  await looked();
  await database.ask((sql) => sql`ALTER TABLE granary_nodes DROP CONSTRAINT no_refusals`);
  await eventually('it can', () => told.length >= 3);
  await looked();
  await end();
  assert.deepEqual(told, [
    'this node cannot take a shard: another node may, and this one keeps trying',
    'cannot report the shards that this node cannot open',
    'the database answers this node again',
  ]);
});

test('a shard is taken when the lease of its owner has ended, and not a look later', async (t) => {
  const database = await oneShard(t);
  if (database === undefined) return;
  const hold = (ms: number) =>
    database.ask(
      (sql) => sql`
      INSERT INTO granary_shards (shard, format, token, appends, next, pruned, owner, expires_at)
      VALUES (0, ${FORMAT_VERSION}, 1, 0, 1, 0, 'gone', now() + ${ms}::int8 * interval '1 millisecond')
      ON CONFLICT (shard) DO UPDATE SET expires_at = excluded.expires_at`,
    );
  /** Milliseconds from the end of the lease to the attempt. */
  const lateMs: number[] = [];
  let endsMs = 0;
  const open = () => {
    lateMs.push(performance.now() - endsMs);
    return Promise.reject(new EngineError('STO-E002', 'another node was faster'));
  };
  const { ownership, end } = withoutShards(t, database, { open });
  // Killed, so its entry stays.
  await enterNode(database, { ...ENTRY, id: 'gone' });
  await database.ask((sql) => sql`UPDATE granary_nodes SET seen_at = now() - interval '1 hour'`);
  await hold(60_000);
  await ownership.start();
  const rounds = 5;
  for (let round = 1; round <= rounds; round++) {
    endsMs = performance.now() + 1_200;
    await hold(1_200);
    await eventually('it was tried', () => lateMs.length >= round);
    await hold(60_000);
    await eventually('its owner is seen again', () => (ownership.fleet.shards[0]?.leaseMs ?? 0) > 10_000);
    lateMs.length = round;
  }
  await end();
  // Each lease begins just after a look, and ends between two regular ones. The fastest shows that one comes in time.
  assert.ok(Math.min(...lateMs) < NODE_LOOK_MS / 5, `${lateMs.map(Math.round)} ms after the end of the lease`);
});
