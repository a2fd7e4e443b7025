import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import type { HookStateRecord } from '../control/records.ts';
import { Courier, type Entry } from './courier.ts';
import { WAIT_MS_MAX } from './schedule.ts';
import type { Delivery, Verdict } from './sender.ts';
import { lastDay, resumed } from './state.ts';

const START_MS = 1_750_000_000_000;
const DELIVERED: Verdict = { outcome: 'delivered' };
const FAILED: Verdict = { outcome: 'retry', reason: 'it answered 500' };

function newState(cursor: readonly number[] = [0]): HookStateRecord {
  return { id: 'hook_a', cursor, attempts: 0, deadInRow: 0, delivered: 0, dead: 0, letters: [], hours: [] };
}

/** Events `first` to `last` of one partition; those whose number `passes` refuses are not wanted by the hook. */
function log(last: number, passes: (sequence: number) => boolean = () => true, pageMax = 3) {
  return async (cursor: number[]) => {
    const entries: Entry[] = [];
    let at = cursor[0]!;
    for (; at < last && entries.length < pageMax; at++)
      if (passes(at + 1))
        entries.push({
          partition: 0,
          sequence: at + 1,
          id: String(at + 1),
          kind: 'grain_created',
          json: `{"n":${at + 1}}`,
        });
    cursor[0] = at;
    return { entries, isAtEnd: at >= last };
  };
}

interface Course {
  readonly read: ReturnType<typeof log>;
  /** The verdict on an event at a try. */
  readonly verdict: (sequence: number, attempt: number) => Verdict | Promise<Verdict>;
  readonly state?: HookStateRecord;
}

/** Runs a courier over simulated time. */
function begun(t: TestContext, { read, verdict, state = newState() }: Course) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: START_MS });
  const sent: string[] = [];
  const ids = new Set<string>();
  const changes: string[] = [];
  const courier = new Courier({
    hook: { id: 'hook_a', memory: 1, name: 'a', url: 'http://x/', filters: [], createdAtMs: START_MS, cursor: [0] },
    state,
    memoryId: 'm',
    read,
    send: async ({ body, attempt, deliveryId }: Delivery) => {
      ids.add(deliveryId);
      const { n } = JSON.parse(body) as { readonly n: number };
      sent.push(`${n}/${attempt} at ${(Date.now() - START_MS) / 1000}`);
      return verdict(n, attempt);
    },
    changed: (_, what) => changes.push(what),
    nowMs: () => Date.now(),
    random: () => 0.5,
  });
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Lets time pass in steps of a second, so that each timer fires when it is due. */
  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i++) t.mock.timers.tick(1_000);
    await settle();
  };
  return { courier, sent, ids, changes, settle, pass };
}

test('the number of an event that a restore undid makes another delivery id when it is given again', async (t) => {
  const ids: string[] = [];
  for (const epoch of [undefined, 'k3jx9qab']) {
    const before = log(1);
    const read = async (cursor: number[]) => {
      const { entries, isAtEnd } = await before(cursor);
      return { entries: entries.map((entry) => ({ ...entry, epoch })), isAtEnd };
    };
    const course = begun(t, { read, verdict: () => DELIVERED });
    course.courier.ring();
    await course.settle();
    ids.push(...course.ids);
    t.mock.timers.reset();
  }
  assert.deepEqual(ids, ['hook_a.0.1', 'hook_a.0.1.k3jx9qab']);
});

test('the id of a delivery does not depend on what other partitions hold when the event is read', async (t) => {
  let reads = 0;
  const read = async (cursor: number[]) => {
    reads += 1;
    const isThere = cursor[1]! < 5;
    // Each time the event is read, partition 0 has more events, which the hook does not want.
    cursor[0] = reads;
    cursor[1] = 5;
    const entry = { partition: 1, sequence: 5, id: `${reads}.5`, kind: 'grain_created', json: '{"n":5}' };
    return { entries: isThere ? [entry] : [], isAtEnd: true };
  };
  const verdict = (_: number, attempt: number) => (attempt < 4 ? FAILED : DELIVERED);
  const { courier, sent, ids, pass, settle } = begun(t, { read, verdict, state: newState([0, 4]) });
  courier.ring();
  await settle();
  for (const seconds of [10, 60, 300]) await pass(seconds);
  assert.equal(sent.length, 4);
  assert.ok(reads > 1, 'the event was read again');
  assert.deepEqual([...ids], ['hook_a.1.5']);
  await courier.stop();
});

test('events are delivered in order, and the cursor ends behind those that are not wanted', async (t) => {
  const { courier, sent, settle } = begun(t, { read: log(9, (n) => n % 2 === 1 && n < 8), verdict: () => DELIVERED });
  courier.ring();
  await settle();
  assert.deepEqual(sent, ['1/1 at 0', '3/1 at 0', '5/1 at 0', '7/1 at 0']);
  assert.deepEqual([courier.state.cursor, courier.state.delivered], [[9], 4]);
  await courier.stop();
});

test('an event that fails holds up the later ones, on the schedule, until it is given up', async (t) => {
  const { courier, sent, changes, settle, pass } = begun(t, {
    read: log(2),
    verdict: (n) => (n === 1 ? FAILED : DELIVERED),
  });
  courier.ring();
  await settle();
  for (const [tries, seconds] of [10, 60, 300, 1800, 7200].entries()) {
    await pass(seconds - 1);
    assert.equal(sent.length, tries + 1, 'no try comes early');
    await pass(1);
  }
  assert.deepEqual(sent, [
    ...['1/1 at 0', '1/2 at 10', '1/3 at 70', '1/4 at 370', '1/5 at 2170', '1/6 at 9370'],
    '2/1 at 9370',
  ]);
  assert.deepEqual(changes, ['failed', 'failed', 'failed', 'failed', 'failed', 'dead', 'delivered']);
  const { letters, dead, deadInRow, cursor } = courier.state;
  assert.deepEqual([dead, deadInRow, cursor], [1, 0, [2]]);
  assert.deepEqual(letters, [
    { cursor: '1', kind: 'grain_created', atMs: START_MS + 9_370_000, attempts: 6, reason: 'it answered 500' },
  ]);
  assert.deepEqual(lastDay(courier.state, Date.now()), { delivered: 1, dead: 1 });
  await courier.stop();
});

test('what was erased while an earlier event was sent is not sent', async (t) => {
  let isErased = false;
  const { courier, sent, settle, pass } = begun(t, {
    read: log(3, (n) => !(isErased && n === 2)),
    verdict: (n) => (n > 1 ? DELIVERED : new Promise((resolve) => setTimeout(() => resolve(DELIVERED), 6_000))),
  });
  courier.ring();
  await settle();
  isErased = true;
  await pass(6);
  assert.deepEqual(sent, ['1/1 at 0', '3/1 at 6']);
  assert.deepEqual([courier.state.cursor, courier.state.delivered], [[3], 2]);
  await courier.stop();
});

test('what was read before an erasure is read again, and nothing that is left is passed over', async (t) => {
  let isErased = false;
  const sending = Promise.withResolvers<Verdict>();
  const { courier, sent, settle } = begun(t, {
    read: log(6, (n) => !(isErased && (n === 2 || n === 5))),
    verdict: (n) => (n === 1 ? sending.promise : DELIVERED),
  });
  courier.ring();
  await settle();
  isErased = true;
  courier.reread();
  sending.resolve(DELIVERED);
  await settle();
  assert.deepEqual(sent, ['1/1 at 0', '3/1 at 0', '4/1 at 0', '6/1 at 0']);
  assert.deepEqual([courier.state.cursor, courier.state.delivered], [[6], 4]);
  await courier.stop();
});

test('a page that was being read while a person was erased is read again', async (t) => {
  let isErased = false;
  const reading = Promise.withResolvers<void>();
  const read = log(2, (n) => !(isErased && n === 1));
  const { courier, sent, settle } = begun(t, {
    read: async (cursor) => {
      const page = await read(cursor);
      if (!isErased) await reading.promise;
      return page;
    },
    verdict: () => DELIVERED,
  });
  courier.ring();
  await settle();
  isErased = true;
  courier.reread();
  reading.resolve();
  await settle();
  assert.deepEqual([sent, courier.state.cursor], [['2/1 at 0'], [2]]);
  await courier.stop();
});

test('a receiver that asks for a wait gets it', async (t) => {
  const { courier, sent, settle, pass } = begun(t, {
    read: log(1),
    verdict: (_, attempt) => (attempt === 1 ? { ...FAILED, afterMs: 90_000 } : DELIVERED),
  });
  courier.ring();
  await settle();
  await pass(89);
  assert.deepEqual(sent, ['1/1 at 0']);
  await pass(1);
  assert.deepEqual(sent, ['1/1 at 0', '1/2 at 90']);
  await courier.stop();
});

test('twenty dead letters in a row pause the hook, and a delivery between them starts the count again', async (t) => {
  const refused: Verdict = { outcome: 'refused', reason: 'it answered 404' };
  const { courier, sent, changes, settle } = begun(t, {
    read: log(60),
    verdict: (n) => (n === 15 ? DELIVERED : refused),
  });
  courier.ring();
  await settle();
  assert.equal(sent.length, 35);
  assert.equal(changes.at(-1), 'paused');
  assert.match(
    courier.state.pausedReason ?? '',
    /^20 events in a row could not be delivered; the last failure: .*404$/,
  );
  courier.ring();
  await settle();
  assert.equal(sent.length, 35, 'nothing is sent while it is paused');
  await courier.stop();
});

test('a receiver that is gone pauses the hook at its event, which a resumed hook sends again', async (t) => {
  const first = begun(t, {
    read: log(2),
    verdict: (n) => (n === 2 ? { outcome: 'gone', reason: 'it answered 410' } : DELIVERED),
  });
  first.courier.ring();
  await first.settle();
  assert.deepEqual([first.courier.state.cursor, first.courier.state.pausedReason], [[1], 'it answered 410']);
  await first.courier.stop();
  t.mock.timers.reset();
  const again = begun(t, { read: log(2), verdict: () => DELIVERED, state: resumed(first.courier.state) });
  again.courier.ring();
  await again.settle();
  assert.deepEqual(again.sent, ['2/1 at 0']);
  await again.courier.stop();
});

test('a courier that starts with a stored state waits for its next try, and not longer when the clock was set back', async (t) => {
  const state = { ...newState([4]), attempts: 2, nextAtMs: START_MS + 30_000 };
  const stored = begun(t, { read: log(5), verdict: () => DELIVERED, state });
  stored.courier.ring();
  await stored.settle();
  await stored.pass(30);
  assert.deepEqual(stored.sent, ['5/3 at 30']);
  await stored.courier.stop();
  t.mock.timers.reset();
  const late = begun(t, { read: log(5), verdict: () => DELIVERED, state: { ...state, nextAtMs: START_MS + 10 ** 12 } });
  late.courier.ring();
  await late.settle();
  await late.pass(WAIT_MS_MAX / 1000);
  assert.equal(late.sent.length, 1);
  await late.courier.stop();
});

test('a shard that does not answer is asked again', async (t) => {
  let refusals = 3;
  const read = log(1);
  const { courier, sent, settle, pass } = begun(t, {
    read: (cursor) => (refusals-- > 0 ? Promise.reject(new EngineError('STO-E002')) : read(cursor)),
    verdict: () => DELIVERED,
  });
  courier.ring();
  for (let i = 0; i < 4; i++) {
    await settle();
    await pass(1);
  }
  assert.equal(sent.length, 1);
  await courier.stop();
});

test('a courier that is stopped while it sends does not count the delivery', async (t) => {
  const { promise, resolve } = Promise.withResolvers<Verdict>();
  const { courier, sent, settle } = begun(t, { read: log(3), verdict: () => promise });
  courier.ring();
  await settle();
  const stopping = courier.stop();
  resolve({ outcome: 'stopped' });
  await stopping;
  assert.deepEqual([sent.length, courier.state.cursor, courier.state.attempts], [1, [0], 0]);
});

test('a courier whose sender has stopped sends nothing more, without being told', async (t) => {
  const { courier, sent, settle } = begun(t, {
    read: log(3),
    // Without an end, a courier that goes on would let no other code run.
    verdict: () => (sent.length < 10 ? { outcome: 'stopped' } : new Promise(() => undefined)),
  });
  courier.ring();
  await settle();
  courier.ring();
  await settle();
  assert.deepEqual([sent.length, courier.state.cursor, courier.state.attempts], [1, [0], 0]);
  await courier.stop();
});
