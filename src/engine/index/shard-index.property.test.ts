// Random operations on a shard against lists: after any order of publish, remove, seal, merge, purge, drop and reopen,
// even half-way, every answer equals the model's.
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkMemory, Published } from '../../../test/model/index-check.ts';
import { runs } from '../../../test/support/runs.ts';
import type { Sliced } from './files/section.ts';
import type { IndexedGrain, Keyed } from './parts/part.ts';
import type { SegmentChange, ShardIndex } from './shard-index.ts';
import { commit, finish, grainOf, openShard, StateOnly, TestKeys, temporaryDirectory } from './testing/shard.ts';

const MEMORIES = 4;

type Event =
  | { readonly kind: 'grain'; readonly memory: number; readonly sequence: number; readonly grain: IndexedGrain }
  | {
      readonly kind: 'keyed';
      readonly memory: number;
      readonly sequence: number;
      readonly name: Keyed;
      readonly key: string | number;
    }
  | { readonly kind: 'removal'; readonly memory: number; readonly sequence: number; readonly ordinal: number }
  | { readonly kind: 'supersession'; readonly memory: number; readonly sequence: number; readonly ordinal: number };

type Work = 'seal' | 'merge' | 'compact' | 'purge';
type End = 'commit' | 'abandon' | 'giveUp';

const memory = fc.nat(MEMORIES - 1);
const kinds = fc.constantFrom<Keyed>('userKey', 'scopeKey', 'status', 'predecessor', 'reply', 'audit', 'furtherSource');
const numericKinds: ReadonlySet<Keyed> = new Set<Keyed>(['status', 'predecessor', 'audit', 'furtherSource']);
const works = fc.constantFrom<Work>('seal', 'seal', 'merge', 'compact', 'purge');
const steps = fc.option(fc.nat(60));
const ends = fc.constantFrom<End>('commit', 'commit', 'abandon', 'giveUp');
const several = fc.integer({ min: 1, max: 3 });
const is = <T extends string>(name: T): fc.Arbitrary<T> => fc.constant(name);

const few = fc.record({ do: is('publish'), memory, count: fc.integer({ min: 1, max: 12 }), seed: fc.nat(5_000) });
const many = fc.record({ do: is('publish'), memory, count: fc.integer({ min: 100, max: 250 }), seed: fc.nat(5_000) });
const command = fc.oneof(
  { weight: 8, arbitrary: few },
  { weight: 1, arbitrary: many },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is('publishAndSeal'),
      memory,
      times: fc.integer({ min: 4, max: 9 }),
      seed: fc.nat(5_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: is('keyed'), memory, kind: kinds, key: fc.nat(6), count: several }) },
  { weight: 3, arbitrary: fc.record({ do: is('remove'), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: is('supersede'), pick: fc.nat() }) },
  { weight: 5, arbitrary: fc.record({ do: is('work'), work: works, memory, steps }) },
  { weight: 4, arbitrary: fc.record({ do: is('goOn'), steps, end: ends }) },
  { weight: 2, arbitrary: fc.record({ do: is('reopen') }) },
  { weight: 1, arbitrary: fc.record({ do: is('drop'), memory }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

class Driver {
  readonly directory = temporaryDirectory();
  readonly log = new StateOnly();
  readonly keys = new TestKeys();
  readonly events: Event[] = [];
  readonly models = new Map<number, Published>();
  readonly removed = new Set<number>();
  readonly superseded = new Set<number>();
  readonly dropped = new Set<number>();
  nextSequence = 1;
  shard: ShardIndex;
  /** Work that has begun and is not finished. */
  running:
    | { readonly work: Work; readonly memory: number; readonly steps: Sliced<SegmentChange | undefined> }
    | undefined;

  constructor() {
    this.shard = openShard(this.directory, this.log, this.keys);
  }

  run(step: Command): void {
    switch (step.do) {
      case 'publish':
        for (let i = 0; i < step.count; i++) {
          const sequence = this.nextSequence++;
          this.append({ kind: 'grain', memory: step.memory, sequence, grain: grainOf(sequence, step.seed + i * 31) });
        }
        return;
      case 'publishAndSeal':
        for (let i = 0; i < step.times; i++) {
          this.run({ do: 'publish', memory: (step.memory + i) % MEMORIES, count: 1 + (i % 3), seed: step.seed + i });
          this.run({ do: 'work', work: 'seal', memory: step.memory, steps: null });
        }
        return;
      case 'keyed': {
        const numeric = numericKinds.has(step.kind);
        const key = numeric ? step.key : `key ${step.key}`;
        for (let i = 0; i < step.count; i++)
          this.append({ kind: 'keyed', memory: step.memory, sequence: this.nextSequence++, name: step.kind, key });
        return;
      }
      case 'remove':
      case 'supersede': {
        const known = this.events.filter((event) => event.kind === 'grain' || event.kind === 'keyed');
        const event = known[step.pick % Math.max(1, known.length)];
        if (event === undefined) return;
        const kind = step.do === 'remove' ? 'removal' : 'supersession';
        this.append({ kind, memory: event.memory, sequence: this.nextSequence++, ordinal: event.sequence });
        return;
      }
      case 'work':
        this.begin(step.work, step.memory);
        this.goOn(step.steps ?? Number.POSITIVE_INFINITY, 'commit');
        return;
      case 'goOn':
        this.goOn(step.steps ?? Number.POSITIVE_INFINITY, step.end);
        return;
      case 'reopen':
        this.reopen();
        return;
      case 'drop':
        this.dropped.add(step.memory);
        commit(this.shard, this.log, finish(this.shard.dropMemory(step.memory)));
        return;
    }
  }

  append(event: Event): void {
    if (this.dropped.has(event.memory)) return;
    this.events.push(event);
    const model = this.models.get(event.memory) ?? new Published();
    this.models.set(event.memory, model);
    if (event.kind === 'grain') model.add(event.grain);
    if (event.kind === 'keyed') model.keyed.push({ kind: event.name, key: event.key, sequence: event.sequence });
    if (event.kind === 'removal') this.removed.add(event.ordinal);
    if (event.kind === 'supersession') this.superseded.add(event.ordinal);
    this.publish(event);
  }

  publish(event: Event): void {
    const dropped = this.dropped.has(event.memory);
    if (event.kind === 'grain' && !dropped) this.shard.publish(event.memory, event.grain);
    if (event.kind === 'keyed' && !dropped)
      this.shard.publishKeyed(event.memory, event.name, event.key, event.sequence);
    if (event.kind === 'removal') this.shard.markRemoved(event.memory, event.ordinal);
    if (event.kind === 'supersession') this.shard.markSuperseded(event.ordinal);
  }

  begin(work: Work, memory: number): void {
    if (this.running !== undefined) return;
    if (work === 'purge') this.keys.versions.set(memory, (this.keys.versions.get(memory) ?? 1) + 1);
    const steps =
      work === 'seal'
        ? this.shard.seal(this.shard.publishedSequence)
        : work === 'merge'
          ? this.shard.mergeStep()
          : work === 'compact'
            ? this.shard.compact()
            : this.shard.purge(memory);
    if (steps !== undefined) this.running = { work, memory, steps };
  }

  goOn(steps: number, end: End): void {
    const { running } = this;
    if (running === undefined) return;
    for (let i = 0; i < steps; i++) {
      const step = running.steps.next();
      if (step.done !== true) continue;
      this.running = undefined;
      if (step.value === undefined) return;
      if (end === 'commit') {
        commit(this.shard, this.log, step.value);
        if (running.work === 'purge') this.checkPurged(running.memory);
      } else {
        if (end === 'abandon') assert.ok(step.value.state.length > 0);
        this.shard.abandon(step.value);
      }
      return;
    }
    if (end !== 'giveUp') return;
    running.steps.return(undefined);
    this.running = undefined;
  }

  checkPurged(memory: number): void {
    const { id } = this.keys.indexKey(memory);
    for (const used of this.shard.indexKeysInUse(memory)) assert.equal(used, id);
  }

  /** As after a crash: nothing is committed or sealed, and files that the manifest does not name are deleted. */
  reopen(): void {
    this.running?.steps.return(undefined);
    this.running = undefined;
    this.shard.close();
    this.shard = openShard(this.directory, this.log, this.keys, 200_000);
    assert.deepEqual(this.shard.problems, []);
    for (const event of this.events) if (event.sequence > this.shard.sealedSequence) this.publish(event);
  }

  check(): void {
    for (const [memory, model] of this.models) {
      if (this.dropped.has(memory)) {
        assert.deepEqual(this.shard.memory(memory).parts, []);
        continue;
      }
      checkMemory(this.shard.memory(memory), model, (sequence) => this.removed.has(sequence));
    }
    for (const sequence of this.removed) assert.ok(this.shard.removed.get(sequence));
    for (const sequence of this.superseded) assert.ok(this.shard.superseded.get(sequence));
    assert.equal(this.shard.removed.count, this.removed.size);
    assert.equal(this.shard.superseded.count, this.superseded.size);
  }

  end(): void {
    this.goOn(Number.POSITIVE_INFINITY, 'commit');
    assert.deepEqual(finish(this.shard.verify()).findings, []);
    const names = readdirSync(this.directory);
    assert.equal(names.length, this.shard.segments, 'no file is left behind');
    this.shard.close();
    rmSync(this.directory, { recursive: true });
  }
}

test('a shard answers like lists after any operations in any order', () => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 5, maxLength: 60 }), (commands) => {
      const driver = new Driver();
      for (const step of commands) {
        driver.run(step);
        driver.check();
      }
      driver.end();
    }),
    { numRuns: runs(40), verbose: 1 },
  );
});
