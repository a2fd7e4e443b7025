import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { EngineError } from '../base/errors.ts';
import { MERGE_FANOUT } from '../base/limits.ts';
import { writeSegment } from './files/new-segment.ts';
import { SegmentFile } from './files/segment-file.ts';
import { KeyColumns, type MergeOrder, type MergeOutcome, type Merger, mergeOrder, runMerge } from './merging.ts';
import { Bitmap } from './parts/bitmaps.ts';
import { hullOf, type RewriteOptions, rewriteFiles } from './parts/rewrite.ts';
import { writeTails } from './parts/seal.ts';
import { TailSet } from './parts/tail.ts';
import type { SegmentChange, ShardIndex } from './shard-index.ts';
import { contentOf, finishInTurns } from './testing/segments.ts';
import {
  commit,
  finish,
  grainOf,
  openShard,
  StateOnly,
  sealAll,
  TestKeys,
  temporaryDirectory,
} from './testing/shard.ts';

/** Keys that say that they are gone as the key store does. */
class GoneKeys extends TestKeys {
  override indexKeyById(id: number): Uint8Array {
    if (this.destroyed.has(id)) throw new EngineError('CRY-E002');
    return super.indexKeyById(id);
  }
}

const MEMORIES = 5;
const memory = fc.integer({ min: 1, max: MEMORIES });
const grain = fc.record({
  memory,
  seed: fc.nat(5_000),
  isRemoved: fc.boolean(),
  keyed: fc.option(fc.constantFrom('audit', 'status'), { nil: undefined }),
});
const segment = fc.record({
  grains: fc.array(grain, { minLength: 1, maxLength: 40 }),
  dead: fc.option(memory, { nil: undefined }),
  // After this segment the memory has another index key.
  rotates: fc.option(memory, { nil: undefined }),
});
const plan = fc.record({
  segments: fc.array(segment, { minLength: 1, maxLength: 4 }),
  removes: fc.boolean(),
  dropped: fc.option(memory, { nil: undefined }),
  // The memory's first key, or its newest one, is gone.
  destroyed: fc.option(fc.record({ memory, isNewest: fc.boolean() }), { nil: undefined }),
});

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** Seals the segments of a plan as files. */
async function sealed(directory: string, { segments, removes }: Plan, keys: TestKeys) {
  const removed = new Bitmap('removed');
  const files: SegmentFile[] = [];
  const dead = new Map<SegmentFile, ReadonlySet<number>>();
  let sequence = 0;
  for (const { grains, dead: of, rotates } of segments) {
    const first = sequence + 1;
    const set = new TailSet(sequence);
    for (const { memory, seed, isRemoved, keyed } of grains) {
      set.publish(memory, grainOf(++sequence, seed));
      if (removes && isRemoved) removed.set(sequence);
      if (keyed !== undefined) set.publishKeyed(memory, keyed, keyed === 'audit' ? 'entry' : seed, ++sequence);
    }
    const path = join(directory, `${files.length}`);
    const range = { first, last: sequence };
    const write = writeSegment(path, range, (writer) => writeTails(set, writer, { keys, isRemoved: () => false }));
    await finishInTurns(write);
    const file = SegmentFile.open(path, files.length + 1);
    files.push(file);
    dead.set(file, new Set(of === undefined ? [] : [of]));
    if (rotates !== undefined) keys.versions.set(rotates, (keys.versions.get(rotates) ?? 1) + 1);
  }
  return { files, dead, removed };
}

function planOf(memories: readonly (readonly number[])[], rest: Partial<Plan> = {}): Plan {
  const segments = memories.map((some) => ({
    grains: some.map((memory) => ({ memory, seed: memory * 7, isRemoved: memory === 1, keyed: undefined })),
    dead: undefined,
    rotates: 2,
  }));
  return { segments, removes: false, dropped: undefined, destroyed: undefined, ...rest };
}

/** Each kind of outcome, whatever the others happen to have. */
const EXAMPLES: [Plan][] = [
  [planOf([[1], [1]], { removes: true })],
  [planOf([[1, 2, 3], [2]])],
  [planOf([[1, 2, 3]])],
  [planOf([[1, 2], [2]], { destroyed: { memory: 2, isNewest: false } })],
  [planOf([[1, 2], [2]], { destroyed: { memory: 2, isNewest: true }, dropped: 1 })],
];

test('a merge by order writes what a merge in slices writes', async () => {
  const root = temporaryDirectory();
  const seen = { copied: 0, merged: 0, nothing: 0, gone: 0 };
  let count = 0;
  await fc.assert(
    fc.asyncProperty(plan, async (plan) => {
      const keys = new GoneKeys();
      const directory = join(root, `${count++}`);
      mkdirSync(directory);
      const { files, dead, removed } = await sealed(directory, plan, keys);
      if (plan.destroyed !== undefined) {
        const { memory, isNewest } = plan.destroyed;
        keys.destroyed.add(isNewest ? memory * 1_000 + (keys.versions.get(memory) ?? 1) : memory * 1_000 + 1);
      }
      const options: RewriteOptions = {
        segments: {
          isDead: (file, memory) => dead.get(file as SegmentFile)!.has(memory),
          deadIn: (file) => dead.get(file as SegmentFile)!,
        },
        keys,
        removed,
        isDropped: (memory) => memory === plan.dropped,
        onCorrupt: (_, of, error) => assert.fail(`memory ${of}: ${error.message}`),
      };
      const range = hullOf(files);
      const [here, there] = [join(directory, 'here'), join(directory, 'there')];
      const chunks = await finishInTurns(writeSegment(here, range, (writer) => rewriteFiles(files, writer, options)));
      const order = structuredClone(finish(mergeOrder(files, { path: there, range }, options)));
      assert.deepEqual(await finishInTurns(runMerge(order)), { chunks });
      for (const file of files) file.release();
      if (chunks === 0) {
        seen.nothing += 1;
        assert.deepEqual([existsSync(here), existsSync(there)], [false, false]);
        return;
      }
      if (plan.destroyed !== undefined) seen.gone += 1;
      keys.destroyed.clear();
      const content = contentOf(here, keys);
      assert.deepEqual(contentOf(there, keys), content);
      if (order.keys.rows.length === 0) seen.copied += 1;
      else seen.merged += 1;
    }),
    { numRuns: runs(60), examples: EXAMPLES },
  );
  for (const [name, times] of Object.entries(seen)) assert.ok(times > 0, `no run had ${name}`);
});

test('an order holds only keys that the merge needs, and nothing else of the buffers in which they were', async () => {
  const directory = temporaryDirectory();
  const keys = new TestKeys();
  const pool = Buffer.alloc(8_192);
  const key = keys.indexKey.bind(keys);
  keys.indexKey = (memory) => {
    const { id, key: bytes } = key(memory);
    pool.set(bytes);
    return { id, key: pool.subarray(0, bytes.length) };
  };
  const plan = planOf([[1, 3], [1]]);
  const { files, dead, removed } = await sealed(directory, plan, keys);
  const order = finish(
    mergeOrder(
      files,
      { path: join(directory, 'new'), range: hullOf(files) },
      {
        segments: { isDead: () => false, deadIn: (file) => dead.get(file as SegmentFile)! },
        keys,
        removed,
        isDropped: () => false,
        onCorrupt: () => undefined,
      },
    ),
  );
  const { rows, bytes } = order.keys;
  assert.deepEqual([...rows], [1, 1_001, 1]);
  assert.deepEqual(bytes, Uint8Array.from(keys.indexKeyById(1_001)));
  assert.equal(bytes.buffer.byteLength, bytes.length);
  for (const file of files) file.release();
});

test('columns of keys hold each key with its row, however many there are', () => {
  const columns = new KeyColumns();
  const count = 100;
  for (let i = 0; i < count; i++) columns.add(i, i * 2, i % 3 === 0, new Uint8Array(32).fill(i));
  const { rows, bytes } = columns.columns();
  assert.deepEqual([rows.length, bytes.length, bytes.buffer.byteLength], [count * 3, count * 32, count * 32]);
  for (let i = 0; i < count; i++) {
    assert.deepEqual([...rows.subarray(i * 3, i * 3 + 3)], [i, i * 2, i % 3 === 0 ? 1 : 0]);
    assert.deepEqual(bytes.subarray(i * 32, i * 32 + 32), new Uint8Array(32).fill(i));
  }
});

/** A thread that merges when it is told to. */
class HandMerger implements Merger {
  readonly orders: MergeOrder[] = [];
  cancels = 0;
  work: () => Promise<unknown> = async () => undefined;

  merge(order: MergeOrder) {
    this.orders.push(order);
    const { promise, resolve, reject } = Promise.withResolvers<MergeOutcome | undefined>();
    promise.catch(() => undefined);
    const crossed = structuredClone(order);
    this.work = () => finishInTurns(runMerge(crossed)).then((outcome) => resolve(structuredClone(outcome)), reject);
    return {
      end: () => promise,
      cancel: async () => {
        this.cancels += 1;
        reject(new EngineError('STO-E002', 'given up'));
      },
    };
  }
}

/** A shard with grains of three memories in as many segments as make a merge due. */
function withSegments() {
  const directory = temporaryDirectory();
  const log = new StateOnly();
  const shard = openShard(directory, log);
  for (let ordinal = 1; ordinal <= 3 * MERGE_FANOUT; ordinal++) {
    shard.publish(ordinal % 3, grainOf(ordinal, ordinal));
    if (ordinal % 3 === 0) sealAll(shard, log);
  }
  const merger = new HandMerger();
  const begin = () => {
    const work = shard.mergeStep({ merger, bytesMin: 0 });
    assert.ok(work !== undefined, 'a merge is due');
    while (shard.mergesElsewhere === undefined) assert.notEqual(work.next().done, true, 'the merge waits');
    return work;
  };
  return { directory, log, shard, merger, begin };
}

const docs = (shard: ShardIndex) => [0, 1, 2].map((memory) => shard.memory(memory).parts.map((part) => part.docCount));

test('a shard answers, takes and removes grains, seals and loses a memory while another thread merges', async () => {
  const { log, shard, merger, begin } = withSegments();
  const work = begin();
  assert.equal(work.next().done, false);
  shard.publish(1, grainOf(100, 100));
  shard.markRemoved(1, 4);
  sealAll(shard, log);
  commit(shard, log, finish(shard.dropMemory(2)));
  const waiting = shard.mergesElsewhere;
  await merger.work();
  await waiting;
  assert.equal(shard.mergesElsewhere, undefined);
  commit(shard, log, finish(work)!);
  assert.equal(shard.segments, 2);
  // A record that was removed meanwhile is in the new file, and stays removed.
  assert.deepEqual(docs(shard), [[MERGE_FANOUT], [MERGE_FANOUT, 1], []]);
  assert.equal(shard.removed.get(4), true);
  commit(shard, log, finish(shard.compact())!);
  assert.deepEqual(docs(shard), [[MERGE_FANOUT], [MERGE_FANOUT], []]);
  shard.close();
});

test('a small merge stays in its thread', () => {
  const { log, shard, merger } = withSegments();
  commit(shard, log, finish(shard.mergeStep({ merger, bytesMin: 1_048_576 })!)!);
  assert.deepEqual([merger.orders.length, shard.segments], [0, 1]);
  shard.close();
});

test('a merge that another thread could not do is done in slices', async () => {
  for (const fails of ['at once', 'later', 'files'] as const) {
    const { log, shard, directory } = withSegments();
    const merger: Merger = {
      merge: (order) => {
        if (fails === 'at once') return undefined;
        const missing = { ...order, files: order.files.map((file) => ({ ...file, path: join(directory, 'none') })) };
        return {
          end: () => (fails === 'later' ? Promise.resolve(undefined) : finishInTurns(runMerge(missing))),
          cancel: async () => undefined,
        };
      },
    };
    const change = await finishInTurns(shard.mergeStep({ merger, bytesMin: 0 })!);
    commit(shard, log, change!);
    assert.deepEqual(docs(shard), [[MERGE_FANOUT], [MERGE_FANOUT], [MERGE_FANOUT]], fails);
    shard.close();
  }
});

test('a bad block that another thread meets is known, and its file is not merged again', async () => {
  const { directory, shard, merger, begin } = withSegments();
  const work = begin();
  // A byte in the middle of the chunks of the first file.
  const path = shard.files()[0]!;
  const bytes = readFileSync(path);
  const file = SegmentFile.open(path, 1);
  const entry = file.find(1)!;
  file.release();
  bytes[entry.offset + 20]! ^= 1;
  writeFileSync(path, bytes);
  await merger.work();
  await shard.mergesElsewhere;
  assert.equal(finish(work), undefined);
  assert.deepEqual([shard.isDamaged(0), shard.isDamaged(1), shard.isDamaged(2)], [false, true, false]);
  assert.match(shard.problems.join(), /segment block is bad, memory 1 is searched without it/);
  assert.equal(shard.mergeStep({ merger, bytesMin: 0 }), undefined);
  assert.equal(readdirSync(directory).length, MERGE_FANOUT);
  shard.close();
});

test('an error of another thread ends the merge, which may be repeated', async () => {
  const { log, shard } = withSegments();
  const failing: Merger = {
    merge: () => ({
      end: () => Promise.reject(new EngineError('STO-E001', 'no room')),
      cancel: async () => undefined,
    }),
  };
  await assert.rejects(finishInTurns(shard.mergeStep({ merger: failing, bytesMin: 0 })!), /no room/);
  assert.equal(shard.segments, MERGE_FANOUT);
  commit(shard, log, finish(shard.mergeStep()!)!);
  assert.equal(shard.segments, 1);
  shard.close();
});

test('a merge that is given up is cancelled, and so is one of a shard that closes', async () => {
  const { log, shard, merger, begin } = withSegments();
  begin().return(undefined as unknown as SegmentChange);
  assert.equal(merger.cancels, 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(shard.mergesElsewhere, undefined);
  const again = begin();
  await shard.endElsewhere();
  assert.equal(merger.cancels, 2);
  assert.throws(() => finish(again), /given up/);
  commit(shard, log, finish(shard.mergeStep()!)!);
  assert.equal(shard.segments, 1);
  shard.close();
});
