import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf, until } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { HOUSEKEEPING_RETRY_MS } from '../../base/limits.ts';
import type { Engine } from '../../engine.ts';
import { FaultyLog } from '../../log/faulty.ts';
import type { Append, Sequence } from '../../log/log.ts';
import { MemoryLog } from '../../log/memory.ts';
import { CHANGES_MAX } from '../housekeeping/committed.ts';

const context = contextOf(1);

/** Records the largest number of removals in one append. */
class WatchedLog extends FaultyLog {
  removalsMax = 0;

  override append(append: Append): Promise<Sequence> {
    this.removalsMax = Math.max(this.removalsMax, append.removals?.length ?? 0);
    return super.append(append);
  }
}

async function setUp(t: TestContext) {
  const clock = { now: 1_700_000_000_000, nowMs: (): number => clock.now };
  const log = new WatchedLog(new MemoryLog());
  const engine = await openShard(temporaryDirectory(t), { clock, log });
  t.after(() => engine.close());
  for (const number of [1, 2]) await engine.write('attachMemory', contextOf(number), { settings: settingsOf(number) });
  return { engine, log, clock };
}

const claims = (engine: Engine, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      engine.write('claim', { ...context, idempotency: { key: `key ${i}`, bodyHash: 'b' } }, { release: false }),
    ),
  );

/** Sequence numbers of the memory's records. */
function recordsOf(log: FaultyLog, memory: number): number[] {
  return [...log.scan(1)].flatMap((item) =>
    'bytes' in item && Buffer.from(item.bytes).readUInt32BE(1) === memory ? [item.sequence] : [],
  );
}

/** State entries about the memory. */
function statesOf(log: FaultyLog, memory: number): string[] {
  return [...log.scanState('')].flatMap(([key]) => (key.split('/')[1] === String(memory) ? [key] : []));
}

test('the remains of a dropped memory are removed in bounded steps, however slow the log is', async (t) => {
  const { engine, log } = await setUp(t);
  await claims(engine, 2 * CHANGES_MAX + 100);
  await addBelief(engine, 2, { subject: 'stays', object: 'here' });
  await engine.write('flush', context, {});
  await engine.write('dropMemory', context, {});
  const release = log.holdAppends();
  for (let turn = 0; turn < 500; turn++) {
    engine.maintain(5);
    await new Promise((resolve) => setImmediate(resolve));
  }
  release();
  await until(engine, () => recordsOf(log, 1).length === 0 && engine.store.dropPending.size === 0);
  assert.ok(log.removalsMax > 0 && log.removalsMax <= CHANGES_MAX, `${log.removalsMax} at once`);
  assert.ok(recordsOf(log, 2).length > 0);
});

test('no state entry of a dropped memory remains, its statistics points included', async (t) => {
  const { engine, log, clock } = await setUp(t);
  await addBelief(engine, 1, { subject: 'a', object: 'b', user_id: 'ann' });
  await engine.write('restrict', context, { userId: 'ann', restricted: true });
  clock.now += 3_600_000;
  await until(engine, () => statesOf(log, 1).some((key) => key.startsWith('point/')));
  await engine.write('dropMemory', context, {});
  await until(engine, () => engine.store.dropPending.size === 0);
  assert.deepEqual(statesOf(log, 1), []);
});

test('a removal that storage refuses is repeated later', async (t) => {
  const { engine, log, clock } = await setUp(t);
  await addBelief(engine, 1, { subject: 'a', object: 'b' });
  await engine.write('flush', context, {});
  await engine.write('dropMemory', context, {});
  log.failNextAppend();
  for (let turn = 0; turn < 50; turn++) {
    engine.maintain(5);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(engine.store.dropPending.size, 1);
  clock.now += HOUSEKEEPING_RETRY_MS;
  await until(engine, () => engine.store.dropPending.size === 0);
  assert.deepEqual(recordsOf(log, 1), []);
});
