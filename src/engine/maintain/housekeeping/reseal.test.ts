// Rotations of a memory's blob key and of the master key, over a real shard.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../base/errors.ts';
import type { Engine } from '../../engine.ts';
import { FaultyLog } from '../../log/faulty.ts';
import { MemoryLog, MemoryLogStore } from '../../log/memory.ts';
import { decodeRecord } from '../../record/record-codec.ts';

const MASTER = Buffer.alloc(32, 7);
const context = contextOf(1);

/** A shard over a log that outlives its engine and fails on demand. */
async function opened(t: TestContext) {
  const root = temporaryDirectory(t);
  const records = new MemoryLogStore();
  const open = async (...masterKeys: Buffer[]) => {
    const log = new FaultyLog(new MemoryLog(records));
    return { engine: await openShard(root, { log, ...(masterKeys.length === 0 ? {} : { masterKeys }) }), log };
  };
  const shard = { ...(await open()), open };
  await shard.engine.write('attachMemory', context, { settings: settingsOf(1) });
  return shard;
}

async function addEvents(engine: Engine, count: number, userId?: string): Promise<string[]> {
  const { outcomes } = await engine.write('addBatch', context, {
    items: Array.from({ length: count }, (_, at) => ({
      grainType: 'event',
      fields: { content: `event ${at} of ${userId ?? 'nobody'}`, ...(userId === undefined ? {} : { user_id: userId }) },
    })),
  });
  return outcomes.map((outcome) => ('hash' in outcome ? outcome.hash : assert.fail(outcome.error.message)));
}

/** Key id to the number of grains of the log under it. */
function grainsByKey(engine: Engine): Map<number, number> {
  const counts = new Map<number, number>();
  for (const item of engine.store.log.scan(1)) {
    assert.ok('bytes' in item);
    const record = decodeRecord(item.bytes);
    if (record.kind === 'grain') counts.set(record.key, (counts.get(record.key) ?? 0) + 1);
  }
  return counts;
}

test('compact re-seals grains of older blob keys, then destroys those keys', async (t) => {
  const shard = await opened(t);
  let { engine } = shard;
  const { blob: first } = engine.store.memory(1).keyIds;
  const old = await addEvents(engine, 600);
  const ofAnn = await addEvents(engine, 3, 'ann');
  await engine.write('rotateKeys', context, { scope: 'memory' });
  const { blob: second } = engine.store.memory(1).keyIds;
  const between = await addEvents(engine, 2, 'bob');
  await engine.write('rotateKeys', context, { scope: 'memory' });
  const { blob: current } = engine.store.memory(1).keyIds;
  assert.equal(grainsByKey(engine).get(first), 600);
  assert.equal(new Set([first, second, current]).size, 3);

  await engine.write('compact', context, {});
  for (const how of ['served', 'abandoned', 'closed']) {
    const counts = grainsByKey(engine);
    assert.equal(counts.get(current), 600, how);
    assert.equal(counts.get(first), undefined);
    assert.deepEqual([...counts.values()].sort(), [2, 3, 600]);
    assert.deepEqual([engine.store.keys.state(first), engine.store.keys.state(second)], ['destroyed', 'destroyed']);
    assert.deepEqual(engine.store.oldBlobKeys(1), []);
    for (const hash of [old[0]!, old[599]!, ofAnn[0]!, between[0]!])
      assert.equal(engine.read('get', context, { hash }).hash, hash, how);
    assert.deepEqual((await engine.write('verify', context, {})).findings, []);
    assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
    if (how === 'served') await engine.abandon();
    else await engine.close();
    if (how !== 'closed') ({ engine } = await shard.open());
  }
});

test('a grain forgotten while compact re-seals others stays forgotten', async (t) => {
  const { engine } = await opened(t);
  const hashes = await addEvents(engine, 300);
  await engine.write('rotateKeys', context, { scope: 'memory' });
  const gone = hashes.filter((_, at) => at % 3 === 0);
  await Promise.all([
    engine.write('compact', context, {}),
    ...gone.map((hash) => engine.write('forget', context, { hashes: [hash], check: false })),
  ]);
  const counts = grainsByKey(engine);
  assert.deepEqual([...counts.values()], [200]);
  assert.deepEqual([...counts.keys()], [engine.store.memory(1).keyIds.blob]);
  await engine.close();
});

test('a refused transaction leaves the old keys, and the next compact finishes', async (t) => {
  const { engine, log } = await opened(t);
  const { blob: first } = engine.store.memory(1).keyIds;
  const [hash] = await addEvents(engine, 10);
  await engine.write('rotateKeys', context, { scope: 'memory' });
  log.failNextAppend();
  await assert.rejects(engine.write('compact', context, {}), { code: 'STO-E001' });
  assert.equal(engine.store.keys.state(first), 'live');
  assert.equal(engine.read('get', context, { hash: hash! }).hash, hash);
  await engine.write('compact', context, {});
  assert.equal(engine.store.keys.state(first), 'destroyed');
  assert.equal(engine.read('get', context, { hash: hash! }).hash, hash);
  await engine.close();
});

test('a blob that does not open keeps its key', async (t) => {
  const { engine, log } = await opened(t);
  const { blob: first } = engine.store.memory(1).keyIds;
  const [bad, good] = await addEvents(engine, 2);
  const ordinal = engine.store.findOrdinal(1, bad!)!;
  await engine.write('rotateKeys', context, { scope: 'memory' });
  log.flipByte(ordinal, 60);
  await engine.write('compact', context, {});
  assert.equal(engine.store.keys.state(first), 'live');
  assert.equal(grainsByKey(engine).get(first), 1);
  log.heal();
  await engine.write('compact', context, {});
  assert.equal(engine.store.keys.state(first), 'destroyed');
  for (const hash of [bad!, good!]) assert.equal(engine.read('get', context, { hash }).hash, hash);
  await engine.close();
});

test('dropping a memory destroys every version of its blob key', async (t) => {
  const { engine } = await opened(t);
  await addEvents(engine, 1);
  const { blob: first } = engine.store.memory(1).keyIds;
  await engine.write('rotateKeys', context, { scope: 'memory' });
  const { blob: second } = engine.store.memory(1).keyIds;
  await engine.write('dropMemory', context, {});
  assert.deepEqual([engine.store.keys.state(first), engine.store.keys.state(second)], ['destroyed', 'destroyed']);
  await engine.close();
});

test('rewrapped keys, and keys made meanwhile, open under the new master key alone', async (t) => {
  const shard = await opened(t);
  let { engine } = shard;
  const [hash] = await addEvents(engine, 1, 'ann');
  const next = Buffer.alloc(32, 9);
  const [{ rewrapped }] = await Promise.all([
    engine.write('rewrapKeys', context, { masterKeys: [next, MASTER] }),
    addEvents(engine, 2, 'bob'),
  ]);
  assert.ok(rewrapped >= 4);
  assert.deepEqual(await engine.write('rewrapKeys', context, { masterKeys: [next, MASTER] }), { rewrapped: 0 });
  await engine.close();
  await assert.rejects(shard.open(MASTER), (error) => error instanceof EngineError && error.code === 'AUT-E003');
  ({ engine } = await shard.open(next));
  assert.equal(engine.read('get', context, { hash: hash! }).userId, 'ann');
  assert.deepEqual((await engine.write('verify', context, {})).findings, []);
  await engine.close();
});
