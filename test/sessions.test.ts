// Sessions on an engine: counts against a naive reading of the same grains, in tails, in segments and after a crash, and
// how many grains are opened for a session of many.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CONTEXT_OPENED_MAX } from '../src/engine/base/limits.ts';
import type { AddItem, GrainView } from '../src/engine/calls/grain.ts';
import type { SessionSummary } from '../src/engine/calls/session.ts';
import type { Engine } from '../src/engine/engine.ts';
import { ForwardingLog } from '../src/engine/log/forwarding-log.ts';
import type { Sequence } from '../src/engine/log/log.ts';
import { MemoryLog, MemoryLogStore } from '../src/engine/log/memory.ts';
import { compileContext } from '../src/engine/session/compile.ts';
import { runs } from './support/runs.ts';
import { contextOf, openShard, settingsOf } from './support/shard.ts';
import { temporaryDirectory } from './support/temporary.ts';

const THEN = 1_700_000_000;
const HERE = contextOf(1);

/** Counts the records that are read: every opened grain is one. */
class CountingLog extends ForwardingLog {
  reads = 0;

  override read(sequence: Sequence): Uint8Array | undefined {
    this.reads += 1;
    return this.inner.read(sequence);
  }
}

async function addAll(engine: Engine, items: readonly AddItem[]): Promise<string[]> {
  const hashes: string[] = [];
  for (let at = 0; at < items.length; at += 1_000) {
    const { outcomes } = await engine.write('addBatch', HERE, { items: items.slice(at, at + 1_000) });
    for (const outcome of outcomes)
      if ('hash' in outcome) hashes.push(outcome.hash);
      else assert.equal(outcome.error.code, 'POL-E008');
  }
  return hashes;
}

const TOOLS = ['search', 'send', 'buy'];
const someAction = fc.record(
  {
    tool_name: fc.constantFrom(...TOOLS),
    is_error: fc.boolean(),
    error: fc.constantFrom('timeout', 'sold out', ''),
    content: fc.constantFrom('a', 'b'),
    duration_ms: fc.nat(1_000),
    parent_task_id: fc.constantFrom('t1', 't2'),
    created_at: fc.integer({ min: THEN, max: THEN + 50 }),
    expires_at: fc.constantFrom(1, 4_000_000_000),
  },
  { requiredKeys: ['tool_name', 'created_at'] },
);
const place = fc.constantFrom<Record<string, string>>(
  { session_id: 's' },
  { namespace: 's' },
  { session_id: 's', namespace: 's' },
  { session_id: 'other' },
  { session_id: 's', user_id: 'eve' },
);
const item: fc.Arbitrary<AddItem> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(someAction, place)
      .map(([fields, at]) => ({ grainType: 'action', fields: { ...fields, ...at } })),
  },
  fc.tuple(fc.nat(50), fc.nat(9), place).map(([at, step, where]) => ({
    grainType: 'state',
    fields: { data: { step }, created_at: THEN + at, ...where },
  })),
  fc
    .tuple(
      fc.nat(50),
      fc.constantFrom('critical', 'high', 'medium', 'low', 'odd'),
      fc.constantFrom('active', 'failed'),
      place,
    )
    .map(([at, priority, goal_state, where]) => ({
      grainType: 'goal',
      fields: { description: `goal ${at} ${priority}`, priority, goal_state, created_at: THEN + at, ...where },
    })),
);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(item, { minLength: 1, maxLength: 12 }).map((items) => ({ kind: 'add' as const, items })),
  },
  fc.nat().map((at) => ({ kind: 'forget' as const, at })),
  fc.nat().map((at) => ({ kind: 'supersede' as const, at })),
  fc.constant({ kind: 'seal' as const }),
  fc.boolean().map((restricted) => ({ kind: 'restrict' as const, restricted })),
);

test('a session is what a reading of all of its grains finds, whatever happened to them', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const root = temporaryDirectory(t);
      const stored = new MemoryLogStore();
      let engine = await openShard(root, { log: new MemoryLog(stored) });
      await engine.write('attachMemory', HERE, { settings: { ...settingsOf(1), dedup: 'none' } });
      const hashes: string[] = [];
      for (const one of steps) {
        if (one.kind === 'add') hashes.push(...(await addAll(engine, one.items)));
        else if (one.kind === 'seal') await engine.write('flush', HERE, {});
        else if (one.kind === 'restrict')
          await engine.write('restrict', HERE, { userId: 'eve', restricted: one.restricted });
        else if (hashes.length > 0) await change(engine, one.kind, hashes[one.at % hashes.length]!);
        compare(engine);
      }
      // As after a crash: nothing is sealed first.
      engine.abandon();
      engine = await openShard(root, { log: new MemoryLog(stored) });
      compare(engine);
      engine.abandon();
    }),
    { numRuns: runs(15) },
  );
});

/** Versions that are no longer current, and restricted ones, are refused. */
async function change(engine: Engine, kind: 'forget' | 'supersede', hash: string): Promise<void> {
  const done =
    kind === 'forget'
      ? engine.write('forget', HERE, { hashes: [hash], check: false })
      : engine.write('supersede', HERE, { oldHash: hash, fields: { note: 'new', is_error: true } });
  await done.catch((error: Error) => assert.match(error.message, /MEM-E00[126]|POL-E008|not found/i));
}

function compare(engine: Engine): void {
  const { grains } = engine.read('list', HERE, { filter: { sessionId: 's' }, limit: 500, order: 'desc' });
  const ofType = (type: string): GrainView[] => grains.filter(({ grainType }) => grainType === type);
  const actions = ofType('action');
  const asked = {
    sessionId: 's',
    state: true,
    goals: { states: ['active'], limit: 100 },
    actions: { limit: 7 },
  } as const;
  const view = engine.read('session', HERE, asked);
  assert.equal(view.state?.hash, ofType('state')[0]?.hash);
  const rank = ({ fields }: GrainView): number =>
    ['critical', 'high', 'medium', 'low'].indexOf(String(fields['priority'])) % 4;
  const goals = ofType('goal')
    .filter(({ fields }) => fields['goal_state'] === 'active')
    .map((goal) => ({ goal, rank: rank(goal) < 0 ? 2 : rank(goal) }))
    .sort((a, b) => a.rank - b.rank || b.goal.createdAtMs - a.goal.createdAtMs || (a.goal.hash < b.goal.hash ? -1 : 1));
  assert.deepEqual(hashesOf(view.goals), hashesOf(goals.map(({ goal }) => goal)));
  assert.deepEqual(hashesOf(view.actions), hashesOf(actions.slice(0, 7)));
  assert.deepEqual([view.actionsTotal, view.moreActions], [actions.length, actions.length > 7]);
  const failed = actions.filter(({ fields }) => fields['is_error'] === true);
  const ofFailed = engine.read('session', HERE, {
    sessionId: 's',
    actions: { limit: 50, failed: true, toolName: 'send' },
  });
  assert.deepEqual(
    hashesOf(ofFailed.actions),
    hashesOf(failed.filter(({ fields }) => fields['tool_name'] === 'send').slice(0, 50)),
  );
  assert.deepEqual(engine.read('sessionSummary', HERE, { sessionId: 's' }), naiveSummary(actions));
  const chain = engine.read('sessionChain', HERE, { sessionId: 's', below: ['t1'], above: [], limit: 500 });
  const ofTask = actions.filter(({ fields }) => fields['parent_task_id'] === 't1');
  assert.deepEqual(hashesOf(chain.below).sort(), hashesOf(ofTask).sort());
}

function hashesOf(grains: readonly GrainView[]): string[] {
  return grains.map(({ hash }) => hash);
}

function naiveSummary(actions: readonly GrainView[]): SessionSummary {
  const sums = (some: readonly GrainView[]) => ({
    calls: some.length,
    successes: some.filter(({ fields }) => fields['is_error'] !== true).length,
    failures: some.filter(({ fields }) => fields['is_error'] === true).length,
    durationMs: some.reduce((sum, { fields }) => sum + Number(fields['duration_ms'] ?? 0), 0),
  });
  const textOf = ({ fields }: GrainView): string => String(fields['error'] || fields['content'] || 'unknown');
  const failed = actions.filter(({ fields }) => fields['is_error'] === true);
  const groups = (some: readonly GrainView[], nameOf: (action: GrainView) => string) => [...Map.groupBy(some, nameOf)];
  return {
    ...sums(actions),
    tools: groups(actions, ({ fields }) => String(fields['tool_name']))
      .map(([tool, some]) => ({ tool, ...sums(some) }))
      .sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1)),
    errors: groups(failed, textOf)
      .map(([error, some]) => ({ error, count: some.length }))
      .sort((a, b) => b.count - a.count || (a.error < b.error ? -1 : 1)),
    cut: false,
  };
}

test('a session of many actions among many grains is read without opening them', async (t) => {
  const actions = 20_000;
  const log = new CountingLog(new MemoryLog(new MemoryLogStore()));
  const engine = await openShard(temporaryDirectory(t), { log });
  t.after(() => engine.abandon());
  await engine.write('attachMemory', HERE, { settings: settingsOf(1) });
  const common = (i: number) => ({ session_id: i % 2 === 0 ? 'long' : `other-${i % 97}`, created_at: THEN + i });
  const items = Array.from({ length: 2 * actions }, (_, i): AddItem => {
    const isError = i % 10 === 0;
    return {
      grainType: 'action',
      fields: {
        ...common(i),
        tool_name: `tool-${i % 6}`,
        content: `${i}`,
        is_error: isError,
        error: isError ? `e${i % 3}` : '',
      },
    };
  });
  await addAll(engine, items);
  await addAll(engine, [
    { grainType: 'state', fields: { session_id: 'long', data: { step: 1 } } },
    { grainType: 'goal', fields: { session_id: 'long', description: 'a goal' } },
  ]);
  for (const how of ['tail', 'sealed']) {
    if (how === 'sealed') await engine.write('flush', HERE, {});
    const opened = <T>(read: () => T): readonly [T, number] => {
      const before = log.reads;
      return [read(), log.reads - before];
    };
    const [summary, ofSummary] = opened(() => engine.read('sessionSummary', HERE, { sessionId: 'long' }));
    assert.deepEqual([summary.calls, summary.failures], [actions, actions / 5]);
    assert.ok(ofSummary <= 30, `${how}: ${ofSummary} records for a summary`);
    const [, ofBootstrap] = opened(() =>
      engine.read('session', HERE, {
        sessionId: 'long',
        state: true,
        goals: { states: ['active'], limit: 100 },
        actions: { limit: 20 },
      }),
    );
    assert.ok(ofBootstrap <= 100, `${how}: ${ofBootstrap} records for a bootstrap`);
    const asked = { tokenBudget: 4_000, format: 'json' } as const;
    const [context, ofContext] = opened(() => engine.read('sessionContext', HERE, { sessionId: 'long', ...asked }));
    assert.ok(ofContext <= 500, `${how}: ${ofContext} records for a context`);
    const { dropped, actions: shown } = compileContext(context, asked);
    assert.equal(dropped.actions + shown.length, actions);
    // The pages of a large context go on where the one before ended.
    const large = { ...asked, tokenBudget: 200_000 };
    const pages = [0, 1, 2].map((page) =>
      engine.read('sessionContext', HERE, { sessionId: 'long', ...large, offset: page * CONTEXT_OPENED_MAX }),
    );
    const items = pages.flatMap((page) => page.items);
    assert.equal(new Set(items.map(({ hash }) => hash)).size, 3 * CONTEXT_OPENED_MAX);
    assert.deepEqual(
      items.map(({ createdAtMs }) => createdAtMs),
      Array.from({ length: 3 * CONTEXT_OPENED_MAX }, (_, i) => (THEN + 2 * (actions - 1 - i)) * 1_000),
    );
    const [failed, ofFailed] = opened(() =>
      engine.read('session', HERE, { sessionId: 'long', actions: { limit: 50, failed: true } }),
    );
    assert.equal(failed.actionsTotal, actions / 5);
    assert.ok(ofFailed <= 250, `${how}: ${ofFailed} records for the failures`);
  }
});
