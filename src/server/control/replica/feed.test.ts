// The copies of the control log, without a network: what they get, and when a change is answered.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../../engine/base/clock.ts';
import { COPY_PART_BYTES, COPY_PART_RECORDS, COPY_VALID_MS, COPY_WAIT_MS } from '../../../engine/base/limits.ts';
import type { Append } from '../../../engine/log/log.ts';
import { MemoryLog } from '../../../engine/log/memory.ts';
import { CONTROL_KEY } from '../../testing/parts.ts';
import type { KeyRecord, SettingRecord } from '../records.ts';
import { ControlStore } from '../store.ts';
import { ControlFeed, type FeedOptions } from './feed.ts';
import { messageBytes, readMessage, type SentReport, type ToCopy, type ToLeader } from './messages.ts';
import { NeedsLeader } from './needs-leader.ts';
import { ControlReplica, ReplicaView } from './replica.ts';
import { Reports } from './reports.ts';
import { Subscription } from './subscription.ts';

const keyRecord = (keyId: string, more: Partial<KeyRecord> = {}): KeyRecord => ({
  keyId,
  name: keyId,
  principal: `key:${keyId}`,
  scopes: ['write'],
  prefix: 'gr_0000000',
  hash: keyId.padEnd(64, '0'),
  createdAtMs: 1,
  ...more,
});
const setting = (name: string): SettingRecord => ({ name, value: true });

/** A log whose appends wait for `decide`. */
class WaitingLog extends MemoryLog {
  decide: ((isTaken: boolean) => void) | undefined;
  waits = false;
  override async append(append: Append): Promise<number> {
    if (this.waits && !(await new Promise<boolean>((decide) => (this.decide = decide)))) throw new Error('no room');
    return super.append(append);
  }
}

/** A store with a feed, on a clock that the test moves; `timers` of the feed are the test's too. */
function setUp(t: TestContext, options: Partial<FeedOptions> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = { ms: 1_000_000 };
  const pass = async (ms: number): Promise<void> => {
    clock.ms += ms;
    t.mock.timers.tick(ms);
    await settled();
  };
  const log = new WaitingLog();
  const control = ControlStore.open(log, CONTROL_KEY, systemClock);
  const feed = new ControlFeed({
    control,
    isFirst: true,
    mayConfirm: () => true,
    heard: () => undefined,
    nowMs: () => clock.ms,
    ...options,
  });
  control.publishTo((changes) => feed.published(changes));
  /** A copy, connected by `wire`, which may lose, keep or change messages. */
  const copy = (
    wire: { toCopy?: (message: ToCopy, pass: (message: ToCopy) => void) => void } = {},
    { reports, loses = () => false }: { reports?: Reports; loses?: () => boolean } = {},
  ) => {
    const replica = new ControlReplica(() => ({ steadyMs: clock.ms, dayMs: clock.ms }));
    const link: { end?: ReturnType<ControlFeed['open']>; subscription?: Subscription } = {};
    const early: ToLeader[] = [];
    const sent: ToCopy[] = [];
    const deliver = (message: ToCopy): void => link.subscription?.receive(readMessage<ToCopy>(messageBytes(message)));
    const subscription = new Subscription({
      replica,
      reports,
      send: (message) => {
        if (message.is === 'beat' && loses()) return;
        if (link.end === undefined) early.push(message);
        else link.end.receive(message);
      },
      clocks: () => ({ steadyMs: clock.ms, dayMs: clock.ms }),
    });
    link.subscription = subscription;
    link.end = feed.open((message) => {
      sent.push(message);
      if (wire.toCopy === undefined) deliver(message);
      else wire.toCopy(message, deliver);
    });
    for (const message of early) link.end.receive(message);
    t.after(() => subscription.end());
    return { replica, subscription, end: link.end, sent };
  };
  return { control, feed, copy, clock, log, pass };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

/** True once the promise is settled. */
function watched(work: Promise<unknown>): { isDone: boolean } {
  const state = { isDone: false };
  const done = (): void => {
    state.isDone = true;
  };
  work.then(done, done);
  return state;
}

test('a copy has what it may have, and each change before its answer', async (t) => {
  const { control, copy } = setUp(t);
  await control.commit((change) => {
    change.put('key', keyRecord('k1'));
    change.put('setting', setting('cal.enabled'));
    change.put('setting', setting('memory/1/erasure/ann'));
    change.put('reply', { id: 'r', bodyHash: '', atMs: 1, value: 'secret' });
  });
  const { replica, sent } = copy();
  assert.equal(replica.isFresh, true);
  assert.equal(replica.get('key', 'k1')?.name, 'k1');
  assert.deepEqual([...replica.values('setting')], [setting('cal.enabled')]);
  assert.equal(/secret|erasure/.test(JSON.stringify(sent)), false);
  assert.throws(() => replica.get('reply', 'r'), NeedsLeader);
  assert.throws(() => replica.get('setting', 'memory/1/erasure/ann'), NeedsLeader);
  await assert.rejects(replica.commit(), { code: 'STO-E002' });

  const seen: unknown[] = [];
  replica.watch('key', (id, value, before) => seen.push([id, value?.revokedAtMs, before?.revokedAtMs]));
  await control.commit((change) => change.put('key', keyRecord('k1', { revokedAtMs: 5 })));
  assert.equal(replica.get('key', 'k1')?.revokedAtMs, 5, 'when the change is answered');
  await control.commit((change) => change.remove('key', 'k1'));
  assert.deepEqual(seen, [['k1', 5, undefined], ['k1', undefined, 5]]); // biome-ignore format: one row
  assert.equal(replica.count('key'), 0);
});

test('a change that is not durable is in no copy', async (t) => {
  const { control, copy, log } = setUp(t);
  const { replica } = copy();
  log.waits = true;
  const change = control.commit((group) => group.put('key', keyRecord('k1')));
  change.catch(() => undefined);
  await settled();
  assert.equal(control.count('key'), 1, 'the owner has it already');
  assert.deepEqual([replica.count('key'), copy().replica.count('key')], [0, 0]);
  log.decide?.(false);
  await assert.rejects(change, /no room/);
  assert.deepEqual([control.count('key'), copy().replica.count('key')], [0, 0]);
});

test('a silent node is waited for until its copy is too old, and no longer', async (t) => {
  const held: (() => void)[] = [];
  const wire = { isOpen: true };
  const { control, copy, pass } = setUp(t);
  const { replica, subscription } = copy({
    toCopy: (message, deliver) => (wire.isOpen ? deliver(message) : held.push(() => deliver(message))),
  });
  const other = copy();
  await pass(500);
  subscription.ask();
  assert.equal(replica.isFresh, true);
  wire.isOpen = false;
  const answered = watched(control.commit((change) => change.put('key', keyRecord('k1', { revokedAtMs: 5 }))));
  await settled();
  assert.equal(other.replica.get('key', 'k1')?.revokedAtMs, 5);
  for (let gone = 0; gone < COPY_WAIT_MS - 10; gone += 10) {
    assert.equal(answered.isDone, false, `after ${gone} ms`);
    await pass(10);
  }
  assert.equal(replica.isFresh, false, 'before the answer');
  await pass(10);
  assert.equal(answered.isDone, true);
  // The next change does not wait for it.
  await control.commit((change) => change.put('key', keyRecord('k2')));
  // Messages that were on their way make the copy no fresher: it was asked for too long ago.
  wire.isOpen = true;
  for (const deliver of held) deliver();
  assert.equal(replica.isFresh, false);
  assert.equal(replica.get('key', 'k1')?.revokedAtMs, 5);
  subscription.ask();
  assert.equal(replica.isFresh, true);
});

test('a report whose question has no answer is sent again, and counted once', async (t) => {
  const reportOf = (failed: number) => ({ uses: [], failed, refused: [] });
  const heard: number[] = [];
  let mayConfirm = false;
  const { copy } = setUp(t, { heard: ({ failed }) => heard.push(failed), mayConfirm: () => mayConfirm });
  let failed = 1;
  const reports = new Reports(() => {
    const report = failed === 0 ? undefined : reportOf(failed);
    failed = 0;
    return report;
  });
  // One that is lost with its connection.
  let isLost = true;
  const first = copy({}, { reports, loses: () => isLost });
  first.subscription.ask();
  assert.deepEqual(heard, []);
  first.subscription.end();
  isLost = false;
  const second = copy({}, { reports });
  assert.deepEqual(heard, [1]);
  second.subscription.ask();
  failed = 2;
  second.subscription.ask();
  assert.deepEqual(heard, [1], 'it has come, and no question was answered');
  mayConfirm = true;
  second.subscription.ask();
  second.subscription.ask();
  assert.deepEqual(heard, [1, 2]);
  // Of a node of the former version.
  second.end.receive({ is: 'beat', beat: 100, report: reportOf(3) as unknown as SentReport });
  assert.deepEqual(heard, [1, 2, 3]);
});

test('everything is sent in parts of few records and bytes', async (t) => {
  const { control, copy } = setUp(t);
  const long = 'x'.repeat(COPY_PART_BYTES / 4);
  await control.commit((change) => {
    for (let i = 0; i < COPY_PART_RECORDS + 1; i++) change.put('key', keyRecord(`k${i}`));
    for (let i = 0; i < 10; i++) change.put('setting', { name: `s${i}`, value: long });
    change.put('setting', { name: 'longest', value: 'x'.repeat(2 * COPY_PART_BYTES) });
  });
  const { replica, sent } = copy();
  assert.deepEqual([replica.count('key'), replica.count('setting')], [COPY_PART_RECORDS + 1, 11]);
  const parts = sent.flatMap((message) => (message.is === 'part' ? [message] : []));
  assert.equal(parts.length, 6);
  for (const part of parts) {
    assert.ok(part.records.length <= COPY_PART_RECORDS);
    assert.ok(messageBytes(part).length < COPY_PART_BYTES + 10_000 || part.records.length === 1);
  }
});

test('a node whose connection broke is waited for too, and so are the copies of an earlier owner', async (t) => {
  const { control, copy, pass } = setUp(t, { isFirst: false });
  const first = watched(control.commit((change) => change.put('key', keyRecord('k1'))));
  await pass(COPY_WAIT_MS - 1);
  assert.equal(first.isDone, false);
  await pass(1);
  assert.equal(first.isDone, true);

  const { replica, subscription, end } = copy();
  subscription.end();
  end.ended();
  assert.equal(replica.isFresh, true, 'it does not know that it is not connected');
  const second = watched(control.commit((change) => change.put('key', keyRecord('k1', { revokedAtMs: 5 }))));
  await pass(COPY_VALID_MS);
  assert.deepEqual([second.isDone, replica.isFresh], [false, false]);
  await pass(COPY_WAIT_MS - COPY_VALID_MS);
  assert.equal(second.isDone, true);
});

test('a copy that lacks a change, or gets one twice or too early, is not used before it has everything again', (t) => {
  const group = (number: number, keyId: string): ToCopy => ({
    is: 'group',
    group: number,
    changes: [{ kind: 'key', id: keyId, value: keyRecord(keyId) }],
  });
  const faults: Readonly<Record<string, readonly ToCopy[]>> = {
    twice: [group(1, 'k1'), group(1, 'k1')],
    'too early': [group(2, 'k2'), group(1, 'k1')],
    lost: [{ is: 'beat', beat: 1, group: 1 }],
  };
  for (const [fault, messages] of Object.entries(faults)) {
    const replica = new ControlReplica(() => ({ steadyMs: 0, dayMs: 0 }));
    const sent: ToLeader[] = [];
    const subscription = new Subscription({ replica, send: (message) => sent.push(message) });
    t.after(() => subscription.end());
    const everything: ToCopy[] = [{ is: 'start' }, { is: 'part', records: [] }];
    for (const message of [...everything, { is: 'whole', group: 0 } as const]) subscription.receive(message);
    const beat = sent.at(-1);
    assert.deepEqual([beat?.is, sent.length], ['beat', 3]);
    for (const message of messages) subscription.receive(message);
    assert.deepEqual([sent.at(-1)?.is, replica.isFresh], ['subscribe', false], fault);
    // An answer to a question from before says nothing of what comes now.
    for (const message of [...everything, { is: 'whole', group: 5 } as const]) subscription.receive(message);
    subscription.receive({ is: 'beat', beat: 1, group: 5 });
    assert.equal(replica.isFresh, false, fault);
    subscription.receive({ is: 'beat', beat: 2, group: 5 });
    assert.deepEqual([replica.isFresh, replica.count('key')], [true, 0], fault);
  }
});

test('a copy is confirmed neither by an owner that may have lost the log nor by one that ends', async (t) => {
  let mayConfirm = true;
  const { copy, feed, pass } = setUp(t, { mayConfirm: () => mayConfirm });
  const { replica, subscription } = copy();
  assert.equal(replica.isFresh, true);
  mayConfirm = false;
  for (let gone = 0; gone < COPY_VALID_MS; gone += 100) {
    await pass(100);
    subscription.ask();
  }
  assert.match(String(replica.lapsed), /has not heard/);
  mayConfirm = true;
  subscription.ask();
  assert.equal(replica.lapsed, undefined);
  feed.close();
  for (let gone = 0; gone < COPY_VALID_MS; gone += 100) {
    assert.equal(replica.isFresh, true, 'what has begun may end');
    await pass(100);
    subscription.ask();
  }
  assert.equal(replica.isFresh, false);
});

test('a node that was stopped, or whose machine slept, does not use its copy', () => {
  for (const clock of ['steadyMs', 'dayMs'] as const) {
    const times = { steadyMs: 50, dayMs: 1_000 };
    const replica = new ControlReplica(() => ({ ...times }));
    assert.equal(replica.isFresh, false);
    replica.confirm({ ...times });
    times[clock] += COPY_VALID_MS - 1;
    assert.equal(replica.isFresh, true);
    times[clock] += 1;
    assert.equal(replica.isFresh, false, clock);
  }
});

test('the parts of a server that has ended hear of no more changes of the copy', () => {
  const replica = new ControlReplica();
  const heard: string[] = [];
  const views = ['first', 'second'].map((name) => {
    const view = new ReplicaView(replica);
    view.watch('setting', (id) => heard.push(`${name} ${id}`));
    return view;
  });
  const change = (name: string) => replica.apply([{ kind: 'setting', id: name, value: setting(name) }]);
  change('a');
  views[0]?.close();
  change('b');
  assert.deepEqual(heard, ['first a', 'second a', 'second b']);
  assert.deepEqual(views[0]?.get('setting', 'b'), setting('b'));
});
