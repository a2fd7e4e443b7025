// The vector index against Maps: the same adds, removals, seals, crashes, purges and searches give the same grains,
// whether a memory is scanned or has a graph, and whatever happens between two slices of work.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import type { Sliced } from '../files/section.ts';
import { TestKeys, temporaryDirectory } from '../testing/shard.ts';
import { asKept, innerProduct, unitVector } from './testing.ts';
import { VectorIndex, type VectorSearch } from './vector-index.ts';
import type { EmbedderStamp, NearFrom } from './vector-set.ts';

const EMBEDDERS: readonly EmbedderStamp[] = [
  { name: 'test/a', dimensions: 24 },
  { name: 'test/b', dimensions: 40 },
];
const MEMORIES = [1, 2] as const;

type Step =
  | {
      readonly do: 'add';
      readonly memory: number;
      readonly grains: number;
      readonly chunks: number;
      readonly seed: number;
    }
  | {
      readonly do: 'again';
      readonly memory: number;
      readonly pick: number;
      readonly chunks: number;
      readonly seed: number;
    }
  | { readonly do: 'advance'; readonly memory: number; readonly by: number }
  | { readonly do: 'remove'; readonly memory: number; readonly pick: number; readonly count: number }
  | {
      readonly do: 'search';
      readonly memory: number;
      readonly seed: number;
      readonly limit: number;
      readonly filter: number;
    }
  | { readonly do: 'begin'; readonly work: 'seal' | 'work' | 'purge' | 'verify' | 'load'; readonly memory: number }
  | { readonly do: 'slices'; readonly count: number }
  | { readonly do: 'finish' | 'reopen' }
  | { readonly do: 'use'; readonly memory: number; readonly embedder: number }
  | { readonly do: 'rebuild'; readonly memory: number };

const memory = fc.constantFrom(...MEMORIES);
const seed = fc.nat(1_000_000);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('add' as const),
        memory,
        grains: fc.integer({ min: 1, max: 30 }),
        chunks: fc.integer({ min: 1, max: 3 }),
        seed,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('again' as const),
        memory,
        pick: fc.nat(),
        chunks: fc.integer({ min: 1, max: 3 }),
        seed,
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('advance' as const), memory, by: fc.integer({ min: 0, max: 40 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('remove' as const),
        memory,
        pick: fc.nat(),
        count: fc.integer({ min: 1, max: 25 }),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('search' as const),
        memory,
        seed,
        limit: fc.integer({ min: 0, max: 40 }),
        filter: fc.nat(4),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('begin' as const),
        work: fc.constantFrom(
          'seal' as const,
          'seal' as const,
          'work' as const,
          'work' as const,
          'purge' as const,
          'verify' as const,
          'load' as const,
        ),
        memory,
      }),
    },
    { weight: 8, arbitrary: fc.record({ do: fc.constant('slices' as const), count: fc.integer({ min: 1, max: 12 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constantFrom('finish' as const, 'finish' as const, 'reopen' as const) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('use' as const), memory, embedder: fc.nat(1) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('rebuild' as const), memory }) },
  ),
  { minLength: 5, maxLength: 60 },
);

/** One memory's vectors by one embedder. */
class ModelVectors {
  readonly grains = new Map<number, readonly Float32Array[]>();
  cursor = 0;
  /** The state that a crash must leave: grains with their versions since, and the minimum coverage. */
  sealed = { grains: new Map<number, number>(), cursor: 0 };
  /** All vectors that a grain has had. */
  readonly versions = new Map<number, (readonly Float32Array[])[]>();

  add(ordinal: number, vectors: readonly Float32Array[]): void {
    this.grains.set(ordinal, vectors);
    this.versions.set(ordinal, [...(this.versions.get(ordinal) ?? []), vectors]);
  }

  snapshot(): ModelVectors['sealed'] {
    const covered = [...this.grains.keys()].filter((ordinal) => ordinal <= this.cursor);
    const grains = new Map(covered.map((ordinal) => [ordinal, this.versions.get(ordinal)!.length - 1]));
    return { grains, cursor: this.cursor };
  }
}

const NEAR_FROM = {
  scanned: { scanMax: 1_000_000, listMax: 1_000_000 },
  'with lists of sketches': { scanMax: 20, listMax: 1_000_000 },
  'with graphs': { scanMax: 20, listMax: 40 },
} as const;

class World {
  readonly #directory = temporaryDirectory();
  readonly #isExact: boolean;
  readonly #nearFrom: NearFrom;
  readonly keys = new TestKeys();
  readonly removed = new Set<number>();
  readonly #models = new Map<string, ModelVectors>();
  /** Kept across reopens, because the caller sets it again. */
  readonly #embedders = new Map<number, EmbedderStamp>();
  #index: VectorIndex;
  #next = 1;
  #work: { readonly steps: Sliced<unknown>; readonly done: (result: unknown) => void } | undefined;

  constructor(nearFrom: NearFrom) {
    this.#nearFrom = nearFrom;
    this.#isExact = nearFrom === NEAR_FROM.scanned;
    this.#index = this.#open();
  }

  close(): void {
    this.#index.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  step(step: Step): void {
    switch (step.do) {
      case 'add':
        for (let i = 0; i < step.grains; i++) this.#add(step.memory, this.#next++, step.chunks, step.seed + i);
        break;
      case 'again': {
        const ordinal = pickOf([...this.#model(step.memory).grains.keys()], step.pick);
        if (ordinal !== undefined) this.#add(step.memory, ordinal, step.chunks, step.seed);
        break;
      }
      case 'advance': {
        const model = this.#model(step.memory);
        model.cursor += step.by;
        this.#index.advance(step.memory, model.cursor);
        break;
      }
      case 'remove':
        this.#remove(step.memory, step.pick, step.count);
        break;
      case 'search':
        this.#search(step);
        break;
      case 'begin':
        this.#finish();
        this.#begin(step.work, step.memory);
        break;
      case 'slices':
        for (let i = 0; i < step.count; i++) this.#slice();
        break;
      case 'finish':
        this.#finish();
        break;
      case 'reopen':
        this.#crash();
        break;
      case 'use':
        this.#use(step.memory, EMBEDDERS[step.embedder]!);
        break;
      case 'rebuild':
        this.#finish();
        drain(this.#index.rebuild(step.memory));
        this.#index.use(step.memory, this.#embedderOf(step.memory));
        for (const { name } of EMBEDDERS) this.#models.delete(`${step.memory}/${name}`);
    }
    for (const memory of MEMORIES) assert.equal(this.#index.embeddedUpTo(memory), this.#model(memory).cursor);
  }

  #open(): VectorIndex {
    const index = VectorIndex.open({
      directory: this.#directory,
      keys: this.keys,
      embedder: EMBEDDERS[0]!,
      isRemoved: (ordinal) => this.removed.has(ordinal),
      ...this.#nearFrom,
      tuning: { candidatesMin: 3, costFactor: 0.025 },
      sealAt: 40,
      heapBytes: 150_000,
    });
    for (const [memory, embedder] of this.#embedders) index.use(memory, embedder);
    return index;
  }

  #embedderOf(memory: number): EmbedderStamp {
    return this.#embedders.get(memory) ?? EMBEDDERS[0]!;
  }

  #model(memory: number, stamp = this.#embedderOf(memory)): ModelVectors {
    const name = `${memory}/${stamp.name}`;
    const known = this.#models.get(name) ?? new ModelVectors();
    this.#models.set(name, known);
    return known;
  }

  #other(memory: number): EmbedderStamp {
    return EMBEDDERS.find((stamp) => stamp !== this.#embedderOf(memory))!;
  }

  #add(memory: number, ordinal: number, chunks: number, seed: number): void {
    const { dimensions } = this.#embedderOf(memory);
    // Some vectors are the same.
    const vectors = Array.from({ length: chunks }, (_, at) => unitVector(dimensions, seed % 5 === 0 ? 7 : seed + at));
    this.#index.add(memory, ordinal, vectors);
    this.#model(memory).add(ordinal, vectors.map(asKept));
  }

  #remove(memory: number, pick: number, count: number): void {
    const stamp = this.#index.serving(memory) ?? this.#embedderOf(memory);
    const ordinals = [...this.#model(memory, stamp).grains.keys()];
    const from = ordinals.length === 0 ? 0 : pick % ordinals.length;
    const gone = ordinals.slice(from, from + count);
    for (const ordinal of gone) this.removed.add(ordinal);
    this.#index.remove(memory, gone);
    for (const each of EMBEDDERS) for (const ordinal of gone) this.#model(memory, each).grains.delete(ordinal);
  }

  #begin(work: (Step & { do: 'begin' })['work'], memory: number): void {
    const nothing = (): void => undefined;
    if (work === 'seal') {
      const snapshots = [...this.#models.values()].map((model) => [model, model.snapshot()] as const);
      const done = (): void => {
        for (const [model, snapshot] of snapshots) model.sealed = snapshot;
      };
      this.#work = { steps: this.#index.seal(), done };
    } else if (work === 'work') {
      const steps = this.#index.work();
      if (steps !== undefined) this.#work = { steps, done: nothing };
    } else if (work === 'purge') {
      const version = (this.keys.versions.get(memory) ?? 1) + 1;
      this.keys.versions.set(memory, version);
      const newest = this.keys.indexKey(memory).id;
      const done = (): void => {
        for (const id of this.#index.keysInUse(memory)) assert.equal(id, newest, 'a purge leaves no older key');
      };
      this.#work = { steps: this.#index.purge(memory), done };
    } else if (work === 'verify') {
      const done = (report: unknown): void => assert.deepEqual((report as { findings: unknown }).findings, []);
      this.#work = { steps: this.#index.verify(), done };
    } else this.#work = { steps: this.#index.load(memory), done: nothing };
  }

  #slice(): void {
    const work = this.#work;
    const step = work?.steps.next();
    if (work === undefined || step?.done !== true) return;
    this.#work = undefined;
    work.done(step.value);
  }

  #finish(): void {
    while (this.#work !== undefined) this.#slice();
  }

  /** Once another embedder has caught up, an embedder's vectors may be gone, and then all of them are. */
  #use(memory: number, embedder: EmbedderStamp): void {
    const before = this.#embedderOf(memory);
    this.#embedders.set(memory, embedder);
    this.#index.use(memory, embedder);
    if (this.#index.embeddedUpTo(memory) > 0 || this.#model(memory).cursor === 0) return;
    assert.ok(this.#model(memory, before).cursor >= this.#model(memory).cursor, 'only superseded vectors are removed');
    this.#models.delete(`${memory}/${embedder.name}`);
  }

  /** The process ends between two calls. At least the state at the start of the last finished seal remains. */
  #crash(): void {
    this.#index.close();
    this.#work = undefined;
    this.#index = this.#open();
    for (const stamp of EMBEDDERS) for (const memory of MEMORIES) this.#reconcile(memory, stamp);
  }

  #reconcile(memory: number, stamp: EmbedderStamp): void {
    const model = this.#model(memory, stamp);
    const cursor = this.#index.embeddedUpTo(memory, stamp);
    const isGone =
      cursor === 0 &&
      this.#model(
        memory,
        EMBEDDERS.find((other) => other !== stamp),
      ).cursor >= model.cursor;
    if (!isGone) assert.ok(cursor >= model.sealed.cursor, 'sealed grains are covered');
    assert.ok(cursor <= model.cursor, 'the index covers no more than the model');
    model.cursor = cursor;
    model.grains.clear();
    const ordinals = [...model.versions.keys()].sort((a, b) => a - b);
    const query = unitVector(stamp.dimensions, 99);
    const found =
      cursor === 0 ? ordinals.map(() => Number.NaN) : this.#index.cosineOf(memory, query, ordinals, stamp.name);
    ordinals.forEach((ordinal, at) => {
      const versions = model.versions.get(ordinal)!;
      const sealed = this.removed.has(ordinal) || isGone ? undefined : model.sealed.grains.get(ordinal);
      const cosine = found[at]!;
      if (Number.isNaN(cosine)) assert.equal(sealed, undefined, `grain ${ordinal} was sealed`);
      else {
        assert.ok(ordinal <= cursor && !this.removed.has(ordinal), `grain ${ordinal} should not be there`);
        const has = versions.findLastIndex((version) => Math.abs(bestCosine(version, query) - cosine) < 1e-5);
        assert.ok(has >= (sealed ?? 0), `grain ${ordinal} has vectors that it had when it was sealed, or later`);
        model.grains.set(ordinal, versions[has]!);
      }
    });
    model.sealed = isGone ? { grains: new Map(), cursor: 0 } : model.sealed;
    for (const ordinal of model.sealed.grains.keys())
      if (!model.grains.has(ordinal)) model.sealed.grains.delete(ordinal);
  }

  #search({ memory, seed, limit, filter }: Step & { do: 'search' }): void {
    const own = this.#model(memory);
    const other = this.#model(memory, this.#other(memory));
    const stamp = other.cursor > own.cursor ? this.#other(memory) : this.#embedderOf(memory);
    const { grains } = this.#model(memory, stamp);
    const query = unitVector(stamp.dimensions, seed % 5 === 0 ? 7 : seed);
    const modulus = 1 + (seed % 4);
    const isAllowed = (ordinal: number): boolean => filter === 0 || ordinal % modulus === 0;
    const list = Uint32Array.from({ length: this.#next + 2 }, (_, ordinal) => ordinal).filter(isAllowed);
    const options: VectorSearch = {
      limit,
      ...(filter === 1 || filter === 3 ? { allowed: isAllowed } : {}),
      ...(filter === 2 || filter === 4 ? { allowedOrdinals: list } : {}),
      ...(filter === 3 ? { allowedShare: 1 / modulus } : {}),
    };
    const hits = this.#index.search(memory, query, options);
    const allowed = [...grains.keys()].filter(isAllowed).sort((a, b) => b - a);
    const cosines = this.#index.cosineOf(memory, query, allowed);
    allowed.forEach((ordinal, at) => {
      assert.ok(Math.abs(cosines[at]! - bestCosine(grains.get(ordinal)!, query)) < 1e-5, `cosine of ${ordinal}`);
    });
    const expected = allowed
      .map((ordinal, at) => ({ ordinal, cosine: cosines[at]! }))
      .sort((a, b) => b.cosine - a.cosine || b.ordinal - a.ordinal);
    if (this.#isExact) assert.deepEqual(hits, expected.slice(0, limit));
    else {
      // The results of a graph are exact, but may be incomplete.
      assert.equal(hits.length, Math.min(limit, allowed.length));
      const found = new Set(hits.map(({ ordinal }) => ordinal));
      assert.equal(found.size, hits.length);
      assert.deepEqual(
        hits,
        expected.filter(({ ordinal }) => found.has(ordinal)),
      );
    }
    assert.ok([...this.removed].every((ordinal) => !this.#index.has(memory, ordinal)));
    assert.equal(
      this.#index.count(memory),
      [...grains.values()].reduce((sum, chunks) => sum + chunks.length, 0),
    );
  }
}

function bestCosine(chunks: readonly Float32Array[], query: Float32Array): number {
  return Math.max(...chunks.map((chunk) => innerProduct(chunk, query)));
}

function pickOf<T>(items: readonly T[], pick: number): T | undefined {
  return items[pick % Math.max(1, items.length)];
}

function drain(work: Sliced<unknown>): void {
  while (work.next().done !== true);
}

for (const [name, from] of Object.entries(NEAR_FROM)) {
  test(`${name}, the index equals its model, through maintenance and crashes`, () => {
    fc.assert(
      fc.property(steps, (all) => {
        const world = new World(from);
        try {
          for (const step of all) world.step(step);
        } finally {
          world.close();
        }
      }),
      { numRuns: runs(60) },
    );
  });
}
