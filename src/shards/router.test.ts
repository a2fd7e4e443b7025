import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { StepClock } from '../../test/support/step-clock.ts';
import { EngineError } from '../engine/base/errors.ts';
import { PENDING_ITEMS_MAX } from '../engine/base/limits.ts';
import { fromApi } from '../engine/grain/api/input.ts';
import { toApi } from '../engine/grain/api/output.ts';
import { decodeGrain, encodeGrain } from '../engine/grain/codec/blob.ts';
import { GrainError, toEngineError } from '../engine/grain/error.ts';
import type { RouterContext } from './gather/fan.ts';
import { shardOf } from './gather/placement.ts';
import type { PlacementOf } from './gather/tools.ts';
import type { ExportedGrain, GrainView, Input, JsonObject, RecallQuery } from './protocol.ts';
import { Router } from './router.ts';
import { ADD_CODEC, addCodec } from './testing/add-codec.ts';
import { SETTINGS } from './testing/memory.ts';
import { TestEngine } from './testing/test-engine.ts';
import { directShard } from './transport/direct.ts';
import type { EngineDoor } from './transport/engine-door.ts';

const CODECS = { [ADD_CODEC]: addCodec };
const SHARDS = 5;
const NOWHERE = 'f'.repeat(64);
/** Two memories that should answer alike: the same grains in one partition and in four. */
const ONE = { ...SETTINGS, number: 1, partitions: 1 };
const FOUR = { ...SETTINGS, number: 2, partitions: 4 };
const context = (memory: number): RouterContext => ({ memory, actor: 'key:k', requestId: 'r' });

const placementOf: PlacementOf = (blob) => {
  try {
    const grain = decodeGrain(blob);
    return { grainType: grain.type, fields: toApi(grain) as JsonObject }; // answers are JSON
  } catch (error) {
    throw error instanceof GrainError ? toEngineError(error, 'import') : error;
  }
};

function eventBlob(fields: JsonObject): Uint8Array {
  const api = fromApi('event', fields, { nowMs: 1_700_000_000_000 });
  return encodeGrain(api.type, api.fields, {}).blob;
}

async function setUp() {
  const clock = new StepClock();
  const engines = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) => TestEngine.open(shard, { shards: SHARDS, clock })),
  );
  const known = new Map([ONE, FOUR].map((settings) => [settings.number, settings]));
  const router = new Router({
    shards: engines.map((engine, shard) => directShard(shard, engine, { codecs: CODECS, clock })),
    settingsOf: (memory) => known.get(memory),
    placementOf,
    codecs: CODECS,
  });
  await router.attach([ONE, FOUR]);
  return { engines, router, clock };
}

const codeOf = (error: unknown): string => (error instanceof EngineError ? error.code : `${error}`);

/** Adds an event, or the given grain; returns its hash. */
async function add(router: Router, memory: number, fields: JsonObject, grainType = 'event'): Promise<string> {
  const item = { grainType, fields: grainType === 'event' ? { content: 'x', ...fields } : fields, sync: false };
  return (await router.call('add', context(memory), item)).hash;
}

test('a memory of four partitions answers every call as one of a single partition does', async () => {
  const word = fc.constantFrom('apple', 'bread', 'cheese', 'date', 'egg');
  const grain = fc.record(
    {
      session_id: fc.constantFrom('s1', 's2', 's3'),
      user_id: fc.constantFrom('u1', 'u2', 'u3', 'u4'),
      subject: fc.constantFrom('x', 'y', 'z'),
      relation: fc.constantFrom('likes', 'owns'),
      content: fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' ')),
      created_at: fc.integer({ min: 1_000, max: 1_040 }),
      invalidation_policy: fc.constant({ mode: 'locked' }),
      count: fc.integer({ min: 0, max: 5 }),
    },
    { requiredKeys: ['content', 'created_at'], noNullPrototype: true },
  );
  const pick = fc.nat({ max: 50 });
  const step = fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('add' as const), fields: grain }), weight: 6 },
    {
      arbitrary: fc.record({ kind: fc.constant('addBatch' as const), items: fc.array(grain, { maxLength: 8 }) }),
      weight: 3,
    },
    fc.record({ kind: fc.constantFrom('get', 'history', 'supersede', 'accumulate', 'forget'), pick }),
    fc.record({ kind: fc.constant('forgetSubject' as const), subject: fc.constantFrom('x', 'y', 'z') }),
    fc.record({ kind: fc.constant('eraseUser' as const), userId: fc.constantFrom('u1', 'u2', 'u9') }),
    fc.record({ kind: fc.constant('accumulateTriple' as const), subject: fc.constantFrom('x', 'y') }),
    fc.record({
      kind: fc.constant('list' as const),
      order: fc.constantFrom('asc', 'desc'),
      limit: fc.integer({ min: 1, max: 7 }),
      offset: fc.nat({ max: 9 }),
    }),
    fc.record({
      kind: fc.constant('recall' as const),
      query: fc.oneof(
        word,
        fc.tuple(word, word).map((two) => two.join(' ')),
        fc.constant(''),
      ),
      structural: fc.boolean(),
      limit: fc.integer({ min: 1, max: 5 }),
      candidateLimit: fc.integer({ min: 5, max: 20 }),
    }),
    fc.record({ kind: fc.constantFrom('statistics', 'flush', 'rebuildIndexes') }),
  );

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const { router } = await setUp();
      const hashes: string[] = [];
      // Only equal grains have one time. Where a leg is cut between grains of one score and one millisecond, a partition
      // takes those that were written last, and partitions have no order of writes in common.
      const known = new Map<string, number>();
      const timed = (fields: JsonObject): JsonObject => {
        const text = JSON.stringify(fields);
        known.set(text, known.get(text) ?? known.size);
        return { ...fields, created_at: Number(fields['created_at']) * 1_000 + (known.get(text) ?? 0) };
      };
      /** The answer of a step, or the code of its refusal. */
      const run = async (memory: number, one: (typeof steps)[number]): Promise<unknown> => {
        const by = context(memory);
        const target = 'pick' in one ? (hashes[one.pick % Math.max(hashes.length, 1)] ?? NOWHERE) : '';
        switch (one.kind) {
          case 'add':
            return add(router, memory, timed(one.fields));
          case 'addBatch':
            return router.call('addBatch', by, {
              items: one.items.map((fields) => ({ grainType: 'event', fields: timed(fields) })),
            });
          case 'get':
            return router.call('get', by, { hash: target });
          case 'history':
            return router.call('history', by, { hash: target });
          case 'supersede':
            return router.call('supersede', by, {
              oldHash: target,
              fields: { content: `new ${target}`, created_at: 1_050_000 },
            });
          case 'accumulate':
            return router.call('accumulate', by, { target: { hash: target }, deltas: { count: 2 }, set: {} });
          case 'accumulateTriple': {
            const input = {
              target: { subject: one.subject, relation: 'likes' },
              deltas: { count: 1 },
              set: { created_at: 1_060_000 },
            };
            return router.call('accumulate', by, input);
          }
          case 'forget':
            return sorted(await router.call('forget', by, { hashes: [target, NOWHERE], check: false }));
          case 'forgetSubject':
            return sorted(await router.call('forget', by, { subject: one.subject, check: false }));
          case 'eraseUser': {
            const { count, timestamp, keyFingerprint } = await router.call('eraseUser', by, { userId: one.userId });
            return { count, timestamp, hasKey: keyFingerprint !== '' };
          }
          case 'list': {
            const input = { filter: {}, order: one.order as 'asc' | 'desc', limit: one.limit }; // one of the two above
            const pages = await allPages(router, by, input);
            const { grains, total, more } = await router.call('list', by, { ...input, offset: one.offset });
            return { pages, grains: grains.map(({ hash }) => hash), total, more };
          }
          case 'recall': {
            const { query, structural, limit, candidateLimit } = one;
            const words = query === '' ? {} : { query };
            const asked: RecallQuery = { ...words, structural, limit, candidateLimit, filter: {} };
            const { hits, total } = await router.call('recall', by, asked);
            return {
              total,
              hits: hits.map(({ grain, score, superseded }) => [grain.hash, score.toFixed(9), superseded]),
            };
          }
          case 'statistics': {
            const statistics = await router.call('statistics', by, {});
            const { totalGrains, typeCounts, userCount, supersededGrains } = statistics;
            return {
              totalGrains,
              typeCounts,
              userCount,
              supersededGrains,
              namespaces: [...statistics.namespaces].sort(),
            };
          }
          case 'flush':
            return router.call('flush', by, {});
          default: {
            const { elapsedMs: _, ...counts } = await router.call('rebuildIndexes', by, {});
            return counts;
          }
        }
      };
      for (const one of steps) {
        const [single, several] = await Promise.all([run(1, one).catch(codeOf), run(2, one).catch(codeOf)]);
        assert.deepEqual(several, single, JSON.stringify(one));
        if (one.kind === 'add') hashes.push(String(single));
      }
      assert.deepEqual(await exported(router, 2), await exported(router, 1));
    }),
    { numRuns: runs(25) },
  );
});

const sorted = ({ hashes, notFound }: { hashes: readonly string[]; notFound: readonly string[] }) => ({
  hashes: hashes.toSorted(),
  notFound,
});

/** Every page of a list, by cursor. */
async function allPages(router: Router, by: RouterContext, input: Input<'list'>): Promise<string[][]> {
  const pages: string[][] = [];
  for (let after = input.after; ; ) {
    assert.ok(pages.length < 1_000, 'a list ends');
    const page = await router.call('list', by, { ...input, ...(after === undefined ? {} : { after }) });
    pages.push(page.grains.map((grain: GrainView) => grain.hash));
    assert.equal(page.more, page.next !== undefined);
    if (page.next === undefined) return pages;
    after = page.next;
  }
}

async function exported(router: Router, memory: number): Promise<string[]> {
  const grains: ExportedGrain[] = [];
  for (let after = 0, done = false, pages = 0; !done; pages++) {
    assert.ok(pages < 1_000, 'an export ends');
    const page = await router.call('exportPage', context(memory), { after, limitBytes: 200, filter: {} });
    grains.push(...page.grains);
    ({ last: after, done } = page);
  }
  for (const { hash: address, blob } of grains) assert.equal(hash('sha256', blob, 'hex'), address);
  return grains.map(({ hash: address }) => address).sort();
}

test('a memory of one partition never fans out', async () => {
  const { engines, router } = await setUp();
  const before = engines.map(({ calls }) => calls.length);
  const address = await add(router, 1, { content: 'x' });
  await router.call('get', context(1), { hash: address });
  await router.call('recall', context(1), { query: 'x', structural: false, limit: 1, candidateLimit: 9, filter: {} });
  const made = engines.map(({ calls }, shard) => calls.slice(before[shard]).map(({ method }) => method));
  made[shardOf(1, 0, SHARDS)]!.splice(0, 3, 'all of them');
  assert.deepEqual(made.flat(), ['all of them']);
});

test('each partition is in its own shard, and knows its number', async () => {
  const { engines, router } = await setUp();
  for (const { calls } of engines) calls.length = 0;
  await router.call('flush', context(2), {});
  for (const partition of [0, 1, 2, 3]) {
    const { calls } = engines[shardOf(2, partition, SHARDS)]!;
    assert.deepEqual(
      calls.map(({ context: asked }) => [asked.memory, asked.partition]),
      [[2, partition]],
    );
  }
});

test('a refusal by one partition forgets nothing in the others', async () => {
  const { router } = await setUp();
  const plain = await Promise.all([1, 2, 3, 4, 5].map((i) => add(router, 2, { subject: 'x', session_id: `s${i}` })));
  await add(router, 2, { subject: 'x', session_id: 's6', invalidation_policy: { mode: 'locked' } });
  await assert.rejects(
    router.call('forget', context(2), { subject: 'x', check: false }),
    (error) => codeOf(error) === 'POL-E003',
  );
  assert.deepEqual(
    (await router.call('locate', context(2), { hashes: plain })).held,
    plain.map(() => true),
  );
});

test('a repeated forget with its idempotency key gets the first answer again', async () => {
  const { router } = await setUp();
  const hashes = await Promise.all([1, 2, 3].map((i) => add(router, 2, { session_id: `s${i}` })));
  const by = { ...context(2), idempotency: { key: 'k', bodyHash: 'h' } };
  const first = await router.call('forget', by, { hashes, check: false });
  const again = await router.call('forget', by, { hashes, check: false });
  assert.deepEqual(first.hashes.toSorted(), hashes.toSorted());
  assert.deepEqual(again, first);
});

test('the same idempotency key with another body is refused, whichever partition the body belongs to', async () => {
  const { router, engines } = await setUp();
  const by = (key: string, bodyHash: string) => ({ ...context(2), idempotency: { key, bodyHash } });
  const event = (session: string) => ({
    grainType: 'event',
    fields: { session_id: session, content: 'x' },
    sync: false,
  });
  for (let i = 0; i < 8; i++) {
    const first = await router.call('add', by(`k${i}`, 'h'), event('s'));
    assert.deepEqual(await router.call('add', by(`k${i}`, 'h'), event('s')), first);
    const refused = router.call('add', by(`k${i}`, 'other'), event(`s${i}`));
    await assert.rejects(refused, (error) => codeOf(error) === 'VAL-E005', `s${i}`);
    const batch = { items: [event(`s${i}`)] };
    await assert.rejects(router.call('addBatch', by(`k${i}`, 'other'), batch), (e) => codeOf(e) === 'VAL-E005');
  }
  const claims = engines.flatMap(({ calls }) => calls.filter(({ method }) => method === 'claim'));
  assert.ok(new Set(claims.map(({ context: { partition } }) => partition)).size > 1, 'keys spread over partitions');
});

test('a refused call leaves its idempotency key free', async () => {
  const { router } = await setUp();
  const by = (bodyHash: string) => ({ ...context(2), idempotency: { key: 'k', bodyHash } });
  const missing = router.call('supersede', by('wrong'), { oldHash: NOWHERE, fields: {} });
  await assert.rejects(missing, (error) => codeOf(error) === 'MEM-E001');
  const oldHash = await add(router, 2, { session_id: 's' });
  const { newHash } = await router.call('supersede', by('right'), { oldHash, fields: { content: 'new' } });
  assert.notEqual(newHash, oldHash);
  const other = router.call('supersede', by('wrong'), { oldHash: newHash, fields: { content: 'newer' } });
  await assert.rejects(other, (error) => codeOf(error) === 'VAL-E005');
});

test('a user of several partitions is counted once', async () => {
  const { router } = await setUp();
  for (const i of [1, 2, 3, 4, 5, 6]) {
    await add(router, 2, { session_id: `s${i}`, user_id: 'u' });
    await add(router, 2, { session_id: `s${i}`, user_id: `u${i}` });
  }
  assert.equal((await router.call('statistics', context(2), {})).userCount, 7);
});

test('a repeated accumulate by triple adds once, also when a newer grain was added elsewhere', async () => {
  const { router } = await setUp();
  const triple = { subject: 'x', relation: 'counts' };
  const belief = { ...triple, object: 'y', count: 5 };
  const by = { ...context(2), idempotency: { key: 'k', bodyHash: 'h' } };
  const input = { target: triple, deltas: { count: 1 }, set: {} };
  for (const [i, session] of ['s1', 's2', 's3', 's4', 's5'].entries()) {
    await add(router, 2, { ...belief, session_id: session, created_at: 1_000 + i }, 'belief');
    const { newHash, applied } = await router.call('accumulate', by, input);
    const first = await router.call('accumulate', by, input);
    assert.deepEqual([first.newHash, first.applied], [newHash, applied]);
  }
  const { grains } = await router.call('list', context(2), { filter: triple, limit: 50, order: 'asc' });
  assert.deepEqual(grains.map(({ fields }) => fields['count']).toSorted(), [5, 5, 5, 5, 6]);
});

test('a repeated erasure gets the same fingerprint and time with count 0, over partitions', async () => {
  const { router, clock } = await setUp();
  for (const i of [1, 2, 3, 4, 5, 6]) await add(router, 2, { session_id: `s${i}`, user_id: 'u' });
  const first = await router.call('eraseUser', context(2), { userId: 'u' });
  clock.now += 60_000;
  const again = await router.call('eraseUser', context(2), { userId: 'u' });
  assert.equal(first.count, 6);
  assert.match(first.keyFingerprint, /^[0-9a-f]{16}$/);
  assert.deepEqual(again, { ...first, count: 0 });
});

test('a batch keeps its order, and a bad item or a shard that is down affects its own items alone', async () => {
  const { engines, router } = await setUp();
  const items = Array.from({ length: 30 }, (_, i) => ({
    grainType: 'event',
    fields: { session_id: `s${i % 7}`, ...(i === 4 ? {} : { content: `number ${i}` }) },
  }));
  engines[shardOf(2, 1, SHARDS)]!.failure = () => new EngineError('STO-E002', 'down');
  const { outcomes } = await router.call('addBatch', context(2), { items });
  const codes = outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : 'added'));
  assert.equal(codes[4], 'VAL-E003');
  assert.ok(codes.includes('STO-E002') && codes.includes('added'));
  for (const [i, outcome] of outcomes.entries()) {
    if ('error' in outcome) continue;
    const { fields } = await router.call('get', context(2), { hash: outcome.hash });
    assert.equal(fields['content'], items[i]!.fields.content);
  }
});

test('imported versions are placed with the chain that they continue', async () => {
  const { router } = await setUp();
  const root = await add(router, 2, { session_id: 'root', content: '1' });
  const { newHash } = await router.call('supersede', context(2), {
    oldHash: root,
    fields: { session_id: 'other', content: '2' },
  });
  const pages = await router.call('exportPage', context(2), {
    after: 0,
    limitBytes: 10_000,
    filter: { includeSuperseded: true },
  });
  const grains: ExportedGrain[] = [...pages.grains];
  for (let page = pages; !page.done; ) {
    page = await router.call('exportPage', context(2), {
      after: page.last,
      limitBytes: 10_000,
      filter: { includeSuperseded: true },
    });
    grains.push(...page.grains);
  }
  const blobs = [newHash, root].map((address) => grains.find((grain) => grain.hash === address)!.blob);
  const manifest = [{ hash: root, supersededBy: newHash }];

  for (const rounds of [[blobs], [blobs.slice(1), blobs.slice(0, 1)]]) {
    const { engines, router: target } = await setUp();
    for (const round of rounds) {
      const { outcomes } = await target.call('importBlobs', context(2), { blobs: round, manifest });
      assert.deepEqual(
        outcomes.map((outcome) => 'hash' in outcome && outcome.hash),
        round.map((blob) => hash('sha256', blob, 'hex')),
      );
    }
    const holders = engines.map((engine, shard) =>
      [0, 1, 2, 3].some(
        (partition) =>
          shardOf(2, partition, SHARDS) === shard &&
          engine.read('locate', { ...context(2), partition }, { hashes: [root, newHash] }).held.every((held) => held),
      ),
    );
    assert.deepEqual(
      holders.filter((holds) => holds),
      [true],
      'one partition holds both',
    );
  }
});

test('several imports of one chain are placed together, whichever came first, with their manifests', async () => {
  const blobs = ['a', 'b', 'c', 'd'].map((session) => eventBlob({ session_id: session, content: session }));
  const chain = blobs.map((blob) => hash('sha256', blob, 'hex'));
  const manifest = chain.map((address, i) => {
    const supersededBy = chain[i + 1];
    return { hash: address, ...(supersededBy === undefined ? {} : { supersededBy }) };
  });
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 2, 0, 3],
  ]) {
    const { engines, router } = await setUp();
    for (const [round, at] of order.entries()) {
      const known = new Set(order.slice(0, round + 1).map((i) => chain[i]!));
      const statistics = manifest.filter((entry) => known.has(entry.hash) || known.has(entry.supersededBy ?? ''));
      await router.call('importBlobs', context(2), { blobs: [blobs[at]!], manifest: statistics });
    }
    let blobsImported = 0;
    const partitions = engines.flatMap(({ calls }) => {
      const imports = calls.filter(({ method }) => method === 'importBlobs');
      const imported = imports.flatMap(({ input }) => (input as Input<'importBlobs'>).manifest); // of the method above
      for (const { input } of imports) blobsImported += (input as Input<'importBlobs'>).blobs.length; // the same method
      const held = imports.map((call) => call.context.partition);
      for (const { hash: old, supersededBy } of manifest.slice(0, -1))
        if (held.length > 0) assert.ok(imported.some((one) => one.hash === old && one.supersededBy === supersededBy));
      return held;
    });
    // Links to a successor of an earlier call are imported alone.
    assert.equal(blobsImported, 4);
    assert.equal(new Set(partitions).size, 1, `${order}: ${partitions}`);
  }
});

test('a blob that cannot be read fails alone', async () => {
  const { router } = await setUp();
  const blobs = [Buffer.from('not a blob'), eventBlob({ content: 'x' })];
  const { outcomes } = await router.call('importBlobs', context(2), { blobs, manifest: [] });
  assert.deepEqual(
    outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : 'added')),
    ['FMT-E001', 'added'],
  );
});

test('wire bytes are answered alike by memories of one and of four partitions', async () => {
  const { router } = await setUp();
  const wire = Buffer.from('{"grainType":"event","fields":{"session_id":"s","content":"x"}}');
  const [single, several] = await Promise.all([1, 2].map((memory) => router.callRaw(ADD_CODEC, context(memory), wire)));
  const address = Buffer.from(several!.bytes).toString();
  assert.equal(address, Buffer.from(single!.bytes).toString());
  assert.deepEqual((await router.call('locate', context(2), { hashes: [address] })).held, [true]);
});

test('a restarting shard is reported as such, unless another one has the grain', async () => {
  const { engines, router } = await setUp();
  const address = await add(router, 2, { session_id: 's' });
  const owner = engines.findIndex((engine) => engine.calls.some(({ method }) => method === 'add'));
  engines.forEach((engine, shard) => {
    if (shard === owner || ![0, 1, 2, 3].some((partition) => shardOf(2, partition, SHARDS) === shard)) return;
    engine.failure = () => new EngineError('STO-E002', 'restarting');
  });
  assert.equal((await router.call('get', context(2), { hash: address })).hash, address);
  await assert.rejects(router.call('get', context(2), { hash: NOWHERE }), (error) => codeOf(error) === 'STO-E002');
});

test('an unknown memory, partition or shard is refused', async () => {
  const { router } = await setUp();
  await assert.rejects(router.call('statistics', context(9), {}), (error) => codeOf(error) === 'MEM-E003');
  await assert.rejects(
    router.callRaw(ADD_CODEC, context(9), Buffer.from('{}')),
    (error) => codeOf(error) === 'MEM-E003',
  );
  const beyond = { ...context(2), partition: 4 };
  await assert.rejects(router.callPartition('statistics', beyond, {}), (error) => codeOf(error) === 'VAL-E001');
  await assert.rejects(router.callShard(SHARDS, 'health', {}), (error) => codeOf(error) === 'VAL-E001');
});

test('more memories than pending calls can be attached', async () => {
  const attached: number[] = [];
  // Only attaching is called on it; ten thousand real memories would take too long.
  const door: EngineDoor = {
    read: () => assert.fail('nothing is read'),
    record: () => assert.fail('nothing is recorded'),
    write: (method, { memory }) => {
      assert.equal(method, 'attachMemory');
      attached.push(memory);
      return Promise.resolve({} as never); // the output of the method above
    },
    maintain: () => false,
    pendingWrites: 0,
    close: () => Promise.resolve(),
  };
  const router = new Router({
    shards: Array.from({ length: SHARDS }, (_, shard) => directShard(shard, door)),
    settingsOf: () => undefined,
    placementOf,
  });
  const memories = Array.from({ length: PENDING_ITEMS_MAX / 2 }, (_, number) => ({
    ...FOUR,
    number,
    partitions: SHARDS,
  }));
  await router.attach(memories);
  const times = Map.groupBy(attached, (memory) => memory);
  assert.ok(memories.every(({ number }) => times.get(number)?.length === SHARDS));
});

test('health names the shard that does not answer', async () => {
  const { engines, router } = await setUp();
  engines[3]!.failure = () => new EngineError('STO-E002', 'restarting');
  const health = await router.health();
  assert.deepEqual(
    health.map(({ ok }) => ok),
    [true, true, true, false, true],
  );
  assert.deepEqual(health[3]!.reasons, ['STO-E002: restarting']);
});

test('topic coverage over partitions counts the words of the query that the memory knows', async () => {
  const { router } = await setUp();
  for (const i of [1, 2, 3, 4, 5]) await add(router, 2, { session_id: `s${i}`, content: `apple bread number${i}` });
  const asked = { structural: false, limit: 3, candidateLimit: 10, filter: {} };
  const coverage = async (query: string) => (await router.call('recall', context(2), { ...asked, query })).coverage;
  assert.equal(await coverage('apple bread'), 'full');
  assert.equal(await coverage('number1 zebra'), 'partial');
  // A word of every grain is hardly any of a question whose other word the memory does not know.
  assert.equal(await coverage('apple zebra'), 'none');
  assert.equal(await coverage('zebra'), 'none');
  assert.equal((await router.call('recall', context(2), asked)).coverage, null);
});

test('removals and changes of keys are told before and after the call, by memory', async () => {
  const { router } = await setUp();
  const hash = await add(router, 2, { session_id: 's', user_id: 'u' });
  const told: number[] = [];
  const endedKeys: boolean[] = [];
  router.watchRemovals((memory, { endsKeys }) => {
    told.push(memory);
    endedKeys.push(endsKeys);
  });
  await router.call('get', context(2), { hash });
  assert.deepEqual(told, []);
  const erased = router.call('eraseUser', context(2), { userId: 'u' });
  assert.deepEqual(told, [2]);
  await erased;
  assert.deepEqual(told, [2, 2]);
  await router.call('rotateKeys', context(1), { scope: 'memory' });
  assert.deepEqual(told, [2, 2, 1, 1]);
  await assert.rejects(router.call('forget', context(99), {} as never)); // an unknown memory
  assert.deepEqual(told, [2, 2, 1, 1, 99, 99]);
  // The rest of an erasure removes what names the person.
  await router.call('redactUser', context(2), { userId: 'u', keyFingerprint: '' });
  assert.deepEqual(told, [2, 2, 1, 1, 99, 99, 2, 2]);
  assert.deepEqual(endedKeys, [true, true, false, false, false, false, false, false]);
});
