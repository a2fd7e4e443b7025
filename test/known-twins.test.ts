// Random histories of facts that several sessions state, in a memory of one partition and in one of four: after every
// step both show the same facts with the same sources, and repeated idempotent calls get the same answer.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { AddOutcome } from '../src/engine/calls/grain.ts';
import type { MemorySettings } from '../src/engine/calls/memory.ts';
import type { Engine } from '../src/engine/engine.ts';
import { decodeAuditBody } from '../src/engine/govern/trail/audit-codec.ts';
import { CorruptRecord } from '../src/engine/log/log.ts';
import { MemoryLog, MemoryLogStore } from '../src/engine/log/memory.ts';
import { openEngine } from '../src/engine/open.ts';
import { nameAtHome, parseName } from '../src/engine/record/grain-name.ts';
import { decodeRecord } from '../src/engine/record/record-codec.ts';
import type { RouterContext } from '../src/shards/gather/fan.ts';
import { shardOf } from '../src/shards/gather/placement.ts';
import { Router } from '../src/shards/router.ts';
import { directShard } from '../src/shards/transport/direct.ts';
import { settingsOf } from './support/shard.ts';

const SHARDS = 4;
const THEN = 1_699_000_000;
const USERS = ['ada', 'bob', undefined] as const;
const SESSIONS = ['s0', 's1', 's2', 's3', undefined] as const;
const NAMESPACES = ['default', 'acme'] as const;
/** No two share a relation, and no two are similar. */
const FACTS = [
  { relation: 'lives_in', object: 'Paris' },
  { relation: 'works_at', object: 'Initech' },
  { relation: 'plays', object: 'the violin' },
] as const;

const statement = fc.record({
  user: fc.constantFrom(...USERS),
  session: fc.constantFrom(...SESSIONS),
  namespace: fc.constantFrom(...NAMESPACES),
  facts: fc.subarray([...FACTS], { minLength: 1 }),
  at: fc.nat(5),
});
const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant('say' as const), statement, key: fc.option(fc.nat(3), { nil: undefined }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('forgetEvent' as const), which: fc.nat(40) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('forgetFact' as const), which: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), user: fc.constantFrom('ada', 'bob') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('flush' as const, 'rebuild' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let root: string;
let engines: Engine[];
let router: Router;
const memories = new Map<number, MemorySettings>();

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'granary-known-twins-'));
  engines = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) =>
      openEngine({
        directory: join(root, `shard-${shard}`),
        keysDirectory: join(root, 'keys', `shard-${shard}`),
        shard,
        shards: SHARDS,
        masterKeys: [Buffer.alloc(32, 7)],
        indexHeapBytes: 16 << 20,
        log: new MemoryLog(new MemoryLogStore()),
        onFatal: (error) => assert.fail(`fatal: ${error instanceof Error ? error.stack : error}`),
      }),
    ),
  );
  router = new Router({
    shards: engines.map((engine, shard) => directShard(shard, engine)),
    settingsOf: (number) => memories.get(number),
    placementOf: () => assert.fail('no blobs are imported'),
  });
});
after(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  rmSync(root, { recursive: true, force: true });
});

const contextOf = (memory: number): RouterContext => ({
  memory,
  actor: 'key:test',
  requestId: 'req_test',
  reason: 'asked',
});

/** One of the two memories, with its grains. */
class Twin {
  readonly #context: RouterContext;

  private constructor(memory: number) {
    this.#context = contextOf(memory);
  }

  static async attached(partitions: number, dedup: MemorySettings['dedup']): Promise<Twin> {
    const number = memories.size + 1;
    const settings = { ...settingsOf(number), partitions, dedup };
    memories.set(number, settings);
    await router.attach([settings]);
    return new Twin(number);
  }

  async run(step: Step): Promise<unknown> {
    switch (step.do) {
      case 'say':
        return this.#say(step.statement, step.key);
      case 'forgetEvent':
      case 'forgetFact': {
        const shown = await this.shown(step.do === 'forgetFact' ? 'belief' : 'event');
        const chosen = shown[step.which % shown.length];
        if (chosen !== undefined) await router.call('forget', this.#context, { hashes: [chosen.hash], check: false });
        return chosen?.hash;
      }
      case 'erase':
        return (await router.call('eraseUser', this.#context, { userId: step.user })).count;
      case 'flush':
        await router.call('flush', this.#context, {});
        return undefined;
      case 'rebuild':
        await router.call('rebuildIndexes', this.#context, {});
        return undefined;
    }
  }

  /** Like remember: adds the event, then its facts in one batch. With a key both are sent twice. */
  async #say(
    { user, session, namespace, facts, at }: typeof statement extends fc.Arbitrary<infer T> ? T : never,
    key?: number,
  ) {
    const who = {
      namespace,
      created_at: THEN + at,
      ...(user === undefined ? {} : { user_id: user }),
      ...(session === undefined ? {} : { session_id: session }),
    };
    const content = facts.map(({ relation, object }) => `${relation} ${object}`).join(', ');
    const event = { grainType: 'event', fields: { ...who, content }, sync: false };
    const { hash } = await router.call('add', this.#context, event);
    const items = facts.map((fact) => ({
      grainType: 'belief',
      fields: { ...who, ...fact, subject: user ?? 'somebody', derived_from: hash },
      event: 'memory.extracted' as const,
    }));
    const idempotency = { key: `${key} ${JSON.stringify(items)}`, bodyHash: 'same' };
    const context = key === undefined ? this.#context : { ...this.#context, idempotency };
    const { outcomes } = await router.call('addBatch', context, { items });
    if (key !== undefined) assert.deepEqual((await router.call('addBatch', context, { items })).outcomes, outcomes);
    return [hash, outcomes.map(plain)];
  }

  async shown(type: string) {
    const page = { filter: { grainTypes: [type], includeSuperseded: true }, limit: 200, order: 'asc' as const };
    const { grains } = await router.call('list', this.#context, page);
    return grains.map(({ hash, sources }) => ({ hash, sources }));
  }

  async audited(): Promise<boolean> {
    return (await router.call('verifyAudit', this.#context, {})).valid;
  }
}

function plain(outcome: AddOutcome): unknown {
  return 'error' in outcome ? outcome.error.code : outcome;
}

for (const dedup of ['exact', 'upsert', 'fuzzy'] as const)
  test(`one partition and four show the same facts and sources under ${dedup}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const [one, four] = [await Twin.attached(1, dedup), await Twin.attached(SHARDS, dedup)];
        for (const next of steps) {
          assert.deepEqual(await four.run(next), await one.run(next));
          assert.deepEqual(await four.shown('belief'), await one.shown('belief'));
        }
        assert.ok((await one.audited()) && (await four.audited()));
      }),
      { numRuns: 12 },
    );
  });

test('a source in another partition is named by keys of that partition, and by nothing once the person is erased', async () => {
  const twin = await Twin.attached(SHARDS, 'exact');
  const number = memories.size;
  const sources: string[] = [];
  for (const session of SESSIONS) {
    const statement = { user: 'ada' as const, session, namespace: 'default' as const, facts: [FACTS[0]], at: 0 };
    const [source] = (await twin.run({ do: 'say', statement, key: undefined })) as [string];
    sources.push(source);
  }
  const opened = () => {
    const names = engines.flatMap((engine) => [...sourceNames(engine, number)]);
    return names.map(({ kind, name }) => {
      const { partition } = parseName(name) ?? {};
      if (partition === undefined) return { kind, elsewhere: false };
      const { store } = engines[shardOf(number, partition, SHARDS)]!;
      return { kind, elsewhere: true, hash: store.memory(number).trail.addressNamed(nameAtHome(name)) };
    });
  };
  for (const kind of ['furtherSource', 'audit']) {
    const elsewhere = opened().filter((name) => name.kind === kind && name.elsewhere);
    assert.ok(elsewhere.length >= 2, kind);
    for (const { hash } of elsewhere) assert.ok(hash !== undefined && sources.includes(hash));
  }
  await twin.run({ do: 'erase', user: 'ada' });
  const left = opened();
  assert.deepEqual(
    left.filter(({ kind }) => kind === 'furtherSource'),
    [],
  );
  assert.ok(left.some(({ elsewhere }) => elsewhere));
  for (const name of left) assert.equal(name.hash, undefined);
});

/** The further sources of a memory's facts in the log of a shard. */
function* sourceNames({ store }: Engine, number: number): Generator<{ readonly kind: string; readonly name: string }> {
  for (const item of store.log.scan(1)) {
    if (item instanceof CorruptRecord) continue;
    const record = decodeRecord(item.bytes);
    if (record.memory !== number) continue;
    if (record.kind === 'furtherSource') yield { kind: record.kind, name: record.name };
    if (record.kind !== 'audit') continue;
    for (const entry of decodeAuditBody(record.body)) {
      const { source } = JSON.parse(entry.details) as { readonly source?: string };
      if (source !== undefined) yield { kind: record.kind, name: source };
    }
  }
}
