import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { USED_THREADS } from '../../../test/support/used-threads.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { GROUP_WRITES_MAX, RESTART_DELAY_MIN_MS } from '../../engine/base/limits.ts';
import { KeyStore } from '../../engine/keys/key-store.ts';
import { MasterKey } from '../../engine/keys/master-key.ts';
import type { CallContext } from '../protocol.ts';
import { ADD_CODEC, MUTE_CODEC } from '../testing/add-codec.ts';
import { Gate } from '../testing/gate.ts';
import { SETTINGS } from '../testing/memory.ts';
import { engineFolder } from '../testing/test-engine.ts';
import type { EngineOptions } from './engine-door.ts';
import { type PoolOptions, ShardPool } from './pool.ts';

/** In seconds: with a fixed time, a repeated grain has the same hash. */
const CREATED_AT = 1_700_000_000;
/** No thread is terminated before it. */
const LONGEST_MS = 600_000;
const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };

/** The options of four shards, in separate folders. */
const optionsIn =
  (root: string, folderOf = (shard: number) => `shard-${shard}`) =>
  (shard: number): EngineOptions => ({
    directory: join(root, folderOf(shard)),
    keysDirectory: join(root, 'keys', `shard-${shard}`),
    shard,
    shards: 4,
    masterKeys: [Buffer.alloc(32, 7)],
    indexHeapBytes: 1 << 20,
  });

/** Of a test with a gate: a thread knows the gate that was there when it started. */
const NEW_THREADS = { threads: undefined };

/** Two workers for four shards. A restart waits until the test lets it happen. */
async function setUp(t: TestContext, options: Partial<PoolOptions> = {}) {
  const restarts: { run: () => void; ms: number }[] = [];
  const logged: string[] = [];
  let nextLog = Promise.withResolvers<void>();
  const log = (_: object, message: string): void => {
    logged.push(message);
    nextLog.resolve();
    nextLog = Promise.withResolvers();
  };
  const pool = await ShardPool.start({
    shards: 4,
    workers: 2,
    entry: new URL('../testing/worker-entry.ts', import.meta.url),
    engineOptions: optionsIn(engineFolder()),
    log: { info: log, error: log },
    faults: true,
    threads: USED_THREADS,
    delay: (run, ms) => {
      restarts.push({ run, ms });
      return () => restarts.splice(0);
    },
    ...options,
  });
  t.after(() => pool.close());
  return {
    pool,
    restarts,
    logged,
    /** Resolves once the pool has logged `message` `times` times. */
    until: async (message: string, times: number) => {
      while (logged.filter((one) => one === message).length < times) await nextLog.promise;
    },
  };
}

async function addOne(pool: ShardPool, shard: number, content: string): Promise<string> {
  await pool.caller(shard).call('attachMemory', CONTEXT, { settings: SETTINGS });
  const added = await pool
    .caller(shard)
    .call('add', CONTEXT, { grainType: 'event', fields: { content, created_at: CREATED_AT }, sync: false });
  return added.hash;
}

const retryable = (error: unknown) => error instanceof EngineError && error.code === 'STO-E002' && error.retryable;

test('calls reach their own shard, typed and raw, over threads', async (t) => {
  const { pool } = await setUp(t);
  const hashes = await Promise.all([0, 1, 2, 3].map((shard) => addOne(pool, shard, `in ${shard}`)));
  for (const shard of [0, 1, 2, 3]) {
    const { held } = await pool.caller(shard).call('locate', CONTEXT, { hashes });
    assert.deepEqual(
      held,
      [0, 1, 2, 3].map((other) => other === shard),
    );
    const wire = Buffer.from(
      JSON.stringify({ grainType: 'event', fields: { content: `in ${shard}`, created_at: CREATED_AT } }),
    );
    assert.equal(
      Buffer.from((await pool.caller(shard).callRaw(ADD_CODEC, CONTEXT, wire)).bytes).toString(),
      hashes[shard],
    );
    assert.equal((await pool.caller(shard).call('health', CONTEXT, {})).shard, shard);
  }
  await assert.rejects(
    pool.caller(0).call('get', CONTEXT, { hash: 'unknown' }),
    (error) => error instanceof EngineError && error.code === 'MEM-E001',
  );
  assert.deepEqual(
    pool.health().map(({ state, shards }) => [state, shards]),
    [
      ['serving', [0, 2]],
      ['serving', [1, 3]],
    ],
  );
});

test('shards are opened and closed while the others serve, and a lapsed one answers nothing', async (t) => {
  const lapsed = new Set<number>();
  const { pool, restarts, until } = await setUp(t, {
    opens: 'asked',
    lapsed: (shard) => (lapsed.has(shard) ? `shard ${shard} is away` : undefined),
  });
  const openOnes = () => [0, 1, 2, 3].filter((shard) => pool.isOpen(shard));
  assert.deepEqual(openOnes(), []);
  await assert.rejects(addOne(pool, 0, 'too early'), retryable);
  await Promise.all([0, 1, 2].map((shard) => pool.open(shard)));
  assert.deepEqual(openOnes(), [0, 1, 2]);
  const hash = await addOne(pool, 0, 'a');
  await addOne(pool, 2, 'b');
  // Calls that have left for the thread are answered.
  const last = pool.caller(0).call('locate', CONTEXT, { hashes: [hash] });
  await new Promise((resolve) => setImmediate(resolve));
  await pool.closeShard(0);
  assert.deepEqual((await last).held, [true]);
  await assert.rejects(addOne(pool, 0, 'too late'), retryable);
  await pool.closeShard(0);
  // Nothing of such a call has run, so it may go to the shard's next owner.
  lapsed.add(0);
  await assert.rejects(addOne(pool, 0, 'after the lease'), { code: 'STO-E002', isElsewhere: true });
  lapsed.delete(0);

  await addOne(pool, 2, 'c');
  lapsed.add(2);
  await assert.rejects(addOne(pool, 2, 'd'), { code: 'STO-E002', message: /shard 2 is away/ });
  await assert.rejects(pool.caller(2).call('get', CONTEXT, { hash: 'unknown' }), { message: /shard 2 is away/ });
  assert.equal((await pool.caller(2).call('health', CONTEXT, {})).ok, true);
  await addOne(pool, 1, 'e');

  // A restarted thread has no open shard.
  await assert.rejects(pool.caller(2).call('fault', CONTEXT, { kind: 'exit' }));
  await assert.rejects(pool.open(0), retryable);
  assert.deepEqual(openOnes(), [1]);
  restarts.shift()!.run();
  await until('worker serves', 3);
  await pool.open(0);
  assert.deepEqual(openOnes(), [0, 1]);
  await addOne(pool, 0, 'f');
});

test('a read that arrives while a group is written is answered before the next group', async (t) => {
  const gate = new Gate();
  const { pool } = await setUp(t, NEW_THREADS);
  await addOne(pool, 0, 'before');
  const answered: string[] = [];
  gate.close();
  const adds = Array.from({ length: GROUP_WRITES_MAX + 1 }, async (_, at) => {
    const fields = { content: `event ${at}`, created_at: CREATED_AT };
    await pool.caller(0).call('add', CONTEXT, { grainType: 'event', fields, sync: false });
    answered.push(at === GROUP_WRITES_MAX ? 'a write of the second group' : 'a write of the first group');
  });
  await gate.reached();
  const read = pool
    .caller(0)
    .call('statistics', CONTEXT, {})
    .then(() => answered.push('the read'));
  // The client sends it in this turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  gate.open();
  await Promise.all([...adds, read]);
  assert.ok(answered.indexOf('the read') < answered.indexOf('a write of the second group'), answered.join(', '));
});

test('a bug in a batch rejects all pending calls of that worker, which serves again after a restart', async (t) => {
  const { pool, restarts, until } = await setUp(t);
  await addOne(pool, 0, 'before');
  const neighbour = await addOne(pool, 1, 'other worker');
  const caller = pool.caller(0);
  const results = await Promise.allSettled([
    caller.call('flush', CONTEXT, {}),
    caller.call('fault', CONTEXT, { kind: 'throw' }),
    caller.call('flush', CONTEXT, {}),
    pool.caller(2).call('flush', CONTEXT, {}),
  ]);
  const reasons = results.map((result) => (result.status === 'rejected' ? result.reason : undefined));
  assert.deepEqual(
    reasons.map((reason) => reason instanceof EngineError && reason.code),
    ['STO-E002', 'SYS-E001', 'STO-E002', 'STO-E002'],
  );
  await assert.rejects(caller.call('statistics', CONTEXT, {}), retryable);
  assert.deepEqual((await pool.caller(1).call('locate', CONTEXT, { hashes: [neighbour] })).held, [true]);
  assert.equal(pool.health()[0]!.state, 'down');

  assert.equal(restarts.length, 1);
  restarts.pop()!.run();
  await until('worker serves', 3);
  const hash = await addOne(pool, 0, 'after');
  assert.deepEqual((await caller.call('locate', CONTEXT, { hashes: [hash] })).held, [true]);
  const [{ state, restarts: count } = assert.fail()] = pool.health();
  assert.deepEqual([state, count], ['serving', 1]);
});

test('a worker that sends a broken message is ended and started again, and no caller waits for ever', async (t) => {
  const entry = new URL('../testing/garbling-entry.ts', import.meta.url);
  const { pool, restarts, until, logged } = await setUp(t, { entry, workers: 1 });
  const pending = [0, 1].map((shard) => pool.caller(shard).call('statistics', CONTEXT, {}));
  for (const call of pending) await assert.rejects(call, retryable);
  assert.ok(logged.includes('a worker sent a broken message and is being ended'));
  await until('a worker ended and is being restarted', 1);
  restarts.pop()!.run();
  await until('worker serves', 2);
});

test('a call whose answer cannot be encoded fails alone, and the log has it', async (t) => {
  const { pool, restarts, logged } = await setUp(t);
  const hash = await addOne(pool, 0, 'before');
  const wire = Buffer.from('{}');
  const [lost, kept] = await Promise.allSettled([
    pool.caller(0).callRaw(MUTE_CODEC, CONTEXT, wire),
    pool.caller(0).call('locate', CONTEXT, { hashes: [hash] }),
  ]);
  assert.ok(lost.status === 'rejected' && lost.reason instanceof EngineError && lost.reason.code === 'SYS-E001');
  assert.ok(kept.status === 'fulfilled');
  assert.deepEqual(kept.value.held, [true]);
  assert.ok(logged.includes('a call failed: its request or its answer could not be passed between threads'));
  assert.deepEqual([pool.health()[0]!.state, restarts.length], ['serving', 0]);
});

test('a worker that exits is restarted, later each time', async (t) => {
  const { pool, restarts, until } = await setUp(t, { workers: 1 });
  for (const death of [0, 1, 2]) {
    const pending = pool.caller(3).call('fault', CONTEXT, { kind: 'exit' });
    await assert.rejects(pending, retryable);
    assert.equal(restarts[0]?.ms, RESTART_DELAY_MIN_MS * 2 ** death);
    restarts.pop()!.run();
    await until('worker serves', death + 2);
  }
  assert.equal(typeof (await addOne(pool, 3, 'alive')), 'string');
});

test('a shard that cannot be opened is reported at start, and nothing is left running', async (t) => {
  const root = engineFolder();
  const keys = KeyStore.open(join(root, 'keys', 'shard-2'), MasterKey.random());
  keys.allocate('blob');
  keys.flush();
  keys.close();
  await assert.rejects(setUp(t, { engineOptions: optionsIn(root) }), { code: 'AUT-E003' });
});

test('a worker whose entry file cannot be loaded is reported at start', async (t) => {
  await assert.rejects(setUp(t, { entry: new URL('../testing/no-such-entry.ts', import.meta.url) }), retryable);
});

test('draining answers pending calls and takes no new ones; closing ends the threads', async (t) => {
  const { pool } = await setUp(t);
  await addOne(pool, 0, 'x');
  const pending = pool.caller(0).call('flush', CONTEXT, {});
  const drained = pool.drain(10_000);
  await assert.rejects(pool.caller(0).call('statistics', CONTEXT, {}), retryable);
  assert.equal(await drained, true);
  assert.deepEqual(await pending, { flushed: 1, pending: 0 });
  await pool.close();
  assert.deepEqual(
    pool.health().map(({ state }) => state),
    ['closed', 'closed'],
  );
  await assert.rejects(pool.caller(1).call('statistics', CONTEXT, {}), retryable);
});

test('closing answers the calls that have begun, and refuses those that have not', async (t) => {
  const gate = new Gate();
  const engineOptions = optionsIn(engineFolder(), (shard) => (shard === 2 ? 'late' : `shard-${shard}`));
  const { pool } = await setUp(t, { ...NEW_THREADS, engineOptions });
  await addOne(pool, 2, 'x');
  gate.close();
  const adds = Array.from({ length: GROUP_WRITES_MAX + 1 }, (_, at) => {
    const fields = { content: `event ${at}`, created_at: CREATED_AT };
    return pool.caller(2).call('add', CONTEXT, { grainType: 'event', fields, sync: false });
  });
  // The commit of the group of the first is under way, and ends when its engine closes. How many others the worker begins
  // depends on the machine.
  await gate.reached();
  const settled = Promise.allSettled(adds);
  await pool.close(LONGEST_MS);
  gate.open();
  const [first, ...others] = await settled;
  assert.equal(first?.status, 'fulfilled');
  for (const one of others)
    if (one.status === 'rejected')
      assert.ok(one.reason instanceof EngineError && one.reason.code === 'STO-E002', String(one.reason));
});

test('a worker that does not end is terminated at the deadline', async (t) => {
  const engineOptions = optionsIn(engineFolder(), (shard) => (shard === 1 ? 'stuck' : `shard-${shard}`));
  const { pool } = await setUp(t, { engineOptions });
  const stuck = pool.caller(1).call('attachMemory', CONTEXT, { settings: SETTINGS });
  const refused = assert.rejects(stuck, retryable);
  await new Promise((resolve) => setImmediate(resolve));
  await pool.close(0);
  await refused;
  assert.deepEqual(
    pool.health().map(({ state }) => state),
    ['closed', 'closed'],
  );
});
