// Writes whose deadline has passed when their turn comes are refused, and nothing of them is stored.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StepClock } from '../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { CallContext } from '../calls/context.ts';
import type { MemorySettings } from '../calls/memory.ts';
import { FaultyLog } from '../log/faulty.ts';
import { MemoryLog, MemoryLogStore } from '../log/memory.ts';
import { openEngine } from '../open.ts';

const context: CallContext = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test' };
const settings: MemorySettings = {
  number: 1,
  id: 'default',
  partitions: 1,
  language: 'en',
  dedup: 'none',
  dedupThreshold: 0.85,
  createdAtMs: 1_700_000_000_000,
};
const item = (object: string) => ({ grainType: 'belief', fields: { subject: 'ada', relation: 'likes', object } });

/** An engine whose clock and disk stand still until the test releases them. */
async function opened(t: TestContext) {
  const root = temporaryDirectory(t);
  const log = new FaultyLog(new MemoryLog(new MemoryLogStore()));
  const clock = new StepClock();
  const engine = await openEngine({
    directory: join(root, 'shard-0'),
    keysDirectory: join(root, 'keys', 'shard-0'),
    shard: 0,
    shards: 1,
    masterKeys: [Buffer.alloc(32, 7)],
    indexHeapBytes: 64 << 20,
    clock,
    log,
    onFatal: (error) => assert.fail(`fatal: ${error instanceof Error ? error.stack : error}`),
  });
  t.after(() => engine.abandon().catch(() => undefined));
  await engine.write('attachMemory', context, { settings });
  const objects = (): unknown[] =>
    engine
      .read('list', context, { filter: {}, limit: 100, order: 'asc' })
      .grains.map(({ fields }) => fields['object'])
      .sort();
  return { engine, log, clock, objects };
}

test('a write that waited behind a commit beyond its deadline is refused, and its neighbours are not', async (t) => {
  const { engine, log, clock, objects } = await opened(t);
  const release = log.holdAppends();
  const first = engine.write('add', context, { ...item('first'), sync: false });
  // Its group is being committed from here on.
  await new Promise((resolve) => setImmediate(resolve));
  const idempotency = { key: 'once', bodyHash: 'a' };
  const hurried = { ...context, deadlineMs: clock.now + 50, idempotency };
  const late = engine.write('add', hurried, { ...item('late'), sync: false });
  const lateBatch = engine.write(
    'addBatch',
    { ...context, deadlineMs: clock.now + 50 },
    { items: [item('x'), item('y')] },
  );
  const patient = engine.write(
    'add',
    { ...context, deadlineMs: clock.now + 5_000 },
    { ...item('patient'), sync: false },
  );
  const refusals = Promise.all([
    assert.rejects(late, { code: 'SYS-E005' }),
    assert.rejects(lateBatch, { code: 'SYS-E005' }),
  ]);
  clock.step(51);
  release();
  await Promise.all([first, refusals, patient]);
  assert.deepEqual(objects(), ['first', 'patient']);
  // Its idempotency key is free for another body.
  const free = { ...context, idempotency: { ...idempotency, bodyHash: 'b' } };
  await engine.write('add', free, { ...item('second try'), sync: false });
  assert.deepEqual(objects(), ['first', 'patient', 'second try']);
});

test('a clock that is set while writes wait neither refuses one nor gives it more time', async (t) => {
  const { engine, log, clock, objects } = await opened(t);
  const lasting = (ms: number) => ({ ...context, deadlineMs: clock.steadyMs() + ms });
  const day = 86_400_000;
  for (const [by, object] of [
    [day, 'forward'],
    [-2 * day, 'back'],
  ] as const) {
    const release = log.holdAppends();
    const first = engine.write('add', context, { ...item(`${object} first`), sync: false });
    await new Promise((resolve) => setImmediate(resolve));
    const waiting = engine.write('add', lasting(100), { ...item(object), sync: false });
    const late = engine.write('add', lasting(50), { ...item(`${object}, late`), sync: false });
    const refusal = assert.rejects(late, { code: 'SYS-E005' });
    clock.set(clock.now + by);
    clock.step(51);
    release();
    await Promise.all([first, waiting, refusal]);
  }
  assert.deepEqual(objects(), ['back', 'back first', 'forward', 'forward first']);
});
