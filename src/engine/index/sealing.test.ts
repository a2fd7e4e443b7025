import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { EngineError } from '../base/errors.ts';
import type { Sliced } from './files/section.ts';
import { SegmentWriter } from './files/segment-file.ts';
import { piecesOf, TailCopy, type TailPiece } from './parts/frozen-tail.ts';
import { writeTails } from './parts/seal.ts';
import { TailSet } from './parts/tail.ts';
import { keysOf, type Sealer, type SealOrder, writeOrder } from './sealing.ts';
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

const grain = fc.record({
  memory: fc.integer({ min: 1, max: 4 }),
  seed: fc.integer({ min: 0, max: 5_000 }),
  isRemoved: fc.boolean(),
  keyed: fc.option(fc.constantFrom('audit', 'status'), { nil: undefined }),
});

function crossed(pieces: Iterable<TailPiece>): TailCopy {
  const copy = new TailCopy();
  for (const piece of pieces) copy.take(structuredClone(piece));
  return copy;
}

test('a copy in pieces is sealed to the same bytes as the tails themselves', async () => {
  const directory = temporaryDirectory();
  const keys = new TestKeys();
  let files = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(grain, { minLength: 1, maxLength: 120 }), fc.boolean(), async (grains, removes) => {
      const set = new TailSet(0);
      const removed: number[] = [];
      grains.forEach(({ memory, seed, isRemoved, keyed }, i) => {
        set.publish(memory, grainOf(i * 2 + 1, seed));
        if (keyed !== undefined) set.publishKeyed(memory, keyed, keyed === 'audit' ? 'entry' : seed, i * 2 + 2);
        if (removes && isRemoved) removed.push(i * 2 + 1);
      });
      const range = { first: 1, last: grains.length * 2 };
      const here = join(directory, `${files++}`);
      const writer = new SegmentWriter(here);
      await finishInTurns(writeTails(set, writer, { keys, isRemoved: (at) => removed.includes(at) }));
      const there = join(directory, `${files++}`);
      const order = structuredClone({ path: there, range, keys: finish(keysOf(set.tails.keys(), keys)), removed });
      const copy = crossed(piecesOf(set));
      assert.equal(await finishInTurns(writeOrder(order, copy)), writer.chunks);
      if (writer.chunks === 0) {
        writer.abandon();
        assert.equal(existsSync(there), false);
        return;
      }
      await finishInTurns(writer.finish(range));
      assert.deepEqual(contentOf(there, keys), contentOf(here, keys));
    }),
    { numRuns: runs(60) },
  );
});

/** A thread that does its work when it is told to. */
class HandSealer implements Sealer {
  orders: SealOrder[] = [];
  isCancelled = false;
  work: () => Promise<void> = async () => undefined;

  begin(order: SealOrder) {
    this.orders.push(order);
    const copy = new TailCopy();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    return {
      take: (piece: TailPiece) => copy.take(structuredClone(piece)),
      end: () => {
        this.work = () => finishInTurns(writeOrder(order, copy)).then(resolve, reject);
        return promise;
      },
      cancel: async () => {
        this.isCancelled = true;
      },
    };
  }
}

function steps<T>(work: Sliced<T>, count: number): void {
  for (let i = 0; i < count; i++) assert.notEqual(work.next().done, true, 'the seal waits');
}

test('a shard answers, takes grains and loses memories while another thread seals', async () => {
  const log = new StateOnly();
  const shard = openShard(temporaryDirectory(), log);
  const sealer = new HandSealer();
  for (let ordinal = 1; ordinal <= 60; ordinal++) shard.publish(ordinal % 3, grainOf(ordinal, ordinal));
  const work = shard.seal(60, sealer);
  while (shard.sealsElsewhere === undefined) steps(work, 1);
  shard.publish(1, grainOf(61, 61));
  commit(shard, log, finish(shard.dropMemory(2)));
  shard.markRemoved(1, 4);
  assert.equal(shard.memory(1).parts.length, 2);
  const waiting = shard.sealsElsewhere;
  await sealer.work();
  await waiting;
  assert.equal(shard.sealsElsewhere, undefined);
  commit(shard, log, finish(work));
  assert.equal(shard.sealedSequence, 60);
  assert.equal(shard.segments, 1);
  assert.deepEqual(
    [shard.memory(0), shard.memory(1), shard.memory(2)].map(({ parts }) => parts.length),
    [1, 2, 0],
  );
  assert.equal(shard.memory(1).parts[0]!.docCount, 20);
  sealAll(shard, log);
  assert.equal(shard.sealedSequence, 61);
  shard.close();
});

test('a seal that failed in another thread is repeated with the same tails', async () => {
  const log = new StateOnly();
  const shard = openShard(temporaryDirectory(), log);
  for (let ordinal = 1; ordinal <= 20; ordinal++) shard.publish(1, grainOf(ordinal, ordinal));
  const failing: Sealer = {
    begin: () => ({
      take: () => undefined,
      end: () => Promise.reject(new EngineError('STO-E001', 'no room')),
      cancel: async () => undefined,
    }),
  };
  const work = shard.seal(20, failing);
  while (shard.sealsElsewhere === undefined) steps(work, 1);
  await shard.sealsElsewhere;
  assert.throws(() => work.next(), /no room/);
  assert.equal(shard.tailGrains, 20);
  commit(shard, log, await finishInTurns(shard.seal(20, { begin: () => undefined })));
  assert.equal(shard.memory(1).parts[0]!.docCount, 20);
  assert.equal(shard.tailGrains, 0);
  shard.close();
});

test('a shard that closes gives up a seal in another thread', async () => {
  const shard = openShard(temporaryDirectory(), new StateOnly());
  const sealer = new HandSealer();
  shard.publish(1, grainOf(1, 1));
  const work = shard.seal(1, sealer);
  while (shard.sealsElsewhere === undefined) steps(work, 1);
  await shard.endElsewhere();
  assert.equal(sealer.isCancelled, true);
  shard.close();
});
