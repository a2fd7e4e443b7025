import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import {
  actionsOf,
  applyEvent,
  type Change,
  dueEvent,
  isOver,
  type NewCall,
  pendingCalls,
  type Refusal,
  type Turn,
  type TurnEvent,
} from './turn.ts';

const HERE = 'a'.repeat(16);
const NEXT = 'b'.repeat(16);
const PAUSE_MS = 900_000;

const begun: Turn = {
  sessionId: 'ses_1',
  slug: 'support',
  conversationId: 'c1',
  namespace: 'default',
  status: 'running',
  version: 1,
  server: HERE,
  iteration: 0,
  userEvent: 'u',
  steps: [],
  createdAtMs: 0,
  updatedAtMs: 0,
};

function call(callId: string, by: NewCall['by'] = 'host', repeatable = false): NewCall {
  return { callId, tool: 'look', by, repeatable };
}

function after(turn: Turn, ...events: readonly TurnEvent[]): Change {
  let change: Change = { turn, outcomes: [] };
  for (const event of events) {
    const calls = event.kind === 'answered' ? event.calls : [];
    const next = applyEvent(change.turn, event, 1_000, { actions: calls.map(({ callId }) => `of ${callId}`) });
    assert.ok(!('refused' in next), `${event.kind}: ${'refused' in next ? next.reason : ''}`);
    change = next;
  }
  return change;
}

function refusal(turn: Turn, event: TurnEvent, nowMs = 1_000): Refusal {
  const change = applyEvent(turn, event, nowMs);
  assert.ok('refused' in change, `${event.kind} is accepted`);
  return change;
}

const PAUSED = after(
  begun,
  { kind: 'answered', calls: [call('1', 'client'), call('2'), call('3', 'client')] },
  { kind: 'resolved', callId: '2', failed: false },
  { kind: 'paused', untilMs: 5_000 },
).turn;

test('a turn pauses when only calls of the client are left, and goes on when each is answered once', () => {
  assert.equal(PAUSED.status, 'awaiting_client');
  assert.deepEqual(
    pendingCalls(PAUSED).map(({ callId }) => callId),
    ['1', '3'],
  );
  const ok = (callId: string) => ({ callId, failed: false });
  for (const outputs of [[], [ok('1')], [ok('1'), ok('1')], [ok('1'), ok('3'), ok('2')], [ok('1'), ok('4')]])
    assert.equal(refusal(PAUSED, { kind: 'resumed', server: NEXT, outputs }).refused, 'outputs');
  const { turn, outcomes } = after(PAUSED, {
    kind: 'resumed',
    server: NEXT,
    outputs: [ok('3'), { callId: '1', failed: true }],
  });
  assert.deepEqual(
    outcomes.map(({ callId, action, failed }) => [callId, action, failed]),
    [
      ['3', 'of 3', false],
      ['1', 'of 1', true],
    ],
  );
  assert.deepEqual([turn.status, turn.server, turn.expiresAtMs], ['running', NEXT, undefined]);
  assert.deepEqual(
    turn.steps[0]?.calls.map(({ state }) => state),
    ['failed', 'completed', 'completed'],
  );
  assert.equal(after(turn, { kind: 'completed' }).turn.status, 'completed');
});

test('a turn that expired is not resumed', () => {
  assert.equal(dueEvent(PAUSED, 4_999, HERE, PAUSE_MS), undefined);
  assert.deepEqual(dueEvent(PAUSED, 5_000, HERE, PAUSE_MS), { kind: 'expired' });
  assert.equal(refusal(PAUSED, { kind: 'resumed', server: HERE, outputs: [] }, 5_000).refused, 'state');
  const { turn, outcomes } = after(PAUSED, { kind: 'expired' });
  assert.equal(turn.status, 'expired');
  assert.deepEqual(
    outcomes.map(({ callId, cause }) => [callId, cause]),
    [
      ['1', 'timeout'],
      ['3', 'timeout'],
    ],
  );
});

test('after a restart, calls that must not run twice have failed, and the others wait', () => {
  const { turn: running } = after(begun, {
    kind: 'answered',
    calls: [call('mail'), call('look', 'host', true), call('sign', 'client')],
  });
  assert.equal(dueEvent(running, 9_000, HERE, PAUSE_MS), undefined);
  const event = dueEvent(running, 9_000, NEXT, PAUSE_MS);
  assert.deepEqual(event, { kind: 'interrupted', server: NEXT, untilMs: 909_000 });
  const { turn, outcomes } = after(running, event!);
  assert.deepEqual(
    outcomes.map(({ callId, cause }) => [callId, cause]),
    [['mail', 'unknown']],
  );
  assert.deepEqual([turn.status, turn.interrupted, turn.expiresAtMs], ['awaiting_client', true, 909_000]);
  // Only what was asked of the client is answered by it.
  const resumed = after(turn, { kind: 'resumed', server: NEXT, outputs: [{ callId: 'sign', failed: false }] }).turn;
  assert.deepEqual(
    pendingCalls(resumed).map(({ callId }) => callId),
    ['look'],
  );
  assert.equal(resumed.interrupted, undefined);
});

test('a cancelled turn ends its calls and takes nothing more', () => {
  const { turn, outcomes } = after(PAUSED, { kind: 'cancelled' });
  assert.deepEqual(
    outcomes.map(({ cause }) => cause),
    ['user_aborted', 'user_aborted'],
  );
  for (const event of [{ kind: 'cancelled' }, { kind: 'completed' }, { kind: 'expired' }] as const)
    assert.equal(refusal(turn, event).refused, 'state');
});

const events: fc.Arbitrary<TurnEvent> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.tuple(fc.constantFrom('client', 'host'), fc.boolean()), { minLength: 1, maxLength: 4 }).map(
      (kinds): TurnEvent => ({
        kind: 'answered',
        calls: kinds.map(([by, repeatable], at) => call(`${at}`, by as NewCall['by'], repeatable)),
      }),
    ),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('resolved' as const),
      callId: fc.constantFrom('0', '1', '2', '3'),
      failed: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant<TurnEvent>({ kind: 'paused', untilMs: 5_000 }) },
  {
    weight: 4,
    arbitrary: fc.subarray(['0', '1', '2', '3']).map(
      (ids): TurnEvent => ({
        kind: 'resumed',
        server: HERE,
        outputs: ids.map((callId) => ({ callId, failed: false })),
      }),
    ),
  },
  { weight: 1, arbitrary: fc.constant<TurnEvent>({ kind: 'completed' }) },
  { weight: 1, arbitrary: fc.constant<TurnEvent>({ kind: 'failed', code: 'LLM-E002' }) },
  { weight: 1, arbitrary: fc.constant<TurnEvent>({ kind: 'cancelled' }) },
  { weight: 1, arbitrary: fc.constant<TurnEvent>({ kind: 'expired' }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(HERE, NEXT)
      .map((server): TurnEvent => ({ kind: 'interrupted', server, untilMs: 5_000 })),
  },
);

test('whatever happens, no call is lost or ended twice, and a turn ends once', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 40 }), (happened) => {
      let turn = begun;
      let actions = 0;
      const ended = new Set<string>();
      for (const event of happened) {
        const names = event.kind === 'answered' ? event.calls.map(() => `action ${actions++}`) : [];
        const before = pendingCalls(turn);
        const change = applyEvent(turn, event, 1_000, { actions: names });
        if ('refused' in change) continue;
        assert.ok(!isOver(turn), 'nothing happens to a turn that is over');
        assert.equal(change.turn.version, turn.version + 1);
        for (const { callId, action } of change.outcomes) {
          assert.ok(before.some((pending) => pending.callId === callId && pending.action === action));
          assert.ok(!ended.has(action), 'a call ends once');
          ended.add(action);
        }
        turn = change.turn;
        const open = pendingCalls(turn).map(({ action }) => action);
        assert.deepEqual(new Set([...ended, ...open]), new Set(actionsOf(turn)), 'a call is pending or has ended');
        if (isOver(turn)) assert.deepEqual(open, []);
        if (turn.status === 'awaiting_client' && turn.interrupted !== true)
          assert.ok(open.length > 0 && pendingCalls(turn, 'host').length === 0, 'it waits for the client');
        assert.equal(turn.expiresAtMs !== undefined, turn.status === 'awaiting_client');
      }
    }),
    { numRuns: runs(2_000) },
  );
});
