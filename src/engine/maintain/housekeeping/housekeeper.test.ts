// Housekeeping among writes: collisions at every step, and the effects of a disk that refuses.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { codeOf, contextOf, openShard, settingsOf, until as untilDone } from '../../../../test/support/shard.ts';
import { StepClock } from '../../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../base/errors.ts';
import {
  HOUSEKEEPING_RETRY_MS,
  IDLE_SEAL_MS,
  TAIL_GRAINS_SEAL,
  TAIL_GRAINS_SHARED,
  THREAD_TAIL_GRAINS,
} from '../../base/limits.ts';
import type { AddItem } from '../../calls/grain.ts';
import type { Engine } from '../../engine.ts';
import type { IndexedGrain } from '../../index/parts/part.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import { isFullTail, isLargeTail } from './jobs.ts';
import { replayRecord } from './replay.ts';

const context = contextOf(1);

interface Opened {
  readonly engine: Engine;
  readonly clock: StepClock;
  readonly directory: string;
}

async function openEngine(t: TestContext): Promise<Opened> {
  const root = temporaryDirectory(t);
  const clock = new StepClock();
  const engine = await openShard(root, { clock });
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return { engine, clock, directory: join(root, 'shard-0') };
}

function belief(subject: string, object: string, userId?: string): AddItem & { sync: boolean } {
  const fields = { subject, relation: 'says', object };
  return { sync: false, grainType: 'belief', fields: userId === undefined ? fields : { ...fields, user_id: userId } };
}

/** Adds words of `user` in a memory where others have words too. */
async function addWords(engine: Engine, user: string): Promise<void> {
  const items = Array.from({ length: 20 }, (_, i) => belief(`${user}-${i}`, `word${i} of ${user}`, user));
  await engine.write('addBatch', context, { items });
}

/** Runs maintenance step by step until `isDone`, which gets the number of steps that were not idle. */
function until(engine: Engine, isDone: (steps: number) => boolean): Promise<void> {
  let steps = 0;
  return untilDone({ maintain: () => engine.maintain(0) && ++steps > 0 }, () => isDone(steps));
}

function isPurged({ store }: Engine): boolean {
  return !store.purgePending.has(1) && store.notedIndexKeys(1).length === 0;
}

test('an erasure at any step of the purge of another leaves no key, no word and no damage', async (t) => {
  let met = 0;
  for (let at = 1; at < 24; at += 4) {
    const { engine } = await openEngine(t);
    for (const user of ['ann', 'bob', 'cem']) await addWords(engine, user);
    await engine.write('flush', context, {});
    await engine.write('eraseUser', context, { userId: 'ann' });
    const { index: first } = engine.store.memory(1).keyIds;
    await until(engine, (steps) => steps === at || isPurged(engine));
    if (!isPurged(engine)) met += 1;
    const second = engine.write('eraseUser', context, { userId: 'bob' });
    await until(engine, () => isPurged(engine));
    await second;
    await until(engine, () => isPurged(engine));
    const { index: newest } = engine.store.memory(1).keyIds;
    assert.notEqual(newest, first);
    assert.equal(engine.read('statistics', context, {}).purgePending, 0);
    assert.equal(engine.store.keys.state(first), 'destroyed', `the key of the first erasure, at step ${at}`);
    assert.deepEqual(engine.store.index.indexKeysInUse(1), [newest]);
    const found = (query: string) =>
      engine.read('recall', context, { query, filter: {}, structural: false, limit: 50, candidateLimit: 250 });
    assert.equal(found('cem').hits.length, 20);
    assert.equal(found('ann').hits.length + found('bob').hits.length, 0);
    assert.deepEqual((await engine.write('verify', context, {})).findings, []);
  }
  assert.ok(met > 2, 'the erasures met purges');
});

test('the grains of a bad block that a purge meets come back', async (t) => {
  for (const share of [0.15, 0.25, 0.5, 0.75]) {
    const root = temporaryDirectory(t);
    const before = await openShard(root);
    await before.write('attachMemory', context, { settings: settingsOf(1) });
    for (const user of ['ann', 'cem']) await addWords(before, user);
    // Enough for several blocks: the erasure reads few of them, and the purge all.
    const items = Array.from({ length: 900 }, (_, i) => belief(`bob-${i}`, `a${i} b${i} c${i} d${i}`, 'bob'));
    await before.write('addBatch', context, { items });
    await before.close();
    const segments = join(root, 'shard-0', 'segments');
    const path = join(segments, readdirSync(segments)[0]!);
    const bytes = readFileSync(path);
    bytes[Math.floor(bytes.length * share)]! ^= 0x10;
    writeFileSync(path, bytes);
    const engine = await openShard(root);
    t.after(() => engine.close());
    const erased = await codeOf(() => engine.write('eraseUser', context, { userId: 'ann' }));
    // A job and its commit take one turn of a quick disk: nothing looks at the shard's damage in between.
    for (let i = 0; i < 3; i++) {
      engine.maintain(1_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await until(engine, () => isPurged(engine) && !engine.store.isDamaged(1));
    const found = (query: string): number =>
      engine.read('recall', context, { query, filter: {}, structural: false, limit: 50, candidateLimit: 250 }).hits
        .length;
    assert.deepEqual([found('cem'), found('ann')], [20, erased === undefined ? 0 : 20], `a flip at ${share}`);
  }
});

test('a purge that fails again and again keeps no other memory from its purge, and is tried again', async (t) => {
  const { engine, clock } = await openEngine(t);
  const { store } = engine;
  await engine.write('attachMemory', contextOf(2), { settings: settingsOf(2) });
  for (const memory of [1, 2]) {
    const of = contextOf(memory);
    await engine.write('addBatch', of, { items: [belief('ann', 'tea', 'ann'), belief('bob', 'rum', 'bob')] });
    await engine.write('flush', of, {});
    await engine.write('eraseUser', of, { userId: 'ann' });
  }
  let refused = 0;
  const purge = store.vectors.purge.bind(store.vectors);
  const failing = t.mock.method(store.vectors, 'purge', (memory: number) => {
    if (memory !== 1) return purge(memory);
    refused += 1;
    throw new EngineError('STO-E001', 'a file of vectors cannot be read');
  });
  const later = { maintain: (): boolean => engine.maintain(0) || clock.step(HOUSEKEEPING_RETRY_MS) === undefined };
  await untilDone(later, () => !store.purgePending.has(2) && refused > 2);
  assert.equal(store.purgePending.has(1), true);
  failing.mock.restore();
  await untilDone(later, () => isPurged(engine));
});

test('a caller who waits for a seal takes no turns of the event loop while the seal is committed', async (t) => {
  const { engine } = await openEngine(t);
  await addWords(engine, 'ann');
  const { log } = engine.store;
  const append = log.append.bind(log);
  let turns = 0;
  const turnsOfCommits: number[] = [];
  t.mock.method(log, 'append', async (change: Parameters<typeof append>[0]) => {
    const before = turns;
    await new Promise((resolve) => setTimeout(resolve, 20));
    turnsOfCommits.push(turns - before);
    return append(change);
  });
  const immediate = globalThis.setImmediate;
  t.mock.method(globalThis, 'setImmediate', (run: () => void) => {
    turns += 1;
    return immediate(run);
  });
  await engine.write('flush', context, {});
  assert.notEqual(turnsOfCommits.length, 0, 'the seal was committed');
  assert.ok(Math.max(...turnsOfCommits) < 10, `turns during each commit: ${turnsOfCommits}`);
});

test('a caller who waits for a seal takes no turns of the event loop while a backup pauses housekeeping', async (t) => {
  const { engine, directory } = await openEngine(t);
  await addWords(engine, 'ann');
  const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  t.mock.method(engine.store.log, 'backup', async () => {
    begun.resolve();
    await goesOn.promise;
  });
  const [dataDirectory, keysDirectory] = [join(directory, 'copy', 'data'), join(directory, 'copy', 'keys')];
  const backup = engine.write('backup', contextOf(0), { dataDirectory, keysDirectory });
  await begun.promise;
  let turns = 0;
  const immediate = globalThis.setImmediate;
  const counted = t.mock.method(globalThis, 'setImmediate', (run: () => void) => {
    turns += 1;
    return immediate(run);
  });
  const seal = engine.seal();
  for (let passed = 0; passed < 100; passed++) await turn();
  const taken = turns;
  counted.mock.restore();
  goesOn.resolve();
  await Promise.all([backup, seal]);
  assert.ok(taken < 10, `${taken} turns`);
});

test('a tail is sealed later when the other shards of its thread hold little', () => {
  const cases: readonly (readonly [own: number, ofThread: number, full: boolean])[] = [
    [TAIL_GRAINS_SHARED - 1, THREAD_TAIL_GRAINS * 4, false],
    [TAIL_GRAINS_SHARED, THREAD_TAIL_GRAINS - 1, false],
    [TAIL_GRAINS_SHARED, THREAD_TAIL_GRAINS, true],
    [TAIL_GRAINS_SEAL - 1, TAIL_GRAINS_SEAL - 1, false],
    [TAIL_GRAINS_SEAL, TAIL_GRAINS_SEAL, true],
  ];
  for (const [own, ofThread, full] of cases)
    assert.equal(
      isFullTail(own, () => ofThread),
      full,
      `${own} ${ofThread}`,
    );
});

test('another thread seals large tails of few memories while no other shard of the worker is written to', () => {
  const cases: [grains: number, memories: number, ofThread: number, large: boolean][] = [
    [8_191, 1, 8_191, false],
    [8_192, 1, 8_192, true],
    [32_768, 1, 65_535, true],
    [32_768, 1, 65_536, false],
    [32_768, 512, 32_768, true],
    [32_768, 513, 32_768, false],
  ];
  for (const [grains, memories, ofThread, large] of cases)
    assert.equal(
      isLargeTail(grains, memories, () => ofThread),
      large,
      `${grains} ${memories} ${ofThread}`,
    );
});

test('long calls that pause housekeeping take turns', async (t) => {
  const { engine } = await openEngine(t);
  await addWords(engine, 'ann');
  const made = await Promise.all([
    engine.write('rebuildIndexes', context, {}),
    engine.write('compact', context, {}),
    engine.write('rebuildIndexes', context, {}),
    engine.write('verify', context, {}),
    engine.write('compact', context, {}),
    engine.write('add', context, belief('bob', 'came meanwhile')),
    engine.write('flush', context, {}),
  ]);
  assert.equal(made[0].errors + made[2].errors, 0);
  assert.deepEqual(made[3].findings, []);
  assert.deepEqual((await engine.write('verify', context, {})).findings, []);
  assert.equal(engine.read('statistics', context, {}).totalGrains, 21);
});

test('a verification reads the log while grains are sealed, erased and put under another key', async (t) => {
  const { engine } = await openEngine(t);
  await addWords(engine, 'ann');
  await addWords(engine, 'bob');
  const { log } = engine.store;
  const scan = log.scan.bind(log);
  let done = false;
  // Gives the first record again and again until the writes are done, then the rest of the page as it was.
  t.mock.method(log, 'scan', function* (...range: Parameters<typeof scan>) {
    const page = [...scan(...range)];
    for (const untilMs = performance.now() + 10_000; !done && performance.now() < untilMs; ) yield page[0]!;
    yield* page;
  });
  const verified = engine.write('verify', context, {});
  const opened = t.mock.method(engine.store, 'openBlob');
  let order = '';
  const written = (async () => {
    await engine.write('flush', context, {});
    await engine.write('eraseUser', context, { userId: 'bob' });
    await engine.write('rotateKeys', context, { scope: 'memory' });
    done = true;
    order += ' written';
  })();
  const { findings } = await verified;
  order += ' verified';
  await written;
  assert.equal(order, ' written verified');
  assert.deepEqual(findings, []);
  assert.equal(opened.mock.callCount(), 20);
});

test('verifications of a shard take turns', async (t) => {
  const { engine } = await openEngine(t);
  await addWords(engine, 'ann');
  const { log } = engine.store;
  const scan = log.scan.bind(log);
  let [running, most] = [0, 0];
  t.mock.method(log, 'scan', function* (...range: Parameters<typeof scan>) {
    most = Math.max(most, ++running);
    // Longer than a slice.
    for (const untilMs = performance.now() + 50; performance.now() < untilMs; ) yield scan(...range).next().value;
    running -= 1;
  });
  const reports = await Promise.all([1, 2, 3].map(() => engine.write('verify', context, {})));
  assert.deepEqual(
    reports.map(({ findings }) => findings),
    [[], [], []],
  );
  assert.equal(most, 1);
});

test('a pause waits for the running job and for none that would follow', async (t) => {
  const { engine } = await openEngine(t);
  let begun = 0;
  // Vectors have more to do after each piece of work.
  function* slices(): Generator<void, void, void> {
    begun += 1;
    for (let i = 0; i < 100; i++) yield;
  }
  const work = t.mock.method(engine.store.vectors, 'work', slices);
  assert.equal(engine.maintain(0), true);
  await engine.write('verify', context, {});
  work.mock.restore();
  assert.equal(begun, 1);
});

test('versions added during a rebuild are linked in the new indexes', async (t) => {
  const { engine } = await openEngine(t);
  let { hash: tip } = await engine.write('add', context, belief('ann', 'version 0'));
  const root = tip;
  let rebuilt = false;
  const rebuild = engine.write('rebuildIndexes', context, {}).then(() => {
    rebuilt = true;
  });
  let versions = 1;
  for (; !rebuilt; versions++) {
    const fields = { object: `version ${versions}` };
    tip = (await engine.write('supersede', context, { oldHash: tip, fields })).newHash;
  }
  await rebuild;
  const history = engine.read('history', context, { hash: root }).versions;
  assert.equal(history.length, versions);
  assert.equal(history.at(-1)?.hash, tip);
});

test('a rebuild includes grains that were re-sealed after it read their page', async (t) => {
  const { engine } = await openEngine(t);
  const { store } = engine;
  const { hash } = await engine.write('add', context, belief('ann', 'under the first key'));
  const ordinal = store.findOrdinal(1, hash)!;
  const stale = decodeRecord(store.log.read(ordinal)!);
  await engine.write('rotateKeys', context, { scope: 'memory' });
  await engine.write('compact', context, {});
  assert.ok(stale.kind === 'grain' && store.keys.state(stale.key) === 'destroyed');
  const taken: number[] = [];
  const index = {
    publish: (_memory: number, grain: IndexedGrain) => void taken.push(grain.ordinal),
    publishKeyed: () => assert.fail('it is a grain'),
    markRemoved: () => assert.fail('it was not removed'),
    markErased: () => assert.fail('it was not removed'),
    markSuperseded: () => assert.fail('it is current'),
    markVerification: () => assert.fail('nothing was said of it'),
  };
  assert.equal(replayRecord(store, index, ordinal, stale), true);
  assert.deepEqual(taken, [ordinal]);
});

test('a memory may be dropped at any step of its seal', async (t) => {
  for (let at = 1; at < 20; at += 4) {
    const { engine } = await openEngine(t);
    await addWords(engine, 'ann');
    // A removed grain makes the seal a merge.
    await engine.write('forget', context, { subject: 'ann-3', check: false });
    const flush = engine.write('flush', context, {});
    let flushed = false;
    void flush.then(() => {
      flushed = true;
    });
    await until(engine, (steps) => steps === at || flushed);
    const dropped = engine.write('dropMemory', context, {});
    await until(engine, () => flushed);
    await dropped;
    await until(engine, () => engine.store.dropPending.size === 0);
    assert.deepEqual((await engine.write('verify', context, {})).findings, []);
    assert.throws(() => engine.read('statistics', context, {}), { code: 'MEM-E003' });
  }
});

test('a seal that the disk refuses is reported, harms nothing, and is retried', async (t) => {
  const { engine, clock, directory } = await openEngine(t);
  await addWords(engine, 'ann');
  const segments = join(directory, 'segments');
  renameSync(segments, `${segments}-away`);
  const refused = await engine.write('flush', context, {}).catch((error: unknown) => error);
  assert.ok(refused instanceof EngineError && refused.code === 'STO-E001', String(refused));
  // Not retried at once, while writes and reads go on.
  assert.equal(engine.maintain(10), false);
  const { hash } = await engine.write('add', context, belief('bob', 'wrote meanwhile'));
  // As the system, because an audited read would write more.
  assert.equal(engine.read('get', { ...context, actor: 'system' }, { hash }).hash, hash);
  assert.equal(engine.read('health', context, {}).sealedSequence, 0);
  assert.equal(engine.maintain(10), false);
  renameSync(`${segments}-away`, segments);
  clock.now += 10 * HOUSEKEEPING_RETRY_MS;
  await until(engine, () => {
    const { sealedSequence, sequence } = engine.read('health', context, {});
    return sealedSequence === sequence;
  });
  assert.equal(engine.read('get', context, { hash }).hash, hash);
});

test('a clock that is set back delays no seal, neither of an idle tail nor after an error', async (t) => {
  const { engine, clock, directory } = await openEngine(t);
  const isSealed = (): boolean => {
    const { sealedSequence, sequence } = engine.read('health', context, {});
    return sealedSequence === sequence;
  };
  const setBack = (ms: number): void => {
    clock.set(clock.now - 3_600_000);
    clock.step(ms);
  };
  await addWords(engine, 'ann');
  assert.equal(engine.maintain(0), false);
  setBack(IDLE_SEAL_MS);
  await until(engine, isSealed);
  await addWords(engine, 'bob');
  const segments = join(directory, 'segments');
  renameSync(segments, `${segments}-away`);
  await assert.rejects(engine.write('flush', context, {}), { code: 'STO-E001' });
  renameSync(`${segments}-away`, segments);
  setBack(IDLE_SEAL_MS + HOUSEKEEPING_RETRY_MS);
  await until(engine, isSealed);
});
