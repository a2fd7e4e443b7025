// Seals beside the long work of a shard: writes wait for seals, so no other work may hold them up.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { addBelief, contextOf, openShard, recalled, settingsOf, until } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../base/errors.ts';
import { MERGE_FANOUT, SEGMENTS_CROWDED } from '../../base/limits.ts';
import type { Engine } from '../../engine.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Merger } from '../../index/merging.ts';
import type { FrozenTails } from '../../index/parts/frozen-tail.ts';
import { TailCopy } from '../../index/parts/frozen-tail.ts';
import { type Sealer, writeOrder } from '../../index/sealing.ts';

const context = contextOf(1);

/** A shard with two memories, whose grains are in seven segments; one more seal makes a merge due. */
async function openSealed(
  t: TestContext,
  options: Parameters<typeof openShard>[1] = {},
): Promise<{ readonly engine: Engine; readonly root: string }> {
  const root = temporaryDirectory(t);
  const engine = await openShard(root, options);
  t.after(() => engine.close());
  for (const memory of [1, 2]) await engine.write('attachMemory', contextOf(memory), { settings: settingsOf(memory) });
  for (let segment = 1; segment < MERGE_FANOUT; segment++) {
    await addBelief(engine, 1, { subject: `ann-${segment}`, object: 'an early word', user_id: 'ann' });
    await addBelief(engine, 2, { subject: `bob-${segment}`, object: 'an early word', user_id: 'bob' });
    await engine.write('flush', context, {});
  }
  return { engine, root };
}

/** Work that waits until its gate opens. Make it before the engine, whose end waits for the work. */
class Gate {
  isOpen = false;
  hasBegun = false;

  constructor(t: TestContext) {
    t.after(() => {
      this.isOpen = true;
    });
  }

  /** Takes that many steps first. */
  *hold<T>(steps: Sliced<T>, first = 0): Sliced<T> {
    for (let step = 0; step < first; step++) {
      const { done, value } = steps.next();
      if (done === true) return value;
      yield;
    }
    this.hasBegun = true;
    try {
      while (!this.isOpen) yield;
      return yield* steps;
    } finally {
      steps.return(undefined as T);
    }
  }
}

function* nothing(): Sliced<void> {}

function copyTo(root: string) {
  return { dataDirectory: join(root, 'copy', 'shard-0'), keysDirectory: join(root, 'copy', 'keys', 'shard-0') };
}

/** For each kind of long work: holds it at the gate and makes it due. Resolves when it is done, if it is a call. */
const WORK: Readonly<
  Record<string, (parts: { t: TestContext; gate: Gate; engine: Engine; root: string }) => Promise<unknown>>
> = {
  merge: async ({ t, gate, engine: { store }, engine }) => {
    const mergeStep = store.index.mergeStep.bind(store.index);
    t.mock.method(store.index, 'mergeStep', () => {
      const steps = mergeStep();
      return steps && gate.hold(steps, 2);
    });
    await addBelief(engine, 1, { subject: 'ann-8', object: 'an early word' });
    await engine.write('flush', context, {});
  },
  purge: async ({ t, gate, engine: { store }, engine }) => {
    const purge = store.index.purge.bind(store.index);
    t.mock.method(store.index, 'purge', (memory: number) => gate.hold(purge(memory)));
    await engine.write('eraseUser', context, { userId: 'ann' });
  },
  drop: async ({ t, gate, engine: { store }, engine }) => {
    const scan = store.log.scan.bind(store.log);
    t.mock.method(store.log, 'scan', function* (...range: Parameters<typeof scan>) {
      gate.hasBegun = true;
      const page = [...scan(...range)];
      while (!gate.isOpen) yield page[0]!;
      yield* page;
    });
    await engine.write('dropMemory', contextOf(2), {});
  },
  vectors: async ({ t, gate, engine: { store } }) => {
    t.mock.method(store.vectors, 'work', () => (gate.isOpen ? undefined : gate.hold(nothing())));
  },
  compaction: ({ t, gate, engine: { store }, engine }) => {
    const compact = store.index.compact.bind(store.index);
    t.mock.method(store.index, 'compact', () => gate.hold(compact()));
    return engine.write('compact', context, {});
  },
  rebuild: ({ t, gate, engine: { store }, engine }) => {
    const scan = store.log.scan.bind(store.log);
    t.mock.method(store.log, 'scan', function* (...range: Parameters<typeof scan>) {
      gate.hasBegun = true;
      const page = [...scan(...range)];
      while (!gate.isOpen && page.length > 0) yield page[0]!;
      yield* page;
    });
    return engine.write('rebuildIndexes', context, {});
  },
  verification: ({ t, gate, engine: { store }, engine }) => {
    const verify = store.vectors.verify.bind(store.vectors);
    t.mock.method(store.vectors, 'verify', (...args: Parameters<typeof verify>) => gate.hold(verify(...args)));
    return engine.write('verify', context, {});
  },
  backup: ({ t, gate, engine: { store }, engine, root }) => {
    const backup = store.log.backup.bind(store.log);
    t.mock.method(store.log, 'backup', async (directory: string) => {
      gate.hasBegun = true;
      while (!gate.isOpen) await new Promise((resolve) => setTimeout(resolve, 1));
      await backup(directory);
    });
    return engine.write('backup', contextOf(0), copyTo(root));
  },
};

for (const [name, begin] of Object.entries(WORK))
  test(`tails are sealed during this work: ${name}`, async (t) => {
    const gate = new Gate(t);
    const { engine, root } = await openSealed(t);
    const work = begin({ t, gate, engine, root });
    if (name !== 'compaction' && name !== 'rebuild' && name !== 'verification' && name !== 'backup') await work;
    await until(engine, () => gate.hasBegun);
    for (const word of ['first', 'second']) {
      await addBelief(engine, 1, { subject: word, object: `the ${word} word of meanwhile` });
      let isSealed = false;
      const flush = engine.write('flush', context, {}).then(() => {
        isSealed = true;
      });
      await until(engine, () => isSealed);
      await flush;
      assert.equal(engine.store.index.tailGrains, 0);
    }
    assert.equal(gate.isOpen, false);
    assert.equal(recalled(engine, 1, 'meanwhile').length, 2);
    gate.isOpen = true;
    await work;
    const { store } = engine;
    await until(engine, () => store.purgePending.size + store.dropPending.size === 0 && !engine.maintain(0));
    t.mock.restoreAll();
    assert.equal(recalled(engine, 1, 'meanwhile').length, 2);
    const early = { merge: MERGE_FANOUT, purge: 0 };
    assert.equal(recalled(engine, 1, 'early').length, name in early ? early[name as keyof typeof early] : 7);
    assert.deepEqual((await engine.write('verify', context, {})).findings, []);
  });

test('work that ends while a seal is being committed is put in force after it', async (t) => {
  const gate = new Gate(t);
  const { engine } = await openSealed(t);
  const { index, log, dropPending } = engine.store;
  const dropMemory = index.dropMemory.bind(index);
  t.mock.method(index, 'dropMemory', (memory: number) => gate.hold(dropMemory(memory)));
  await engine.write('dropMemory', contextOf(2), {});
  await until(engine, () => gate.hasBegun);
  await addBelief(engine, 1, { subject: 'late', object: 'the word of meanwhile' });
  const goesOn = Promise.withResolvers<void>();
  const append = log.append.bind(log);
  const appends = t.mock.method(log, 'append', async (change: Parameters<typeof append>[0]) => {
    await goesOn.promise;
    await append(change);
  });
  const flush = engine.write('flush', context, {});
  await until(engine, () => appends.mock.callCount() === 1);
  gate.isOpen = true;
  for (let turns = 0; turns < 20; turns++) engine.maintain(0);
  assert.equal(dropPending.has(2), true);
  goesOn.resolve();
  await flush;
  await until(engine, () => dropPending.size === 0);
  assert.deepEqual((await engine.write('verify', context, {})).findings, []);
  assert.equal(log.getState('drop/2'), undefined);
});

test('a backup has the segments that were sealed while it ran', async (t) => {
  const { engine, root } = await openSealed(t);
  const { store } = engine;
  const backup = store.log.backup.bind(store.log);
  let segments = 0;
  t.mock.method(store.log, 'backup', async (directory: string) => {
    await addBelief(engine, 1, { subject: 'late', object: 'the word of meanwhile' });
    await engine.write('flush', context, {});
    segments = store.index.segments;
    await backup(directory);
  });
  await engine.write('backup', contextOf(0), copyTo(root));
  const copy = await openShard(join(root, 'copy'));
  t.after(() => copy.close());
  assert.deepEqual(copy.store.index.problems, []);
  assert.equal(copy.store.index.segments, segments);
  assert.equal(recalled(copy, 1, 'meanwhile').length, 1);
});

/** A thread beside, of the test: it begins to write when the test says so. */
class HeldSealer implements Sealer {
  readonly orders: Parameters<Sealer['begin']>[0][] = [];
  mayWrite: Promise<void> = Promise.resolve();

  begin(order: Parameters<Sealer['begin']>[0]): ReturnType<Sealer['begin']> {
    this.orders.push(order);
    const copy = new TailCopy();
    return {
      take: (piece) => copy.take(structuredClone(piece)),
      end: async () => {
        await this.mayWrite;
        const steps = writeOrder(order, copy as FrozenTails);
        for (;;) {
          const step = steps.next();
          if (step.done === true) return step.value;
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
      cancel: () => Promise.resolve(),
    };
  }
}

test('a purge destroys no key under which a seal is being written', async (t) => {
  const sealer = new HeldSealer();
  const engine = await openShard(temporaryDirectory(t), { sealer, sealGrains: 1_000 });
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  for (const user of ['ann', 'bob']) await addBelief(engine, 1, { subject: user, object: 'a word', user_id: user });
  await engine.write('flush', context, {});
  // The erasure replaces the key that the seal has taken.
  const goesOn = Promise.withResolvers<void>();
  sealer.mayWrite = goesOn.promise;
  await addBelief(engine, 1, { subject: 'cem', object: 'a word' });
  const flush = engine.write('flush', context, {});
  await until(engine, () => sealer.orders.length === 2);
  const former = engine.store.memory(1).keyIds.index;
  await engine.write('eraseUser', context, { userId: 'ann' });
  for (let turns = 0; turns < 100; turns++) {
    engine.maintain(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual([engine.store.keys.state(former), engine.store.purgePending.has(1)], ['live', true]);
  goesOn.resolve();
  await flush;
  await until(engine, () => !engine.store.purgePending.has(1));
  assert.equal(engine.store.keys.state(former), 'destroyed');
  assert.equal(recalled(engine, 1, 'word').length, 2);
  assert.deepEqual((await engine.write('verify', context, {})).findings, []);
});

test('seals and erasures at any step of each other lose no grain and leave no key', async (t) => {
  let met = 0;
  for (let at = 0; at < 30; at += 6) {
    const { engine } = await openSealed(t);
    const { store } = engine;
    const steps = async (count: number): Promise<void> => {
      for (let step = 0; step < count; step++) {
        engine.maintain(0);
        if (step % 4 === 3) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await engine.write('eraseUser', context, { userId: 'ann' });
    await addBelief(engine, 1, { subject: 'cem', object: 'a later word', user_id: 'cem' });
    await addBelief(engine, 1, { subject: 'dan', object: 'a later word', user_id: 'dan' });
    await steps(at);
    const flush = engine.write('flush', context, {});
    await steps(at % 7);
    if (store.purgePending.has(1)) met += 1;
    await engine.write('eraseUser', context, { userId: 'cem' });
    await until(engine, () => store.purgePending.size === 0);
    await flush;
    await engine.write('flush', context, {});
    assert.deepEqual([recalled(engine, 1, 'early').length, recalled(engine, 1, 'later').length], [0, 1], `at ${at}`);
    assert.deepEqual(store.index.indexKeysInUse(1), [store.memory(1).keyIds.index]);
    assert.deepEqual(store.notedIndexKeys(1), []);
    assert.deepEqual((await engine.write('verify', context, {})).findings, []);
  }
  assert.ok(met > 1, `the seals met ${met} purges`);
});

test('a purge does not wait until the file of a merge is uploaded, and neither does a seal', async (t) => {
  const { engine } = await openSealed(t);
  const { store } = engine;
  let uploading = 0;
  const ahead = async (_: string, isPressed: () => boolean): Promise<void> => {
    for (uploading += 1; !isPressed(); ) await new Promise((resolve) => setImmediate(resolve));
  };
  const uploads = { ahead, landed: () => undefined, settle: () => Promise.resolve(), pending: 0, problems: [] };
  Object.assign(store, { uploads });
  t.after(() => Object.assign(store, { uploads: undefined }));
  await addBelief(engine, 1, { subject: 'ann-8', object: 'an early word', user_id: 'ann' });
  await engine.write('flush', context, {});
  await until(engine, () => uploading === 1);
  await addBelief(engine, 1, { subject: 'late', object: 'the word of meanwhile' });
  await engine.write('flush', context, {});
  assert.equal(store.counters.merges, 0);
  await engine.write('eraseUser', context, { userId: 'ann' });
  await until(engine, () => store.purgePending.size === 0);
  assert.equal(store.counters.merges, 1);
  Object.assign(store, { uploads: undefined });
});

test('the end of a shard gives a merge up, and the next open makes it', async (t) => {
  const gate = new Gate(t);
  const { engine, root } = await openSealed(t);
  await WORK['merge']!({ t, gate, engine, root });
  await until(engine, () => gate.hasBegun);
  for (let turns = 0; turns < 10; turns++) engine.maintain(0);
  await engine.close();
  // It ends once.
  t.mock.method(engine, 'close', () => Promise.resolve());
  assert.equal(gate.isOpen, false);
  const again = await openShard(root);
  t.after(() => again.close());
  assert.equal(again.store.index.segments, MERGE_FANOUT);
  await until(again, () => again.store.counters.merges === 1);
  assert.equal(recalled(again, 1, 'early').length, MERGE_FANOUT);
  assert.deepEqual((await again.write('verify', context, {})).findings, []);
});

test('seals go on while another thread merges, and the end of the shard gives that merge up', async (t) => {
  const { promise, reject } = Promise.withResolvers<undefined>();
  const paths: string[] = [];
  const merger: Merger = {
    merge: ({ path }) => {
      paths.push(path);
      return { end: () => promise, cancel: async () => reject(new EngineError('STO-E002', 'given up')) };
    },
  };
  const { engine, root } = await openSealed(t, { merger, sealGrains: 1_000 });
  for (const [object, segments] of [
    ['an early word', MERGE_FANOUT],
    ['the word of meanwhile', MERGE_FANOUT + 1],
  ] as const) {
    await addBelief(engine, 1, { subject: 'ann-8', object });
    await engine.write('flush', context, {});
    await until(engine, () => paths.length === 1);
    assert.deepEqual([engine.store.index.segments, engine.store.index.tailGrains], [segments, 0]);
  }
  // While it waits, nothing else is to do.
  assert.equal(engine.maintain(1), false);
  await engine.close();
  await assert.rejects(promise, /given up/);
  t.mock.method(engine, 'close', () => Promise.resolve());
  const again = await openShard(root);
  t.after(() => again.close());
  await until(again, () => again.store.counters.merges === 1);
  assert.equal(recalled(again, 1, 'early').length, MERGE_FANOUT);
});

test('when merges fall far behind, seals wait for the running one and not for the next', async (t) => {
  const gate = new Gate(t);
  const { engine, root } = await openSealed(t);
  const { store } = engine;
  await WORK['merge']!({ t, gate, engine, root });
  await until(engine, () => gate.hasBegun);
  // However many merges follow.
  t.mock.getter(store.index, 'segments', () => SEGMENTS_CROWDED);
  let merges = 0;
  const next = t.mock.method(store.index, 'mergeStep', () => (merges++ < 50 ? nothing() : undefined));
  await addBelief(engine, 1, { subject: 'late', object: 'the word of meanwhile' });
  let isSealed = false;
  const flush = engine.write('flush', context, {}).then(() => {
    isSealed = true;
  });
  for (let turns = 0; turns < 100; turns++) {
    engine.maintain(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual([isSealed, merges], [false, 0]);
  gate.isOpen = true;
  // The caller drives the merge.
  await flush;
  assert.equal(store.index.tailGrains, 0);
  assert.ok(merges < 5, `${merges} merges came before the seal`);
  next.mock.restore();
});
