// The moves of goals: every state to every other, with what a goal and its policy demand.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { codeOf, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { GoalState } from '../calls/goals.ts';
import type { Engine } from '../engine.ts';
import type { JsonObject } from '../grain/api/json-value.ts';

const context = contextOf(1);
const STATES: readonly GoalState[] = ['active', 'satisfied', 'failed', 'suspended'];
const PROOF = 'a'.repeat(64);

async function opened(t: TestContext): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return engine;
}

let made = 0;
async function goal(engine: Engine, fields: JsonObject): Promise<string> {
  made += 1;
  const named = { description: `goal ${made}`, ...fields };
  return (await engine.write('add', context, { grainType: 'goal', fields: named, sync: false })).hash;
}

type Expected = 'same' | 'moved' | 'GOL-E001' | 'GOL-E002' | 'POL-E004';

/** Section 5 of the contract, in the order in which a move is decided. */
function expected(from: GoalState, to: GoalState, rules: Rules): Expected {
  if (from === to) return 'same';
  if (rules.allowed.length > 0 && !rules.allowed.includes(to)) return 'GOL-E001';
  if (to === 'satisfied' && Number(rules.evidence) > rules.given) return 'GOL-E002';
  if (rules.locked === 'locked' || (rules.locked === 'soft_locked' && !rules.reason)) return 'POL-E004';
  return 'moved';
}

interface Rules {
  readonly allowed: readonly GoalState[];
  readonly evidence: boolean | number;
  readonly given: number;
  readonly locked: 'open' | 'soft_locked' | 'locked';
  readonly reason: boolean;
}

const RULES: readonly Rules[] = ([[], ['satisfied'], ['failed', 'suspended'], STATES] as GoalState[][]).flatMap(
  (allowed) =>
    [false, true, 2].flatMap((evidence) =>
      [0, 1, 2].flatMap((given) =>
        (['open', 'soft_locked', 'locked'] as const).flatMap((locked) =>
          [true, false].map((reason) => ({ allowed, evidence, given, locked, reason })),
        ),
      ),
    ),
);

/** One goal and one move of it. Resolves to whether the goal changed. */
async function checkMove(engine: Engine, from: GoalState, to: GoalState, rules: Rules): Promise<boolean> {
  const { allowed, evidence, given, locked, reason } = rules;
  const hash = await goal(engine, {
    goal_state: from,
    allowed_transitions: [...allowed],
    evidence_required: evidence,
    progress: 0.25,
    state_reason: 'before',
    ...(locked === 'open' ? {} : { invalidation_policy: { mode: locked } }),
  });
  const proof = [PROOF, 'b'.repeat(64)].slice(0, given);
  const why = reason ? { reason: 'because' } : {};
  const told = await engine
    .write('changeGoal', { ...context, ...why }, { hash, change: { to, evidence: proof, ...why } })
    .catch((error: unknown) => String((error as { code?: string }).code));
  const where = `${from} to ${to}: ${JSON.stringify(rules)}`;
  const wanted = expected(from, to, rules);
  if (typeof told === 'string') {
    assert.equal(told, wanted, where);
    assert.equal(engine.read('get', context, { hash }).supersededBy, undefined, where);
    return false;
  }
  assert.equal(told.changed ? 'moved' : 'same', wanted, where);
  assert.deepEqual([told.previousHash, told.previousState], [hash, from], where);
  if (wanted === 'same') {
    assert.equal(told.hash, hash, where);
    return false;
  }
  const { fields, supersedes } = engine.read('get', context, { hash: told.hash });
  assert.equal(supersedes, hash, where);
  assert.equal(fields['goal_state'], to, where);
  assert.equal(fields['progress'], to === 'satisfied' ? 1 : 0.25, where);
  assert.equal(fields['state_reason'], reason ? 'because' : undefined, where);
  assert.deepEqual(fields['satisfaction_evidence'] ?? [], proof, where);
  assert.deepEqual(
    fields['provenance_chain'],
    [{ source_hash: hash, method: 'goal_state_transition', weight: 1 }],
    where,
  );
  return true;
}

test('each move has the code or the effect of the table', async (t) => {
  const engine = await opened(t);
  let moves = 0;
  for (const from of STATES)
    for (const to of STATES) {
      // Together they are written in few groups.
      const changed = await Promise.all(RULES.map((rules) => checkMove(engine, from, to, rules)));
      moves += changed.filter(Boolean).length;
    }
  assert.ok(moves > 100);
});

test('a provenance chain keeps its newest entries', async (t) => {
  const engine = await opened(t);
  const first = await goal(engine, {});
  let last = first;
  for (let i = 0; i < 40; i += 1) {
    const to = i % 2 === 0 ? 'suspended' : 'active';
    last = (await engine.write('changeGoal', context, { hash: first, change: { to } })).previousHash;
  }
  const { fields } = engine.read('get', context, {
    hash: (await engine.write('changeGoal', context, { hash: first, change: { to: 'failed' } })).hash,
  });
  const chain = fields['provenance_chain'] as { source_hash: string }[];
  assert.equal(chain.length, 32);
  assert.equal(chain.at(-2)!.source_hash, last);
});

test('an expired goal that may not be replaced keeps its version, and its state is shown by now', async (t) => {
  const engine = await opened(t);
  const expiry = { session_id: 's', expiry_policy: { deadline: 1_000, mode: 'hard' } };
  const open = await goal(engine, expiry);
  const locked = await goal(engine, { ...expiry, invalidation_policy: { mode: 'locked' } });
  const done = await goal(engine, { ...expiry, goal_state: 'satisfied' });
  const asked = { dryRun: false };
  assert.equal((await engine.write('enforceRetention', context, { dryRun: true })).goals, 2);
  assert.equal((await engine.write('enforceRetention', context, asked)).goals, 1);
  assert.equal(engine.read('get', context, { hash: locked }).supersededBy, undefined);
  assert.equal(engine.read('get', context, { hash: done }).supersededBy, undefined);
  const tip = engine.read('get', context, { hash: engine.read('get', context, { hash: open }).supersededBy! });
  assert.deepEqual(tip.fields['goal_state'], 'failed');
  const { goals } = engine.read('session', context, { sessionId: 's', goals: { states: ['failed'], limit: 10 } });
  assert.deepEqual(new Set(goals.map(({ hash }) => hash)), new Set([tip.hash, locked]));
  for (const { fields } of goals) assert.equal(fields['goal_state'], 'failed');
  assert.equal(
    await codeOf(() => engine.write('changeGoal', context, { hash: locked, change: { to: 'active' } })),
    'POL-E004',
  );
  const same = await engine.write('changeGoal', context, { hash: locked, change: { to: 'failed' } });
  assert.deepEqual([same.changed, same.hash, same.fields['goal_state']], [false, locked, 'failed']);
});

test('a goal that is delegated to its holder stays as it is, in whichever form the name is given', async (t) => {
  const engine = await opened(t);
  const hash = await goal(engine, {});
  const delegate = (to: string, of: string) =>
    engine.write('changeGoal', context, { hash: of, change: { delegateTo: to.normalize('NFD') } });
  const [first, again] = await Promise.all([delegate('Zoë', hash), delegate('Zoë', hash)]);
  assert.deepEqual([first.changed, again.changed, again.hash], [true, false, first.hash]);
  for (const form of ['NFC', 'NFD']) {
    const change = { delegateTo: 'Zoë'.normalize(form) };
    assert.equal((await engine.write('changeGoal', context, { hash, change })).changed, false, form);
  }
});
