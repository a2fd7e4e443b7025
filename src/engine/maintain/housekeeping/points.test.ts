// Statistics over time, on a stepped clock.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import type { CallContext } from '../../calls/context.ts';
import type { MemorySettings } from '../../calls/memory.ts';
import { MemoryLog } from '../../log/memory.ts';
import { openEngine } from '../../open.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Midnight. */
const START_MS = 1_699_920_000_000;
const context: CallContext = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test' };
const settings: MemorySettings = {
  number: 1,
  id: 'default',
  partitions: 1,
  language: 'en',
  dedup: 'exact',
  dedupThreshold: 0.85,
  createdAtMs: START_MS,
};

async function openShard(t: TestContext) {
  const directory = temporaryDirectory(t);
  const clock = { ms: START_MS, nowMs: () => clock.ms };
  const engine = await openEngine({
    directory,
    keysDirectory: `${directory}/keys`,
    shard: 0,
    shards: 1,
    masterKeys: [Buffer.alloc(32, 7)],
    indexHeapBytes: 64 << 20,
    clock,
    log: new MemoryLog(),
    onFatal: (error) => assert.fail(`fatal: ${error instanceof Error ? error.stack : error}`),
  });
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings });
  let count = 0;
  const add = async () => {
    count += 1;
    return engine.write('add', context, { grainType: 'event', fields: { content: `event ${count}` }, sync: false });
  };
  /** Advances the clock and lets housekeeping do all due work. */
  const advance = async (ms: number): Promise<void> => {
    clock.ms += ms;
    for (let idle = 0; idle < 3; ) {
      idle = engine.maintain(100) ? 0 : idle + 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const history = (interval: 'hour' | 'day', fromMs = 0, toMs = Number.MAX_SAFE_INTEGER) =>
    engine
      .read('statisticsHistory', context, { fromMs, toMs, interval })
      .points.map(({ timestamp, totalGrains }) => [(timestamp * 1000 - START_MS) / HOUR_MS, totalGrains]);
  return { engine, clock, add, advance, history };
}

test('every hour with a change has a point, and the current state is the last', async (t) => {
  const { engine, add, advance, history } = await openShard(t);
  const { hash } = await add();
  await add();
  await advance(HOUR_MS);
  await advance(HOUR_MS);
  await engine.write('forget', context, { hashes: [hash], check: false });
  await advance(2 * HOUR_MS);
  await add();
  assert.deepEqual(history('hour'), [
    [1, 2],
    [4, 1],
    [4, 2],
  ]);
  assert.deepEqual(history('hour', START_MS + 2 * HOUR_MS, START_MS + 4 * HOUR_MS - 1), []);
  assert.deepEqual(history('day'), [[4, 2]]);
  const [point] = engine.read('statisticsHistory', context, {
    fromMs: 0,
    toMs: START_MS + HOUR_MS,
    interval: 'hour',
  }).points;
  assert.equal(point?.typeCounts['event'], 2);
  assert.ok((point?.diskSpaceBytes ?? 0) > 0);
  const since = (fromMs: number) =>
    engine.read('statisticsHistory', context, { fromMs, toMs: Number.MAX_SAFE_INTEGER, interval: 'hour' }).before;
  assert.equal(since(START_MS + 2 * HOUR_MS)?.totalGrains, 2);
  assert.equal(since(START_MS), undefined);
});

test('hourly points are dropped after 90 days, and the last point of each day after two years', async (t) => {
  const { add, advance, history } = await openShard(t);
  // Two points on the first day, neither in its last hour; one on the second.
  for (const hours of [1, 9, 20]) {
    await add();
    await advance(hours * HOUR_MS);
  }
  assert.deepEqual(
    history('hour').map(([hour]) => hour),
    [1, 10, 30, 30],
  );
  await advance(91 * DAY_MS);
  await add();
  await advance(HOUR_MS);
  assert.deepEqual(
    history('hour').map(([hour, grains]) => [hour! < 100 ? hour : 'now', grains]),
    [
      [10, 2],
      [30, 3],
      ['now', 4],
      ['now', 4],
    ],
  );
  await advance(2 * 366 * DAY_MS);
  await add();
  await advance(HOUR_MS);
  assert.deepEqual(
    history('day').map(([, grains]) => grains),
    [5],
  );
});
