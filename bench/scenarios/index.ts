// The indexes of a shard without a log: publish, seal, merge, open, look up. One memory of 131,072 grains, then 10,000
// memories of 10; with texts of 15 words and without any. The longest slice is how long a shard is blocked.

import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { defined } from '../../src/engine/base/defined.ts';
import { MERGE_FANOUT, TAIL_GRAINS_SEAL } from '../../src/engine/base/limits.ts';
import { BlindTokens } from '../../src/engine/crypto/blind-tokens.ts';
import type { Sliced } from '../../src/engine/index/files/section.ts';
import { HeapBudget } from '../../src/engine/index/heap-budget.ts';
import { indexTokens } from '../../src/engine/index/index-tokens.ts';
import type { IndexedGrain } from '../../src/engine/index/parts/part.ts';
import { type IndexKeys, type SegmentChange, ShardIndex } from '../../src/engine/index/shard-index.ts';
import { makeFolder } from '../lib/folder.ts';
import { collect } from '../lib/heap.ts';
import { generator } from '../lib/random.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { rounded } from '../lib/statistics.ts';

const GRAINS_EACH = 10;
const WORDS = 20_000;

export const scenario: Scenario = {
  name: 'index',
  about: 'the indexes of a shard without a log: publish, seal, merge, open, look up',
  aims: [],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const memories = sized(size, { full: 10_000, quick: 1_000, smoke: 20 });
  const tailGrains = sized(size, { full: TAIL_GRAINS_SEAL, quick: 4_096, smoke: 50 });
  const lookups = sized(size, { full: 20_000, quick: 20_000, smoke: 200 });
  const result: Record<string, number> = {};
  const bare = oneMemory({ tailGrains, lookups, withText: false });
  result['publish_us'] = bare.publishUs;
  result['seal_us'] = bare.sealUs;
  result['seal_slice_ms'] = bare.sealSliceMs;
  result['merge_us'] = bare.mergeUs;
  result['merge_slice_ms'] = bare.mergeSliceMs;
  result['bytes_per_grain'] = bare.bytesPerGrain;
  result['tail_bytes_per_grain'] = bare.tailBytes;
  result['facet_us'] = bare.facetUs;
  result['address_us'] = bare.addressUs;
  result['address_absent_us'] = bare.absentUs;
  result['open_one_memory_ms'] = bare.openMs;
  const text = oneMemory({ tailGrains, lookups, withText: true });
  result['text_publish_us'] = text.publishUs;
  result['text_seal_us'] = text.sealUs;
  result['text_seal_slice_ms'] = text.sealSliceMs;
  result['text_merge_us'] = text.mergeUs;
  result['text_merge_slice_ms'] = text.mergeSliceMs;
  result['text_bytes_per_grain'] = text.bytesPerGrain;
  result['text_tail_bytes_per_grain'] = text.tailBytes;
  Object.assign(result, manyMemories(memories));
  return {
    parameters: { tail_grains: tailGrains, tails: MERGE_FANOUT, memories, grains_each: GRAINS_EACH },
    metrics: rounded(result),
  };
}

interface Filling {
  readonly tailGrains: number;
  /** Lookups of each kind, after all merges. */
  readonly lookups: number;
  readonly withText: boolean;
}

/** MERGE_FANOUT seals of equal size, and their merge. */
function oneMemory({ tailGrains, lookups, withText }: Filling) {
  const shard = new Bench();
  const grains = tailGrains * MERGE_FANOUT;
  const made = makeGrains(tailGrains, withText);
  let publishMs = 0;
  const seals: Timed<SegmentChange>[] = [];
  let tailBytes = 0;
  for (let round = 0; round < MERGE_FANOUT; round++) {
    const batch = made(round * tailGrains + 1);
    // Only the last tail is measured, because a collection takes longer than a small tail.
    const weighed = round === MERGE_FANOUT - 1;
    const before = weighed ? heapBytes() : 0;
    const start = performance.now();
    for (const grain of batch) shard.index.publish(1, grain);
    publishMs += performance.now() - start;
    if (weighed) tailBytes = heapBytes() - before;
    seals.push(timed(shard.index.seal(shard.index.publishedSequence)));
    shard.commit(seals.at(-1)!.value);
  }
  const facetUs = perCallUs(lookups, (i) =>
    shard.index.memory(1).parts.map((part) => part.facet('subject', `subject ${i % 3_000}`)),
  );
  const merge = timed(shard.index.mergeStep()!);
  shard.commit(merge.value!);
  const bytesPerGrain = shard.index.bytesOnDisk / grains;
  const openMs = shard.reopen();
  const [part] = shard.index.memory(1).parts;
  const addressUs = perCallUs(lookups, (i) => part!.address(addressOf((i * 7919) % grains)));
  const absentUs = perCallUs(lookups, (i) => part!.address(addressOf(-1 - i)));
  shard.close();
  const sealMs = seals.reduce((total, seal) => total + seal.ms, 0);
  return {
    publishUs: (publishMs * 1_000) / grains,
    sealUs: (sealMs * 1_000) / grains,
    sealSliceMs: Math.max(...seals.map((seal) => seal.longestMs)),
    mergeUs: (merge.ms * 1_000) / grains,
    mergeSliceMs: merge.longestMs,
    bytesPerGrain,
    tailBytes: tailBytes / tailGrains,
    facetUs,
    addressUs,
    absentUs,
    openMs,
  };
}

function manyMemories(memories: number): Record<string, number> {
  const shard = new Bench();
  const made = makeGrains(memories * GRAINS_EACH, false)(1);
  const before = heapBytes();
  made.forEach((grain, i) => {
    shard.index.publish(1 + (i % memories), grain);
  });
  const tailBytes = heapBytes() - before;
  const seal = timed(shard.index.seal(shard.index.publishedSequence));
  shard.commit(seal.value);
  const openMs = shard.reopen();
  const closed = heapBytes();
  const read = performance.now();
  for (let memory = 1; memory <= memories; memory++) shard.index.memory(memory).parts[0]!.facet('type', 'belief');
  const readUs = ((performance.now() - read) * 1_000) / memories;
  const result = {
    many_tail_bytes_per_memory: tailBytes / memories,
    many_seal_us_per_memory: (seal.ms * 1_000) / memories,
    many_bytes_per_memory: shard.index.bytesOnDisk / memories,
    many_open_ms: openMs,
    many_heap_bytes_per_closed_chunk: (closed - shard.emptyBytes) / memories,
    many_first_read_us: readUs,
  };
  shard.close();
  return result;
}

class Bench {
  readonly #directory = makeFolder();
  readonly #state = new Map<string, Uint8Array>();
  readonly #keys = benchKeys();
  emptyBytes = 0;
  index: ShardIndex;

  constructor() {
    this.index = this.#open();
  }

  commit(change: SegmentChange): void {
    for (const [key, value] of change.state) if (value !== null) this.#state.set(key, value);
    this.index.commit(change);
  }

  /** Closes and opens again; returns how long the opening took, in ms. */
  reopen(): number {
    this.index.close();
    this.emptyBytes = heapBytes();
    const start = performance.now();
    this.index = this.#open();
    return performance.now() - start;
  }

  close(): void {
    this.index.close();
    rmSync(this.#directory, { recursive: true });
  }

  #open(): ShardIndex {
    const state = this.#state;
    const log = {
      getState: (key: string) => state.get(key),
      *scanState(prefix: string): IterableIterator<readonly [string, Uint8Array]> {
        for (const entry of state) if (entry[0].startsWith(prefix)) yield entry;
      },
    };
    return ShardIndex.open({ directory: this.#directory, log, budget: new HeapBudget(64_000_000), keys: this.#keys });
  }
}

function benchKeys(): IndexKeys {
  const key = randomBytes(32);
  const tokenKey = randomBytes(32);
  const tokens = indexTokens(new BlindTokens(tokenKey));
  return {
    indexKey: () => ({ id: 1, key }),
    indexKeyById: () => key,
    formerIndexKey: () => key,
    tokens: () => tokens,
    tokenKey: () => tokenKey,
  };
}

function addressOf(number: number): string {
  return createHash('sha256').update(`grain ${number}`).digest('hex');
}

/** Beliefs of about 250 bytes: subjects repeat, objects mostly do not. */
function makeGrains(count: number, withText: boolean): (first: number) => IndexedGrain[] {
  const random = generator(11);
  const word = (): string => `w${Math.floor(WORDS ** random())}`;
  return (first) =>
    Array.from({ length: count }, (_, i): IndexedGrain => {
      const ordinal = first + i;
      const length = withText ? 10 + Math.floor(random() * 11) : 0;
      const terms = Array.from({ length }, word);
      const analyzed = { terms, positions: terms.map((_, at) => at) };
      return {
        ordinal,
        address: addressOf(ordinal),
        identity: addressOf(-ordinal).slice(0, 16),
        createdAtMs: 1_750_000_000_000 + ordinal * 250,
        type: random() < 0.7 ? 'belief' : 'event',
        namespace: 'default',
        user: `user ${Math.floor(random() * 20)}`,
        session: `session ${Math.floor(ordinal / 25)}`,
        tags: random() < 0.3 ? [`tag ${Math.floor(random() * 50)}`] : [],
        subject: `subject ${Math.floor(random() * 3_000)}`,
        relation: `relation ${Math.floor(random() * 30)}`,
        object: `object ${random() < 0.6 ? ordinal : Math.floor(random() * 2_000)}`,
        source: undefined,
        numbers: defined({
          confidence: Math.floor(random() * 10) / 10,
          importance: random() < 0.1 ? random() : undefined,
        }),
        blobBytes: 230 + Math.floor(random() * 40),
        recordBytes: 320 + Math.floor(random() * 40),
        text: { analyzed: () => analyzed },
      };
    });
}

interface Timed<T> {
  readonly value: T;
  readonly ms: number;
  /** The longest time between two yields. */
  readonly longestMs: number;
}

function timed<T>(steps: Sliced<T>): Timed<T> {
  const start = performance.now();
  let longestMs = 0;
  for (;;) {
    const before = performance.now();
    const step = steps.next();
    longestMs = Math.max(longestMs, performance.now() - before);
    if (step.done === true) return { value: step.value, ms: performance.now() - start, longestMs };
  }
}

function perCallUs(lookups: number, call: (i: number) => unknown): number {
  for (let i = 0; i < lookups / 10; i++) call(i);
  const start = performance.now();
  for (let i = 0; i < lookups; i++) call(i);
  return ((performance.now() - start) * 1_000) / lookups;
}

function heapBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
