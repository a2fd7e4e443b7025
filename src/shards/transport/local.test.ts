import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import type { CallContext } from '../protocol.ts';
import { ADD_CODEC, addCodec } from '../testing/add-codec.ts';
import { SETTINGS } from '../testing/memory.ts';
import { engineFolder, TestEngine } from '../testing/test-engine.ts';
import { LocalShards } from './local.ts';

const SHARDS = 2;
const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };

async function setUp(t: TestContext, opens: 'all' | 'asked' = 'all') {
  const engines: TestEngine[] = [];
  const logged: string[] = [];
  let broken = 0;
  const root = engineFolder();
  /** Reports a bug outside a call, as an engine does. */
  let onBug: (error: unknown) => void = () => undefined;
  const local = await LocalShards.start({
    opens,
    shards: SHARDS,
    engineOptions: (shard) => ({
      directory: join(root, `shard-${shard}`),
      keysDirectory: join(root, 'keys', `shard-${shard}`),
      shard,
      shards: SHARDS,
      masterKeys: [Buffer.alloc(32, 7)],
      indexHeapBytes: 1 << 20,
    }),
    openEngine: async ({ shard, shards }, thread) => {
      onBug = thread.onBug;
      const engine = await TestEngine.open(shard, { shards });
      engines.push(engine);
      return engine;
    },
    codecs: { [ADD_CODEC]: addCodec },
    log: { info: () => undefined, error: (_, message) => void logged.push(message) },
    onBroken: () => {
      broken += 1;
    },
  });
  t.after(() => local.close());
  if (opens === 'all')
    for (const shard of [0, 1]) await local.caller(shard).call('attachMemory', CONTEXT, { settings: SETTINGS });
  const add = (shard: number, content: string) =>
    local.caller(shard).call('add', CONTEXT, { grainType: 'event', fields: { content }, sync: false });
  return { local, engines, logged, add, broken: () => broken, onBug: (error: unknown) => onBug(error) };
}

test('calls are served in the thread of their caller, typed and raw, in groups, and what is pending at the end is answered', async (t) => {
  const { local, engines, add } = await setUp(t);
  const before = engines[0]!.commits;
  const added = await Promise.all(Array.from({ length: 50 }, (_, i) => add(0, `grain ${i}`)));
  assert.ok(engines[0]!.commits - before <= 10, 'writes of a turn are one group');
  const wire = Buffer.from(
    JSON.stringify({ grainType: 'event', fields: { content: 'raw', created_at: 1_700_000_000 } }),
  );
  const { bytes } = await local.caller(1).callRaw(ADD_CODEC, CONTEXT, wire);
  const hashes = [added[0]!.hash, Buffer.from(bytes).toString()];
  assert.deepEqual((await local.caller(0).call('locate', CONTEXT, { hashes })).held, [true, false]);
  assert.deepEqual((await local.caller(1).call('locate', CONTEXT, { hashes })).held, [false, true]);
  const [health] = local.health();
  assert.deepEqual([health?.state, health?.shards, health?.restarts], ['serving', [0, 1], 0]);

  const last = add(0, 'the last');
  const draining = local.drain(10_000);
  await assert.rejects(add(0, 'too late'), { code: 'STO-E002' });
  assert.equal(await draining, true);
  await last;
  await local.close();
  await assert.rejects(add(0, 'too late'), { code: 'STO-E002' });
});

test('shards are opened and closed one by one', async (t) => {
  const { local, add } = await setUp(t, 'asked');
  await assert.rejects(add(1, 'too early'), { code: 'STO-E002' });
  await local.open(1);
  assert.deepEqual([local.isOpen(0), local.isOpen(1)], [false, true]);
  await local.caller(1).call('attachMemory', CONTEXT, { settings: SETTINGS });
  const last = add(1, 'the last');
  // The call leaves for its engine first.
  await new Promise((resolve) => setImmediate(resolve));
  await local.closeShard(1);
  await last;
  await assert.rejects(add(1, 'too late'), { code: 'STO-E002' });
  await local.open(0);
  assert.deepEqual([local.isOpen(0), local.isOpen(1)], [true, false]);
});

test('a bug of a shard that is closed or opened ends all shards, and the caller gets a code', async (t) => {
  const { local, engines, logged, add, broken } = await setUp(t);
  t.mock.method(engines[0]!, 'close', async () => {
    throw new TypeError('a bug');
  });
  await assert.rejects(local.closeShard(0), { code: 'STO-E002' });
  assert.deepEqual([broken(), logged.length, local.health()[0]?.state], [1, 1, 'down']);
  await assert.rejects(add(1, 'too late'), { code: 'STO-E002' });
  await assert.rejects(local.open(0), { code: 'STO-E002' });
});

test('caller and engine share no values: a change of one is not seen by the other', async (t) => {
  const { local, engines } = await setUp(t);
  const fields = { content: 'as it was asked', tags: ['one'] };
  const added = local.caller(0).call('add', CONTEXT, { grainType: 'event', fields, sync: false });
  fields.content = 'changed by the caller';
  fields.tags.push('two');
  const { hash } = await added;
  const received = engines[0]!.calls.at(-1)!.input;
  assert.deepEqual(received, {
    grainType: 'event',
    fields: { content: 'as it was asked', tags: ['one'] },
    sync: false,
  });
  const get = async () => (await local.caller(0).call('get', CONTEXT, { hash })) as { fields: Record<string, unknown> };
  const first = await get();
  first.fields['content'] = 'changed by the caller';
  assert.equal((await get()).fields['content'], 'as it was asked');
});

test('long batches let the event loop run between turns', async (t) => {
  const { local, engines } = await setUp(t);
  engines[0]!.failure = (method) => {
    if (method !== 'locate') return undefined;
    for (const until = performance.now() + 4; performance.now() < until; );
    return undefined;
  };
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(Array.from({ length: 40 }, () => local.caller(0).call('locate', CONTEXT, { hashes: [] })));
  isDone = true;
  assert.ok(turns >= 15, `${turns} turns of the event loop for 160 ms of reads`);
});

for (const where of ['in a call', 'outside of calls'] as const)
  test(`a bug of an engine ${where} refuses all calls for good, and is told once`, async (t) => {
    const { local, engines, logged, add, broken, onBug } = await setUp(t);
    const error = new TypeError('a bug on purpose');
    engines[0]!.failure = (method) => (method === 'locate' ? error : undefined);
    const [pending, culprit] = await Promise.allSettled([
      add(1, 'of the other shard'),
      where === 'in a call'
        ? local.caller(0).call('locate', CONTEXT, { hashes: [] })
        : Promise.resolve().then(() => onBug(error)),
    ]);
    if (where === 'in a call') assert.ok(culprit.status === 'rejected' && culprit.reason.code === 'SYS-E001');
    assert.ok(pending.status === 'rejected' && pending.reason instanceof EngineError);
    assert.deepEqual([pending.reason.code, pending.reason.retryable], ['STO-E002', true]);
    await assert.rejects(add(1, 'later'), { code: 'STO-E002' });
    onBug(new TypeError('another one'));
    assert.deepEqual([broken(), logged.length, local.health()[0]?.state], [1, 1, 'down']);
    await local.close();
    for (const engine of engines) await engine.close();
  });

test('a call that has not begun when the shards close is refused, and reaches no engine', async (t) => {
  const { local, engines } = await setUp(t);
  const before = engines[0]!.calls.length;
  const late = local.caller(0).call('locate', CONTEXT, { hashes: [] });
  const closing = local.close();
  await assert.rejects(late, { code: 'STO-E002' });
  await closing;
  assert.deepEqual(engines[0]!.calls.slice(before), []);
});

test('an engine that cannot close leaves no call unanswered, and the others close', async (t) => {
  const { local, engines, add } = await setUp(t);
  const closed: number[] = [];
  for (const [shard, engine] of engines.entries()) {
    t.mock.method(engine, 'close', async () => {
      if (shard === 0) throw new EngineError('STO-E001', 'the disk is gone');
      await new Promise((resolve) => setImmediate(resolve));
      closed.push(shard);
    });
    t.mock.method(engine, 'write', () => new Promise(() => undefined));
  }
  const pending = add(0, 'never answered');
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([
    assert.rejects(pending, { code: 'STO-E002' }),
    assert.rejects(local.close(), { code: 'STO-E001' }),
  ]);
  assert.deepEqual(closed, [1]);
  t.mock.restoreAll();
  for (const engine of engines) await engine.close();
});
