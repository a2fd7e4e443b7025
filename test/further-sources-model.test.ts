// Random histories of repeated facts, compared with a model of each fact's sources: answers agree after every step,
// through seals, merges, rebuilds, restarts and backups of the shard.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Engine } from '../src/engine/engine.ts';
import { CorruptRecord } from '../src/engine/log/log.ts';
import { decodeRecord } from '../src/engine/record/record-codec.ts';
import { memoryFolder } from './support/memory-files.ts';
import { contextOf, openShard, settingsOf } from './support/shard.ts';
import { StepClock } from './support/step-clock.ts';

const context = contextOf(1);
const USERS = ['ada', 'bob'] as const;
const THEN = 1_699_000_000;
/** A repeat is the same event. */
const EVENTS = 6;
const CLOCK = new StepClock();

const user = fc.constantFrom(...USERS);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      user,
      events: fc.array(fc.nat(EVENTS - 1), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('forgetEvent' as const), user, event: fc.nat(EVENTS - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forgetFact' as const), user }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), user }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'flush' as const,
        'compact' as const,
        'rebuild' as const,
        'reopen' as const,
        'restore' as const,
      ),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** State of one person's fact. */
interface Fact {
  /** The belief's hash, while it exists. */
  hash: string | undefined;
  /** The event from which it was first extracted. */
  first: string;
  /** Further events in order of arrival, removed ones included. */
  further: string[];
}

class Life {
  engine: Engine;
  #root: string;
  readonly #there = new Set<string>();
  readonly #facts = new Map<string, Fact>();

  readonly #hashes = new Map<string, string>();

  private constructor(root: string, engine: Engine) {
    this.#root = root;
    this.engine = engine;
  }

  static async start(): Promise<Life> {
    const root = memoryFolder();
    const life = new Life(root, await openShard(root, { clock: CLOCK }));
    await life.engine.write('attachMemory', context, { settings: settingsOf(1) });
    return life;
  }

  async run(one: Step): Promise<void> {
    switch (one.do) {
      case 'say':
        return this.#say(one.user, one.events);
      case 'forgetEvent': {
        const hash = await this.#event(one.user, one.event);
        await this.#forget(hash);
        this.#there.delete(hash);
        return;
      }
      case 'forgetFact': {
        const hash = this.#facts.get(one.user)?.hash;
        if (hash !== undefined) await this.#forget(hash);
        this.#facts.delete(one.user);
        return;
      }
      case 'erase':
        await this.engine.write('eraseUser', context, { userId: one.user });
        for (let i = 0; i < EVENTS; i++) this.#there.delete(this.#hashes.get(`${one.user} ${i}`) ?? '');
        this.#facts.delete(one.user);
        return;
      case 'flush':
        await this.engine.write('flush', context, {});
        return;
      case 'compact':
        await this.engine.write('compact', context, {});
        return;
      case 'rebuild':
        assert.equal((await this.engine.write('rebuildIndexes', context, {})).errors, 0);
        return;
      case 'reopen':
        await this.engine.close();
        this.engine = await openShard(this.#root, { clock: CLOCK });
        return;
      case 'restore': {
        const copy = memoryFolder();
        const [dataDirectory, keysDirectory] = [join(copy, 'shard-0'), join(copy, 'keys', 'shard-0')];
        for (const folder of [dataDirectory, keysDirectory]) mkdirSync(folder, { recursive: true });
        await this.engine.write('backup', context, { dataDirectory, keysDirectory });
        await this.engine.close();
        this.#root = copy;
        this.engine = await openShard(copy, { clock: CLOCK });
      }
    }
  }

  /** Adds the event. */
  async #event(who: string, event: number): Promise<string> {
    const fields = { content: 'I live in Paris.', user_id: who, created_at: THEN + event };
    const { hash } = await this.engine.write('add', context, { grainType: 'event', fields, sync: false });
    this.#hashes.set(`${who} ${event}`, hash);
    this.#there.add(hash);
    return hash;
  }

  async #forget(hash: string): Promise<void> {
    const { notFound } = await this.engine.write('forget', context, { hashes: [hash], check: false });
    assert.deepEqual(notFound, []);
  }

  /** Stores the events' facts in one call, so in one group. */
  async #say(who: string, events: readonly number[]): Promise<void> {
    const sources: string[] = [];
    for (const event of events) sources.push(await this.#event(who, event));
    const items = sources.map((source) => ({
      grainType: 'belief',
      fields: { subject: who, relation: 'lives_in', object: 'Paris', user_id: who, derived_from: source },
      event: 'memory.extracted' as const,
    }));
    const { outcomes } = await this.engine.write('addBatch', context, { items });
    for (const [i, outcome] of outcomes.entries()) {
      assert.ok('hash' in outcome && outcome.warnings.length === 0);
      const source = sources[i]!;
      const known = this.#facts.get(who);
      assert.equal(outcome.duplicate, known !== undefined);
      if (known === undefined) this.#facts.set(who, { hash: outcome.hash, first: source, further: [] });
      else {
        assert.equal(outcome.hash, known.hash);
        if (source !== known.first && !known.further.includes(source)) known.further.push(source);
      }
    }
  }

  check(): void {
    const expected = [...this.#facts.values()].map(({ hash, further }) => {
      const shown = further.filter((source) => this.#there.has(source)).reverse();
      return [hash, shown.length === 0 ? undefined : shown];
    });
    const { grains } = this.engine.read('list', context, {
      filter: { grainTypes: ['belief'], includeSuperseded: true },
      limit: 10,
      order: 'asc',
    });
    const byHash = (a: readonly unknown[], b: readonly unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1);
    assert.deepEqual(grains.map(({ hash, sources }) => [hash, sources]).sort(byHash), expected.sort(byHash));
    assert.equal(
      this.#records(),
      [...this.#facts.values()].reduce((sum, { further }) => sum + further.length, 0),
    );
  }

  /** Records of further sources in the log; those of a removed fact are removed with it. */
  #records(): number {
    return [...this.engine.store.log.scan(1)].filter(
      (item) => !(item instanceof CorruptRecord) && decodeRecord(item.bytes).kind === 'furtherSource',
    ).length;
  }
}

test('the sources of a fact are the live events that repeated it, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const life = await Life.start();
      try {
        for (const one of steps) {
          await life.run(one);
          life.check();
        }
        const report = await life.engine.write('verify', context, {});
        assert.deepEqual(report.findings, []);
      } finally {
        await life.engine.close();
      }
    }),
    { numRuns: 25 },
  );
});

test('an expired source is hidden, but not from the person', async (t) => {
  const clock = new StepClock();
  const engine = await openShard(memoryFolder(), { clock });
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const now = Math.floor(clock.now / 1000);
  const say = async (more: object) => {
    const fields = { content: 'I live in Paris.', user_id: 'ada', ...more };
    const { hash } = await engine.write('add', context, { grainType: 'event', fields, sync: false });
    const belief = { subject: 'ada', relation: 'lives_in', object: 'Paris', user_id: 'ada', derived_from: hash };
    const items = [{ grainType: 'belief', fields: belief, event: 'memory.extracted' as const }];
    const [outcome] = (await engine.write('addBatch', context, { items })).outcomes;
    assert.ok(outcome !== undefined && 'hash' in outcome);
    return { source: hash, fact: outcome.hash };
  };
  const { fact } = await say({ created_at: now });
  const short = await say({ created_at: now - 1, expires_at: now + 60 });
  const old = await say({ created_at: now - 3 * 86_400 });
  const plain = await say({ created_at: now - 2 });
  const shown = () => engine.read('get', context, { hash: fact }).sources;
  assert.deepEqual(shown(), [plain.source, old.source, short.source]);
  clock.now += 61_000;
  assert.deepEqual(shown(), [plain.source, old.source]);
  await engine.write('setPolicy', context, {
    change: { overrides: { 'retention.by_type': { event: 2 } } },
    isAdmin: true,
  });
  assert.deepEqual(shown(), [plain.source]);
  const { grains } = await engine.write('personPage', context, { userId: 'ada', after: 0, limitBytes: 1_000_000 });
  const stored = grains.find(({ view }) => view.hash === fact);
  assert.deepEqual(stored?.view.sources, [plain.source, old.source, short.source]);
});

test('a source of another person or namespace is not linked: readers of the fact may not see it', async (t) => {
  const engine = await openShard(memoryFolder(), { clock: CLOCK });
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const event = async (more: object) => {
    const fields = { content: 'Ada lives in Paris.', ...more };
    return (await engine.write('add', context, { grainType: 'event', fields, sync: false })).hash;
  };
  const own = await event({ user_id: 'ada' });
  const others = [await event({ user_id: 'bob' }), await event({ user_id: 'ada', namespace: 'acme' }), await event({})];
  const items = [own, ...others].map((source) => ({
    grainType: 'belief',
    fields: { subject: 'ada', relation: 'lives_in', object: 'Paris', user_id: 'ada', derived_from: source },
    event: 'memory.extracted' as const,
  }));
  const { outcomes } = await engine.write('addBatch', context, { items });
  assert.deepEqual(
    outcomes.map((outcome) => 'hash' in outcome && outcome.duplicate),
    [false, true, true, true],
  );
  const [fact] = outcomes;
  assert.ok(fact !== undefined && 'hash' in fact);
  assert.equal(engine.read('get', context, { hash: fact.hash }).sources, undefined);
});
