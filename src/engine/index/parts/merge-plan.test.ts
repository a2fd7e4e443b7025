import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { MERGE_FANOUT, SEGMENTS_MAX } from '../../base/limits.ts';
import type { ChunkEntry } from '../files/segment-file.ts';
import { finish } from '../testing/shard.ts';
import { chooseMerge, closeUnderOrder, tierOf } from './merge-plan.ts';

/** A file with only a directory: memory to the range of its chunk. */
function file(bytes: number, chunks: Readonly<Record<number, readonly [first: number, last: number]>>) {
  const entries = Object.entries(chunks).map(
    ([memory, [first, last]]): ChunkEntry => ({
      memory: Number(memory),
      first,
      last,
      keyId: 1,
      docs: 1,
      offset: 0,
      length: bytes / Object.keys(chunks).length,
      rootLength: 1,
      id: new Uint8Array(16),
    }),
  );
  return {
    bytes,
    count: entries.length,
    first: Math.min(...entries.map((entry) => entry.first)),
    last: Math.max(...entries.map((entry) => entry.last)),
    memoryAt: (index: number) => entries[index]!.memory,
    entry: (index: number) => entries[index]!,
    find: (memory: number) => entries.find((entry) => entry.memory === memory),
  };
}
type File = ReturnType<typeof file>;

function setOf(files: readonly File[], dead: ReadonlyMap<File, ReadonlySet<number>> = new Map()) {
  const deadIn = (of: File): ReadonlySet<number> => dead.get(of) ?? new Set();
  return {
    files: [...files].sort((a, b) => a.first - b.first || a.last - b.last),
    isDead: (of: File, memory: number) => deadIn(of).has(memory),
    deadIn,
  };
}

const SMALL = 10_000;
const always = (): boolean => true;

test('neighbours of one tier are merged when there are enough of them', () => {
  const files = Array.from({ length: MERGE_FANOUT }, (_, i) => file(SMALL, { 1: [i * 10 + 1, i * 10 + 10] }));
  assert.equal(chooseMerge(setOf(files.slice(1)), always), undefined);
  assert.deepEqual(chooseMerge(setOf(files), always), files);
});

test('a large file is not merged with small ones, and separates them', () => {
  const files = Array.from({ length: MERGE_FANOUT + 2 }, (_, i) =>
    file(i === 4 ? 10_000_000 : SMALL, { 1: [i + 1, i + 1] }),
  );
  assert.equal(chooseMerge(setOf(files), always), undefined);
});

test('small files between larger ones are merged with them', () => {
  const large = 2_000_000;
  const files = Array.from({ length: MERGE_FANOUT + 1 }, (_, i) =>
    file(i === 3 ? SMALL : large, { 1: [i + 1, i + 1] }),
  );
  assert.deepEqual(chooseMerge(setOf(files), always), files);
});

test('a damaged file is skipped', () => {
  const files = Array.from({ length: MERGE_FANOUT + 3 }, (_, i) => file(SMALL, { 1: [i + 1, i + 1] }));
  const chosen = chooseMerge(setOf(files), (of) => of !== files[2]);
  assert.deepEqual(chosen, files.slice(3));
});

test('a file of which more than half is dead is rewritten alone', () => {
  const wasteful = file(SMALL, { 1: [1, 5], 2: [1, 5], 3: [2, 5] });
  const files = [wasteful, file(SMALL, { 1: [6, 9] })];
  assert.equal(chooseMerge(setOf(files, new Map([[wasteful, new Set([1])]])), always), undefined);
  assert.deepEqual(chooseMerge(setOf(files, new Map([[wasteful, new Set([1, 2])]])), always), [wasteful]);
});

test('the number of files stays bounded for all sizes', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 100, max: 3_000_000 }), { minLength: 200, maxLength: 400 }), (sizes) => {
      let files: File[] = [];
      let merges = 0;
      sizes.forEach((bytes, i) => {
        files.push(file(bytes, { 1: [i + 1, i + 1] }));
        for (
          let chosen = chooseMerge(setOf(files), always);
          chosen !== undefined;
          chosen = chooseMerge(setOf(files), always)
        ) {
          const gone = new Set(chosen);
          const merged = file(
            chosen.reduce((total, of) => total + of.bytes, 0),
            { 1: [chosen[0]!.first, chosen.at(-1)!.last] },
          );
          assert.ok(chosen.length >= MERGE_FANOUT);
          files = setOf([...files.filter((of) => !gone.has(of)), merged]).files;
          assert.ok(++merges <= sizes.length, 'merging ends');
        }
        assert.ok(files.length <= SEGMENTS_MAX);
      });
    }),
    { numRuns: runs(20) },
  );
});

test('a file whose chunk lies between merged ones is merged too', () => {
  const before = file(SMALL, { 7: [501, 510] });
  const between = file(SMALL, { 5: [1, 400], 7: [511, 520] });
  const after = file(SMALL, { 7: [521, 530] });
  const apart = file(SMALL, { 5: [531, 540] });
  const segments = setOf([before, between, after, apart]);
  assert.deepEqual(finish(closeUnderOrder(segments, [before, after], always)), segments.files.slice(0, 3));
  assert.deepEqual(finish(closeUnderOrder(segments, [before, between], always)), [between, before]);
  assert.equal(finish(closeUnderOrder(segments, [before, after], (of) => of !== between)), undefined);
  const dead = setOf([before, between, after, apart], new Map([[between, new Set([7])]]));
  assert.deepEqual(finish(closeUnderOrder(dead, [before, after], always)), [before, after]);
});

test('a file that was added to a merge may add another', () => {
  const files = [
    file(SMALL, { 1: [10, 11], 2: [10, 12] }),
    file(SMALL, { 1: [20, 21], 2: [1, 2] }),
    file(SMALL, { 1: [30, 31] }),
    file(SMALL, { 2: [5, 9], 3: [1, 100] }),
  ];
  const chosen = finish(closeUnderOrder(setOf(files), [files[0]!, files[2]!], always));
  assert.equal(chosen?.length, 4);
});

test('tiers grow by the fan-out', () => {
  assert.equal(tierOf({ bytes: 1 }), 0);
  assert.equal(tierOf({ bytes: 131_073 }), 1);
  assert.equal(tierOf({ bytes: 131_072 * MERGE_FANOUT + 1 }), 2);
});
