import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { EngineError } from '../../engine/base/errors.ts';
import { MERGE_FANOUT } from '../../engine/base/limits.ts';
import type { Engine } from '../../engine/engine.ts';
import { writeSegment } from '../../engine/index/files/new-segment.ts';
import { KeyColumns, type MergeOrder } from '../../engine/index/merging.ts';
import { piecesOf } from '../../engine/index/parts/frozen-tail.ts';
import { writeTails } from '../../engine/index/parts/seal.ts';
import { TailSet } from '../../engine/index/parts/tail.ts';
import { keysOf, type SealOrder } from '../../engine/index/sealing.ts';
import { finish, grainOf, TestKeys } from '../../engine/index/testing/shard.ts';
import { openEngine } from '../../engine/open.ts';
import { SegmentThread } from './segment-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'granary-seal-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const ENTRY = new URL('../../server/segment-thread.ts', import.meta.url);
const context = { memory: 1, partition: 0, actor: 'key:test', requestId: 'test', owns: true } as const;
const GRAINS = 40;

function tails(): TailSet {
  const set = new TailSet(0);
  for (let ordinal = 1; ordinal <= GRAINS; ordinal++) set.publish(1, grainOf(ordinal, ordinal));
  return set;
}

function orderOf(set: TailSet, path: string): SealOrder {
  return {
    path,
    range: { first: 1, last: GRAINS },
    keys: finish(keysOf(set.tails.keys(), new TestKeys())),
    removed: [],
  };
}

test('a thread seals several files, answers what the disk refuses, and gives up what is cancelled', async () => {
  const thread = new SegmentThread(ENTRY);
  const set = tails();
  const seal = (name: string) => {
    const sealing = thread.begin(orderOf(set, join(folder, name)));
    assert.ok(sealing !== undefined, 'the thread lives');
    for (const piece of piecesOf(set)) sealing.take(piece);
    return sealing;
  };
  const [one, two, cancelled] = [seal('one'), seal('two'), seal('cancelled')];
  await cancelled.cancel();
  await assert.rejects(cancelled.end(), /the segment was given up/);
  assert.deepEqual(await Promise.all([one.end(), two.end()]), [1, 1]);
  await one.cancel();
  assert.deepEqual(readdirSync(folder).sort(), ['one', 'two']);
  await assert.rejects(seal('missing/one').end(), (error) => {
    assert.ok(error instanceof EngineError);
    assert.equal(error.code, 'STO-E001');
    assert.match(error.message, /a segment cannot be written/);
    return true;
  });
});

test('when the thread dies, its seals and later ones are left to the worker', async () => {
  const entry = join(folder, 'dies.mjs');
  writeFileSync(
    entry,
    `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ kind }) => { if (kind === 'end') throw new Error('gone'); });`,
  );
  const thread = new SegmentThread(pathToFileURL(entry));
  const set = tails();
  const sealing = thread.begin(orderOf(set, join(folder, 'never')));
  assert.ok(sealing !== undefined);
  assert.equal(await sealing.end(), undefined);
  await sealing.cancel();
  assert.equal(thread.begin(orderOf(set, join(folder, 'never'))), undefined);
});

/** The merge of two files of one memory. */
function mergeOf(name: string, grains: number): MergeOrder {
  const keys = new TestKeys();
  const files = [0, grains].map((base) => {
    const set = new TailSet(base);
    for (let ordinal = base + 1; ordinal <= base + grains; ordinal++) set.publish(1, grainOf(ordinal, ordinal));
    const path = join(folder, `${name}-${base}`);
    const range = { first: base + 1, last: base + grains };
    finish(writeSegment(path, range, (writer) => writeTails(set, writer, { keys, isRemoved: () => false })));
    return { path, id: base + 1, dead: [] };
  });
  const { id, key } = keys.indexKey(1);
  const columns = new KeyColumns();
  columns.add(1, id, true, key);
  return {
    path: join(folder, name),
    range: { first: 1, last: 2 * grains },
    files,
    keys: columns.columns(),
    removed: [],
  };
}

test('beside a large merge a thread writes seals first, and other merges with it', async () => {
  const thread = new SegmentThread(ENTRY);
  const order: string[] = [];
  const orders = [mergeOf('large', 10_000), mergeOf('cancelled', GRAINS), mergeOf('small', GRAINS)];
  const [large, cancelled, small] = orders.map((one) => thread.merge(one)!);
  const set = tails();
  const sealing = thread.begin(orderOf(set, join(folder, 'sealed')))!;
  for (const piece of piecesOf(set)) sealing.take(piece);
  await cancelled!.cancel();
  await assert.rejects(cancelled!.end(), /the segment was given up/);
  const ended = Object.entries({ large: large!, sealed: sealing, small: small! }).map(async ([name, work]) => {
    const result = await work.end();
    order.push(name);
    return result;
  });
  assert.deepEqual(await Promise.all(ended), [{ chunks: 1 }, 1, { chunks: 1 }]);
  assert.equal(order.at(-1), 'large');
  const names = ['large', 'cancelled', 'small', 'sealed'];
  assert.deepEqual(
    names.map((name) => existsSync(join(folder, name))),
    [true, false, true, true],
  );
  await large!.cancel();
  const refused = thread.merge({ ...mergeOf('refused', GRAINS), path: join(folder, 'missing/one') })!;
  await assert.rejects(refused.end(), /a segment cannot be written/);
});

async function engineWith(entry: URL): Promise<Engine> {
  const directory = join(folder, `engine-${readdirSync(folder).length}`);
  const thread = new SegmentThread(entry);
  const engine = await openEngine({
    directory: join(directory, 'shard-0'),
    keysDirectory: join(directory, 'keys'),
    shard: 0,
    shards: 1,
    masterKeys: [Buffer.alloc(32, 3)],
    indexHeapBytes: 8_000_000,
    sealGrains: 10,
    sealer: thread,
    merger: thread,
  });
  const settings = {
    number: 1,
    id: 'one',
    partitions: 1,
    language: 'en',
    dedup: 'exact',
    dedupThreshold: 0.85,
  } as const;
  await engine.write('attachMemory', context, { settings: { ...settings, createdAtMs: 1 } });
  return engine;
}

async function addGrains(engine: Engine, first: number): Promise<void> {
  const items = Array.from({ length: GRAINS }, (_, i) => ({
    grainType: 'belief' as const,
    fields: {
      subject: `person ${first + i}`,
      relation: 'likes',
      object: `gardens and lanterns ${first + i}`,
      user_id: 'u',
    },
  }));
  const { outcomes } = await engine.write('addBatch', context, { items });
  assert.equal(outcomes.filter((outcome) => 'hash' in outcome).length, GRAINS);
}

test('an engine seals in the thread, answers from the segments, and is the same after it is opened again', async () => {
  const engine = await engineWith(ENTRY);
  await addGrains(engine, 0);
  await engine.write('flush', context, {});
  assert.equal(engine.store.index.segments, 1);
  assert.equal(engine.store.index.tailGrains, 0);
  const ask = (query: string) =>
    engine.read('recall', context, { query, filter: {}, limit: 5, candidateLimit: 20, structural: false });
  assert.match(JSON.stringify(ask('lanterns 17')), /lanterns 17/);
  await addGrains(engine, GRAINS);
  // The end of an engine waits for its seal.
  await engine.close();
});

/** Seals as many segments as make a merge due, and waits for the merge. */
async function mergeEight(engine: Engine): Promise<void> {
  for (let segment = 0; segment < MERGE_FANOUT; segment++) {
    await addGrains(engine, segment * GRAINS);
    await engine.write('flush', context, {});
  }
  for (const until = performance.now() + 20_000; engine.store.counters.merges === 0; ) {
    assert.ok(performance.now() < until, 'the merge ends');
    engine.maintain(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('an engine merges and compacts in the thread, and forgets what is erased', async (t) => {
  const merge = t.mock.method(SegmentThread.prototype, 'merge');
  const engine = await engineWith(ENTRY);
  await mergeEight(engine);
  assert.deepEqual([merge.mock.callCount(), engine.store.index.segments], [1, 1]);
  await addGrains(engine, MERGE_FANOUT * GRAINS);
  assert.equal((await engine.write('eraseUser', context, { userId: 'u' })).count, (MERGE_FANOUT + 1) * GRAINS);
  await addGrains(engine, (MERGE_FANOUT + 1) * GRAINS);
  await engine.write('flush', context, {});
  await engine.write('compact', context, {});
  assert.equal(engine.store.index.segments, 1);
  assert.ok(merge.mock.callCount() >= 2, 'the compaction ran in the thread');
  const { findings } = await engine.write('verify', context, {});
  assert.deepEqual(findings, []);
  assert.equal(
    engine.store.index.memory(1).parts.reduce((sum, part) => sum + part.docCount, 0),
    GRAINS,
  );
  await engine.close();
});

test('an engine whose thread dies seals and merges by itself', async () => {
  const entry = join(folder, 'dies-at-once.mjs');
  writeFileSync(entry, `throw new Error('gone');`);
  const engine = await engineWith(pathToFileURL(entry));
  await mergeEight(engine);
  assert.equal(engine.store.index.segments, 1);
  await engine.close();
});

test('an abandoned engine leaves nobody who writes its file', async () => {
  const engine = await engineWith(ENTRY);
  await addGrains(engine, 0);
  const flushed = engine.write('flush', context, {}).catch((error) => assert.match(String(error), /abandoned/));
  while (engine.store.index.sealsElsewhere === undefined && engine.store.index.tailGrains > 0)
    await new Promise((resolve) => setImmediate(resolve));
  await engine.abandon();
  await flushed;
});
