import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { LostKey } from '../index-keys.ts';
import { TestKeys } from '../testing/shard.ts';
import { writeHalves } from './half-float.ts';
import { asKept, finish, innerProduct, unitVector } from './testing.ts';
import { VectorIndex, type VectorIndexOptions } from './vector-index.ts';

const DIMENSIONS = 32;
const EMBEDDER = { name: 'test/1', dimensions: DIMENSIONS };

class Shard {
  readonly keys = new TestKeys();
  readonly removed = new Set<number>();
  readonly directory: string;
  readonly #options: Partial<VectorIndexOptions>;
  index: VectorIndex;

  constructor(t: TestContext, options: Partial<VectorIndexOptions> = {}) {
    this.directory = temporaryDirectory(t);
    this.#options = options;
    this.index = this.#open();
    t.after(() => this.index.close());
  }

  reopen(embedder = EMBEDDER): void {
    this.index.close();
    this.index = this.#open(embedder);
  }

  add(memory: number, from: number, to: number): void {
    for (let ordinal = from; ordinal <= to; ordinal++) this.index.add(memory, ordinal, [vectorOf(ordinal)]);
    this.index.advance(memory, to);
  }

  remove(memory: number, ...ordinals: number[]): void {
    for (const ordinal of ordinals) this.removed.add(ordinal);
    this.index.remove(memory, ordinals);
  }

  seal(): void {
    finish(this.index.seal());
  }

  settle(): void {
    let works = 0;
    for (let work = this.index.work(); work !== undefined; work = this.index.work()) {
      finish(work);
      works += 1;
      assert.ok(works < 1_000, 'work ends');
    }
  }

  found(memory: number, query: number, limit = 1_000): number[] {
    return this.index.search(memory, vectorOf(query), { limit }).map(({ ordinal }) => ordinal);
  }

  files(ending = '.vec'): string[] {
    return readdirSync(this.directory).filter((name) => name.endsWith(ending));
  }

  #open(embedder = EMBEDDER): VectorIndex {
    return VectorIndex.open({
      directory: this.directory,
      keys: this.keys,
      embedder,
      isRemoved: (ordinal) => this.removed.has(ordinal),
      ...this.#options,
    });
  }
}

const vectorOf = (seed: number): Float32Array => unitVector(DIMENSIONS, seed);

test('a search returns the nearest grains by their best chunk', (t) => {
  const { index } = new Shard(t);
  index.add(1, 10, [vectorOf(1), vectorOf(2)]);
  index.add(1, 20, [vectorOf(3)]);
  index.add(2, 30, [vectorOf(2)]);
  const hits = index.search(1, vectorOf(2), { limit: 5 });
  assert.deepEqual(
    hits.map(({ ordinal }) => ordinal),
    [10, 20],
  );
  assert.ok(Math.abs(hits[0]!.cosine - 1) < 1e-3);
  assert.ok(Math.abs(hits[1]!.cosine - innerProduct(asKept(vectorOf(3)), vectorOf(2))) < 1e-5);
  assert.deepEqual([...index.cosineOf(1, vectorOf(2), [20, 30, 10])], [hits[1]!.cosine, Number.NaN, hits[0]!.cosine]);
  assert.ok(index.has(1, 10) && !index.has(1, 30) && index.has(2, 30));
  assert.equal(index.count(1), 3);
});

test('the higher ordinal of equal cosines comes first, and the limit drops the lower one', (t) => {
  const { index } = new Shard(t);
  for (const ordinal of [5, 3, 9, 7]) index.add(1, ordinal, [vectorOf(1)]);
  const ordinals = (limit: number): number[] => index.search(1, vectorOf(1), { limit }).map((hit) => hit.ordinal);
  assert.deepEqual(ordinals(10), [9, 7, 5, 3]);
  assert.deepEqual(ordinals(2), [9, 7]);
  assert.deepEqual(ordinals(0), []);
});

test('a query of other dimensions or without direction is the caller’s error, and a bad vector a bug', (t) => {
  const { index } = new Shard(t);
  const bad = (change: (vector: Float32Array) => void): Float32Array => {
    const vector = vectorOf(1);
    change(vector);
    return vector;
  };
  const notANumber = bad((vector) => vector.fill(Number.NaN, 3, 4));
  const infinite = bad((vector) => vector.fill(Number.POSITIVE_INFINITY, 3, 4));
  for (const filled of [false, true]) {
    if (filled) index.add(1, 1, [vectorOf(1)]);
    for (const query of [new Float32Array(DIMENSIONS), new Float32Array(31).fill(1), notANumber, infinite]) {
      assert.throws(() => index.search(1, query, { limit: 1 }), { code: 'VAL-E001' });
      assert.throws(() => index.cosineOf(1, query, [1]), { code: 'VAL-E001' });
    }
  }
  for (const vector of [new Float32Array(DIMENSIONS), vectorOf(1).subarray(1), notANumber, infinite])
    assert.throws(() => index.add(1, 2, [vector]), { name: 'AssertionError' });
  assert.equal(index.has(1, 2), false);
  // A query may have any length.
  assert.ok(
    Math.abs(
      index.search(
        1,
        vectorOf(1).map((value) => value * 9),
        { limit: 1 },
      )[0]!.cosine - 1,
    ) < 1e-3,
  );
});

test('sealed vectors survive a restart, and the others must be embedded again', (t) => {
  const shard = new Shard(t);
  shard.add(1, 1, 40);
  shard.seal();
  shard.add(1, 41, 50);
  shard.index.add(1, 60, [vectorOf(60)]);
  shard.reopen();
  assert.equal(shard.index.embeddedUpTo(1), 40);
  assert.deepEqual(shard.found(1, 7).length, 40);
  assert.equal(shard.found(1, 7)[0], 7);
  shard.add(1, 41, 60);
  shard.seal();
  shard.reopen();
  assert.equal(shard.index.embeddedUpTo(1), 60);
  assert.equal(shard.found(1, 7).length, 60);
});

test('a grain without coverage is sealed once it is covered', (t) => {
  const shard = new Shard(t);
  shard.index.add(1, 5, [vectorOf(5)]);
  shard.seal();
  assert.deepEqual(shard.files(), []);
  assert.equal(shard.index.unsealed, 1);
  shard.index.advance(1, 6);
  shard.seal();
  assert.equal(shard.index.unsealed, 0);
  shard.reopen();
  assert.deepEqual(shard.found(1, 5), [5]);
  assert.equal(shard.index.embeddedUpTo(1), 6);
});

test('a grain that gets new vectors after its seal has those, and they win when files are merged', (t) => {
  const shard = new Shard(t);
  shard.add(1, 1, 10);
  shard.seal();
  shard.index.add(1, 4, [vectorOf(1_000), vectorOf(1_001)]);
  shard.seal();
  for (let file = 0; file < 8; file++) {
    shard.add(1, 11 + file, 11 + file);
    shard.seal();
  }
  for (const step of ['sealed', 'merged', 'purged'] as const) {
    if (step === 'merged') {
      shard.settle();
      assert.ok(shard.files().length < 8);
    }
    if (step === 'purged') finish(shard.index.purge(1));
    shard.reopen();
    // Not loaded yet: the counts come from the files.
    if (step !== 'sealed') assert.equal(shard.index.count(1), 19, step);
    assert.equal(shard.found(1, 1_001)[0], 4, step);
    assert.equal(shard.index.count(1), 19, step);
    assert.ok(shard.index.cosineOf(1, vectorOf(4), [4])[0]! < 0.9, step);
  }
});

test('removed grains leave the heap at once, and files in a purge, under a new key', (t) => {
  const shard = new Shard(t, { scanMax: 20, listMax: 40 });
  shard.add(1, 1, 60);
  shard.add(2, 61, 70);
  shard.seal();
  shard.settle();
  shard.remove(1, 7, 30);
  assert.equal(shard.found(1, 7).includes(7), false);
  assert.ok(Number.isNaN(shard.index.cosineOf(1, vectorOf(7), [7])[0]));
  assert.deepEqual([...shard.index.keysInUse(1)], [1_001]);
  shard.keys.versions.set(1, 2);
  finish(shard.index.purge(1));
  assert.deepEqual([...shard.index.keysInUse(1)], [1_002]);
  shard.keys.destroyed.add(1_001);
  // Reopened without knowledge of removals: nothing that a purge removed may come back.
  shard.removed.clear();
  shard.reopen();
  assert.equal(shard.index.count(1), 58);
  assert.equal(shard.found(1, 7).length, 58);
  assert.equal(shard.found(1, 7).includes(7), false);
  assert.equal(shard.found(2, 65)[0], 65);
  assert.equal(shard.index.embeddedUpTo(1), 60);
  assert.deepEqual(finish(shard.index.verify()).findings, []);
});

test('a dropped memory is gone, and so is one whose keys are gone', (t) => {
  const shard = new Shard(t);
  shard.add(1, 1, 10);
  shard.add(2, 11, 20);
  shard.seal();
  shard.index.dropMemory(1);
  assert.deepEqual([shard.found(1, 1), shard.index.embeddedUpTo(1)], [[], 0]);
  shard.add(2, 21, 22);
  shard.seal();
  shard.reopen();
  assert.equal(shard.index.embeddedUpTo(1), 0);
  assert.equal(shard.found(2, 15)[0], 15);
});

test('a new embedder processes a memory while the old vectors answer, which then go', (t) => {
  const shard = new Shard(t);
  const other = { name: 'test/2', dimensions: 48 };
  shard.add(1, 1, 20);
  shard.seal();
  shard.reopen(other);
  const { index } = shard;
  assert.deepEqual(index.serving(1), EMBEDDER);
  assert.equal(index.embeddedUpTo(1), 0);
  assert.equal(index.embeddedUpTo(1, EMBEDDER), 20);
  for (let ordinal = 1; ordinal <= 12; ordinal++) index.add(1, ordinal, [unitVector(48, ordinal)]);
  index.advance(1, 12);
  assert.equal(shard.found(1, 15)[0], 15);
  assert.throws(() => index.search(1, unitVector(48, 3), { limit: 1 }), { code: 'VAL-E001' });
  assert.equal(index.search(1, unitVector(48, 3), { limit: 1, embedder: 'test/2' })[0]?.ordinal, 3);
  shard.seal();
  for (let ordinal = 13; ordinal <= 22; ordinal++) index.add(1, ordinal, [unitVector(48, ordinal)]);
  index.advance(1, 22);
  assert.deepEqual(index.serving(1), other);
  assert.equal(index.search(1, unitVector(48, 15), { limit: 1 })[0]?.ordinal, 15);
  shard.seal();
  shard.reopen(other);
  assert.deepEqual(shard.index.serving(1), other);
  assert.equal(shard.index.embeddedUpTo(1, EMBEDDER), 0);
  assert.equal(shard.index.count(1), 22);
});

test('each memory has its own embedder, and setting it again causes no work', (t) => {
  const shard = new Shard(t);
  const other = { name: 'test/2', dimensions: 48 };
  shard.index.use(2, other);
  shard.add(1, 1, 5);
  for (let ordinal = 6; ordinal <= 9; ordinal++) shard.index.add(2, ordinal, [unitVector(48, ordinal)]);
  shard.index.advance(2, 9);
  shard.seal();
  shard.settle();
  shard.index.use(1, EMBEDDER);
  shard.index.use(2, { ...other });
  assert.equal(shard.index.work(), undefined);
  assert.deepEqual([shard.index.serving(1), shard.index.serving(2)], [EMBEDDER, other]);
  shard.reopen();
  assert.deepEqual(shard.index.serving(2), other, 'before the embedder is set');
  assert.equal(shard.index.search(2, unitVector(48, 7), { limit: 1 })[0]?.ordinal, 7);
});

test('a graph is built in many small steps, and everything is found meanwhile', (t) => {
  const shard = new Shard(t, { scanMax: 100, listMax: 200 });
  shard.add(1, 1, 2_000);
  shard.seal();
  let works = 0;
  for (let work = shard.index.work(); work !== undefined; work = shard.index.work(), works++) {
    finish(work);
    assert.equal(shard.found(1, 1 + ((works * 611) % 2_000), 1)[0], 1 + ((works * 611) % 2_000));
  }
  assert.ok(works > 2, `${works} works`);
  // Enough grains are removed that the rest is copied, and more change between the steps of that copy.
  shard.remove(1, ...Array.from({ length: 700 }, (_, i) => 2 * i + 1));
  works = 0;
  for (let work = shard.index.work(); work !== undefined; work = shard.index.work(), works++) {
    finish(work);
    if (works > 3) continue;
    shard.remove(1, 1_901 + works);
    shard.index.add(1, 3_000 + works, [vectorOf(3_000 + works)]);
    shard.index.add(1, 1_950 + works, [vectorOf(4_000 + works)]);
  }
  assert.ok(works > 2, `${works} works`);
  for (const [seed, ordinal] of [
    [3_000, 3_000],
    [3_003, 3_003],
    [4_000, 1_950],
    [4_003, 1_953],
    [1_500, 1_500],
  ] as const)
    assert.equal(shard.found(1, seed, 1)[0], ordinal);
  const found = new Set(shard.found(1, 5, 5_000));
  assert.equal(found.size, 2_000 - 700 - 4 + 4);
  for (const gone of [1, 1_399, 1_901, 1_904]) assert.ok(!found.has(gone), `${gone} was removed`);
});

test('many vectors are loaded into the heap in many small steps', (t) => {
  const shard = new Shard(t);
  shard.add(1, 1, 400 * 90);
  shard.seal();
  shard.reopen();
  assert.equal(shard.index.rowsToLoad(1), 36_000);
  assert.equal(shard.index.work(), undefined, 'nothing was queried');
  shard.index.prepare(1);
  let works = 0;
  for (; shard.index.rowsToLoad(1) > 0; works++) finish(shard.index.work() ?? assert.fail('there is work'));
  assert.ok(works > 1, `${works} works`);
  assert.equal(shard.index.count(1), 36_000);
  assert.equal(shard.found(1, 17, 1)[0], 17);
});

test('a rebuild forgets everything, also after a restart', (t) => {
  const shard = new Shard(t);
  shard.add(1, 1, 20);
  shard.add(2, 21, 40);
  shard.seal();
  finish(shard.index.rebuild(1));
  shard.settle();
  for (let life = 0; life < 2; life++) {
    assert.equal(shard.index.embeddedUpTo(1), 0);
    assert.equal(shard.index.count(1), 0);
    assert.equal(shard.index.embeddedUpTo(2), 40);
    shard.reopen();
  }
  finish(shard.index.rebuild());
  assert.equal(shard.index.embeddedUpTo(2), 0);
  assert.deepEqual(shard.files(), []);
});

test('old vectors stay until those of a new embedder are in a file', (t) => {
  const shard = new Shard(t);
  const other = { name: 'test/2', dimensions: DIMENSIONS };
  shard.add(1, 1, 20);
  shard.seal();
  shard.reopen(other);
  shard.add(1, 1, 25);
  assert.deepEqual(shard.index.serving(1), other);
  shard.settle();
  shard.reopen(other);
  assert.deepEqual(shard.index.serving(1), EMBEDDER);
  assert.equal(shard.found(1, 15)[0], 15);
});

test('a grain that gets new vectors during its seal is sealed again', (t) => {
  for (let slices = 0; slices < 6; slices++) {
    const shard = new Shard(t);
    shard.add(1, 1, 100);
    const work = shard.index.seal();
    for (let i = 0; i < slices; i++) work.next();
    shard.index.add(1, 3, [vectorOf(1_000)]);
    shard.index.add(1, 100, [vectorOf(1_001)]);
    finish(work);
    shard.seal();
    shard.reopen();
    assert.equal(shard.found(1, 1_000)[0], 3, `${slices} slices`);
    assert.equal(shard.found(1, 1_001)[0], 100, `${slices} slices`);
    assert.equal(shard.index.count(1), 100);
  }
});

test('grains that are added and removed during a purge are correct afterwards', (t) => {
  let ended = false;
  for (let slices = 1; !ended; slices += 3) {
    const shard = new Shard(t, { scanMax: 20 });
    shard.add(1, 1, 90);
    shard.seal();
    shard.settle();
    shard.remove(1, 10, 11, 12);
    const work = shard.index.purge(1);
    for (let i = 0; i < slices && !ended; i++) ended = work.next().done === true;
    shard.remove(1, 20, 80);
    shard.index.add(1, 91, [vectorOf(91)]);
    shard.index.add(1, 40, [vectorOf(1_000)]);
    if (!ended) finish(work);
    const gone = [10, 11, 12, 20, 80];
    const expected = Array.from({ length: 91 }, (_, i) => i + 1).filter((ordinal) => !gone.includes(ordinal));
    const found = shard.found(1, 5).sort((a, b) => a - b);
    assert.deepEqual(found, expected, `${slices} slices`);
    assert.equal(shard.found(1, 1_000, 1)[0], 40);
    assert.equal(shard.found(1, 91, 1)[0], 91);
    shard.settle();
    assert.deepEqual(
      shard.found(1, 5).sort((a, b) => a - b),
      expected,
      `${slices} slices, settled`,
    );
  }
});

test('a memory that is dropped during its seal does not come back', (t) => {
  for (let slices = 0; slices < 5; slices++) {
    const shard = new Shard(t);
    shard.add(1, 1, 100);
    shard.add(2, 101, 110);
    const work = shard.index.seal();
    for (let i = 0; i < slices; i++) work.next();
    shard.index.dropMemory(1);
    finish(work);
    shard.seal();
    shard.reopen();
    assert.equal(shard.index.embeddedUpTo(1), 0, `${slices} slices`);
    assert.equal(shard.index.embeddedUpTo(2), 110);
  }
});

test('an unfinished step is undone, and the next one repeats it', (t) => {
  const shard = new Shard(t);
  shard.add(1, 1, 100);
  const work = shard.index.seal();
  work.next();
  assert.throws(() => finish(shard.index.seal()), { name: 'AssertionError' });
  work.return();
  assert.deepEqual(readdirSync(shard.directory), []);
  shard.seal();
  shard.reopen();
  assert.equal(shard.index.count(1), 100);
});

test('a filtered search of a graph returns as many grains as the filter allows, however few and far they are', (t) => {
  const shard = new Shard(t, { scanMax: 20, listMax: 40, tuning: { candidatesMin: 3, costFactor: 0.001 } });
  shard.add(1, 1, 400);
  shard.settle();
  const query = vectorOf(1);
  const all = shard.found(1, 1);
  assert.equal(all.length, 400);
  for (const few of [all.slice(-3), all.slice(200, 210), all.slice(0, 2), []]) {
    const ordinals = Uint32Array.from(few).sort();
    const allowed = (ordinal: number): boolean => ordinals.includes(ordinal);
    for (const filter of [
      { allowed },
      { allowed, allowedShare: 0.9 },
      { allowedOrdinals: ordinals },
      { allowed, allowedShare: 0 },
    ])
      assert.deepEqual(
        shard.index.search(1, query, { limit: 12, ...filter }).map(({ ordinal }) => ordinal),
        few,
      );
  }
});

test('a memory without its key is embedded again, and blocks no other memory', (t) => {
  const shard = new Shard(t, { sealAt: 5 });
  const { keys } = shard;
  shard.add(1, 1, 20);
  shard.add(2, 21, 40);
  const right = keys.indexKey.bind(keys);
  keys.indexKey = (memory) => {
    if (memory === 1) throw new LostKey(1, 'a test');
    return right(memory);
  };
  shard.settle();
  assert.equal(shard.index.embeddedUpTo(1), 0);
  assert.equal(shard.index.unsealed, 0);
  keys.indexKey = right;
  shard.add(1, 1, 20);
  shard.settle();
  shard.reopen();
  assert.equal(shard.index.count(1) + shard.index.count(2), 40);
});

test('purges leave no files behind', (t) => {
  const shard = new Shard(t);
  for (let round = 0; round < 10; round++) {
    shard.add(1, 1 + round * 20, 10 + round * 20);
    shard.add(2, 11 + round * 20, 20 + round * 20);
    finish(shard.index.purge(1 + (round % 2)));
  }
  assert.ok(shard.files().length <= 10, `${shard.files().length} files`);
  finish(shard.index.purge(1));
  finish(shard.index.purge(2));
  assert.equal(shard.files().length, 2);
  shard.reopen();
  assert.equal(shard.index.count(1) + shard.index.count(2), 200);
});

test('many small files become few, and nothing is lost or duplicated', (t) => {
  const shard = new Shard(t);
  for (let file = 0; file < 40; file++) {
    shard.add(1 + (file % 3), 1 + file * 5, 5 + file * 5);
    shard.seal();
    shard.settle();
  }
  assert.ok(shard.files().length < 16, `${shard.files().length} files`);
  shard.reopen();
  for (const memory of [1, 2, 3]) {
    const expected = Array.from({ length: 200 }, (_, i) => i + 1).filter(
      (ordinal) => 1 + (Math.floor((ordinal - 1) / 5) % 3) === memory,
    );
    assert.deepEqual(
      shard.found(memory, 1).sort((a, b) => a - b),
      expected,
    );
  }
});

test('unused memories leave the heap, and come back when they are asked', (t) => {
  const shard = new Shard(t, { heapBytes: 40_000 });
  for (let memory = 1; memory <= 20; memory++) {
    shard.add(memory, memory * 100, memory * 100 + 50);
    shard.seal();
  }
  assert.ok(shard.index.bytes < 80_000, `${shard.index.bytes} bytes`);
  for (let memory = 1; memory <= 20; memory++) assert.equal(shard.found(memory, memory * 100 + 7)[0], memory * 100 + 7);
});

test('a file does not contain a vector in the clear', (t) => {
  const shard = new Shard(t);
  shard.add(1, 1, 100);
  shard.seal();
  const bytes = Buffer.concat(shard.files().map((name) => readFileSync(join(shard.directory, name))));
  for (let ordinal = 1; ordinal <= 100; ordinal++) {
    const { halves, floats } = canaryOf(ordinal);
    for (let at = 0; at + 6 <= halves.length; at += 6)
      assert.equal(bytes.includes(halves.subarray(at, at + 6)), false, `halves of ${ordinal}`);
    assert.equal(bytes.includes(floats.subarray(0, 8)), false, `floats of ${ordinal}`);
  }
});

function canaryOf(ordinal: number): { halves: Buffer; floats: Buffer } {
  const floats = vectorOf(ordinal);
  const halves = new Uint16Array(floats.length);
  writeHalves(floats, halves, 0);
  return { halves: Buffer.from(halves.buffer), floats: Buffer.from(floats.buffer) };
}
