// Work of a server on turns without a request: it settles them when their time has passed, and ends its work on them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../../engine/base/errors.ts';
import { TURN_BUDGET_MS, TURN_PAUSE_MS, TURNS_RUNNING_MAX } from '../../../engine/base/limits.ts';
import type { Turn } from '../../../engine/turn/turn.ts';
import { HarnessTurns } from './turn-service.ts';

const NOBODY = {} as never;

/** Turns over shards that answer `settled` and `nextMs`, with timers that the test moves. */
function service(answers: readonly { readonly settled: number; readonly nextMs?: number }[]) {
  const state = { nowMs: 1_000_000, settled: [] as number[], errors: 0 };
  const left = [...answers];
  const turns = new HarnessTurns({
    runners: NOBODY,
    shards: {
      call: async (_method, { memory }) => {
        state.settled.push(memory);
        const answer = left.shift();
        if (answer === undefined) throw new EngineError('STO-E002');
        return answer as never; // the answer of settleTurns
      },
    },
    memories: { byNumber: (number) => (number === 9 ? undefined : NOBODY) },
    clock: { nowMs: () => state.nowMs },
    log: {
      error: () => {
        state.errors += 1;
      },
    },
  });
  return { turns, state };
}

/** Lets promises settle. */
const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what an earlier run left is settled at the start, and what waits when its time has come', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { turns, state } = service([{ settled: 1 }, { settled: 0 }]);
  const pass = async (ms: number): Promise<void> => {
    state.nowMs += ms;
    t.mock.timers.tick(ms);
    await turnOfTheLoop();
  };
  turns.start([3, 9]);
  await turnOfTheLoop();
  assert.deepEqual(state.settled, [3], 'a memory that is gone is not asked');
  // The interrupted turn waits for its caller from now on.
  await pass(TURN_PAUSE_MS - 1);
  assert.equal(state.settled.length, 1);
  await pass(1);
  assert.deepEqual(state.settled, [3, 3]);
  await turns.close();
});

test('a pause is settled at its time, and a failure is tried again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { turns, state } = service([]);
  turns.paused(1, state.nowMs + 500);
  turns.paused(1, state.nowMs + 900);
  for (const [ms, settled, errors] of [
    [499, 0, 0],
    [1, 1, 1],
    [60_000, 2, 2],
  ] as const) {
    state.nowMs += ms;
    t.mock.timers.tick(ms);
    await turnOfTheLoop();
    assert.deepEqual([state.settled.length, state.errors], [settled, errors], `${ms}`);
  }
  await turns.close();
});

test('a turn whose end could not be written is ended once the memory takes writes again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const state = { nowMs: 1_000_000, refuses: 2, ended: [] as unknown[] };
  const turns = new HarnessTurns({
    runners: NOBODY,
    shards: {
      call: async (method, _context, input) => {
        if (state.refuses-- > 0) throw new EngineError('STO-E001');
        if (method === 'changeTurn') state.ended.push(input);
        return { settled: 0 } as never; // the answer of settleTurns
      },
    },
    memories: { byNumber: () => NOBODY },
    clock: { nowMs: () => state.nowMs },
    log: { error: () => undefined },
  });
  const change = { sessionId: 'ses_1', conversationId: 'c', event: { kind: 'failed', code: 'STO-E001' } } as const;
  turns.unended(1, change);
  for (const [ms, isUnended] of [
    [5_000, true],
    [60_000, true],
    [60_000, false],
  ] as const) {
    state.nowMs += ms;
    t.mock.timers.tick(ms);
    await turnOfTheLoop();
    assert.equal(turns.isUnended('ses_1'), isUnended);
  }
  assert.deepEqual(state.ended, [change], 'once');
  await turns.close();
});

test('the end of its time, a cancellation and the end of the server end the work on a turn', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { turns } = service([]);
  const started = (id: string): Promise<string> =>
    turns
      .run(
        id,
        (signal) =>
          new Promise<Turn>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      )
      .then(
        () => 'ended',
        (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
      );
  const late = started('late');
  t.mock.timers.tick(TURN_BUDGET_MS);
  assert.equal(await late, 'HRN-E007');
  const cancelled = started('cancelled');
  turns.cancelled('cancelled');
  assert.equal(await cancelled, 'HRN-E005');
  const running = started('running');
  assert.equal(turns.running, 1);
  await turns.close();
  assert.equal(await running, 'SYS-E005');
  assert.equal(turns.running, 0);
  await assert.rejects(
    turns.within(() => started('later')),
    { code: 'SYS-E005' },
  );
});

test('turns that have only been asked for count for the limit', async () => {
  const { turns } = service([]);
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const asked = Array.from({ length: TURNS_RUNNING_MAX }, () => turns.within(() => begun));
  await assert.rejects(
    turns.within(() => begun),
    { code: 'LIM-E001' },
  );
  begin();
  await Promise.all(asked);
  await turns.within(() => begun);
  await turns.close();
});

test('a turn that its caller continues at once can be cancelled', async () => {
  const { turns } = service([]);
  let pause: (turn: Turn) => void = () => undefined;
  const first = turns.run('ses_1', () => new Promise((resolve) => (pause = resolve)));
  const second = turns.run(
    'ses_1',
    (signal) =>
      new Promise<Turn>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  );
  pause(NOBODY);
  await first;
  turns.cancelled('ses_1');
  await assert.rejects(second, { code: 'HRN-E005' });
  await turns.close();
});
