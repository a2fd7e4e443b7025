import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { LeaseTable, moment } from './lease-table.ts';

test('a lease ends by the first of two clocks', (t) => {
  const table = LeaseTable.of(3);
  assert.deepEqual([0, 1, 2].map((shard) => table.isHeld(shard)), [false, false, false]); // biome-ignore format: one row
  table.hold(1, moment(), 1_000);
  assert.deepEqual([0, 1, 2].map((shard) => table.isHeld(shard)), [false, true, false]); // biome-ignore format: one row
  const [now, day] = [performance.now.bind(performance), Date.now.bind(Date)];
  for (const [steadyMs, dayMs] of [
    [1_000, 0],
    [0, 1_000],
    [1_000, -9_000],
  ] as const) {
    const mocks = [
      t.mock.method(performance, 'now', () => now() + steadyMs),
      t.mock.method(Date, 'now', () => day() + dayMs),
    ];
    assert.equal(table.isHeld(1), false, `${steadyMs} and ${dayMs} ms later`);
    for (const { mock } of mocks) mock.restore();
  }
  assert.equal(table.isHeld(1), true);
  table.end(1);
  assert.equal(table.isHeld(1), false);
});

test('a shard that is given back within its lease may still say what it answered', () => {
  const table = LeaseTable.of(3);
  for (const shard of [0, 1]) table.hold(shard, moment(), 60_000);
  table.spoil(1);
  const states = () => [0, 1, 2].map((shard) => [table.isHeld(shard), table.isGivenBack(shard)]);
  for (const shard of [0, 1, 2]) table.giveBack(shard);
  assert.deepEqual(states(), [[false, true], [false, false], [false, false]]); // biome-ignore format: one row
  assert.equal(table.isSpoiled(1), true);
  table.begin(0);
  assert.deepEqual(states()[0], [false, false]);
});

test('a keeper extends the lease of a token that is held, and of no other one', () => {
  const table = LeaseTable.of(3);
  const take = (token: number): void => {
    table.begin(1);
    table.hold(1, moment(), 60_000);
    table.keep(1, token);
  };
  const ended = { steadyMs: moment().steadyMs - 60_000, dayMs: Date.now() - 60_000 };
  take(7);
  assert.deepEqual(table.kept(1_000), [{ shard: 1, token: 7 }]);
  table.hold(1, ended, 1);
  assert.equal(table.isHeld(1), false);
  table.renewed({ shard: 1, token: 6 }, moment(), 60_000);
  assert.equal(table.isHeld(1), false, 'of an earlier owner');
  table.renewed({ shard: 1, token: 7 }, moment(), 60_000);
  assert.equal(table.isHeld(1), true);
  table.renewed({ shard: 1, token: 7 }, ended, 1);
  assert.equal(table.isHeld(1), true, 'an answer that comes late shortens nothing');

  table.giveBack(1);
  table.renewed({ shard: 1, token: 7 }, moment(), 60_000);
  table.lose({ shard: 1, token: 7 });
  assert.deepEqual([table.isHeld(1), table.isLost(1), table.isGivenBack(1)], [false, false, true]);
  assert.deepEqual(table.kept(1_000), []);

  take(8);
  table.lose({ shard: 1, token: 7 });
  assert.deepEqual([table.isHeld(1), table.isLost(1)], [true, false]);
  table.lose({ shard: 1, token: 8 });
  assert.deepEqual([table.isHeld(1), table.isLost(1), table.isSpoiled(1)], [false, true, true]);
  take(9);
  assert.deepEqual([table.isHeld(1), table.isLost(1), table.isSpoiled(1)], [true, false, false]);
  table.leave(1);
  assert.deepEqual([table.isHeld(1), table.kept(1_000)], [true, []], 'it ends by itself');
});

test('a copy lags behind by the age of the oldest append that it lacks', () => {
  const table = LeaseTable.of(2);
  assert.deepEqual([table.lagMs(0), table.lagMs(1)], [0, 0]);
  table.lacks(1, moment().steadyMs - 5_000);
  const lagMs = table.lagMs(1);
  assert.ok(lagMs >= 4_999 && lagMs < 50_000, String(lagMs));
  table.lacks(1, undefined);
  assert.deepEqual([table.lagMs(0), table.lagMs(1)], [0, 0]);
});

test('threads see the same leases', async () => {
  const table = LeaseTable.of(2);
  const code = `
    import { workerData } from 'node:worker_threads';
    const { LeaseTable, moment } = await import(workerData.module);
    const table = new LeaseTable(workerData.buffer);
    table.hold(0, moment(), 60_000);
    table.spoil(1);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    workerData: { module: new URL('lease-table.ts', import.meta.url).href, buffer: table.buffer },
  });
  await once(worker, 'exit');
  assert.deepEqual([table.isHeld(0), table.isHeld(1)], [true, false]);
  assert.deepEqual([table.isSpoiled(0), table.isSpoiled(1)], [false, true]);
  table.begin(1);
  assert.equal(table.isSpoiled(1), false);
});
