// The CPU of a process is told by its threads, and garbage collection by its share.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { CpuTable, cpuLines } from '../bench/lib/cpu-table.ts';
import { type CpuSpent, gcShareOf, ownCpu, spentBetween, type ThreadTimes, totalOf } from '../bench/lib/thread-cpu.ts';

const BUSY_US = 60_000;
/** The system counts at ticks, some milliseconds apart. */
const TICK_US = 10_000;
const BUSY = `const start = process.threadCpuUsage();
for (let spent = start; spent.user + spent.system < ${BUSY_US}; ) spent = process.threadCpuUsage(start);`;
const skip = process.platform !== 'linux' && 'only Linux reports the CPU of threads';

test("a thread's CPU is not the main thread's", { skip }, async () => {
  const { cpu } = await ownCpu(async () => {
    const worker = new Worker(`${BUSY}; require('node:worker_threads').parentPort.once('message', () => undefined)`, {
      eval: true,
      execArgv: [],
    });
    // It runs its script before it takes the message, and is counted while it lives.
    await once(worker, 'online');
    await new Promise<void>((resolve) => {
      const look = async (): Promise<void> => {
        const { user, system } = await worker.cpuUsage();
        if (user + system < BUSY_US) setTimeout(() => void look(), 5);
        else resolve();
      };
      void look();
    });
    worker.unref();
  });
  assert.ok(cpu.helpers >= BUSY_US - TICK_US, `helpers ${cpu.helpers}`);
  assert.ok(cpu.main < cpu.helpers, `main ${cpu.main}, helpers ${cpu.helpers}`);
});

test('the pauses for garbage are a share of the thread that made it', { skip }, async () => {
  const kept: unknown[] = [];
  const { cpu } = await ownCpu(() => {
    // More than spaces of new objects hold, also in a process that has let them grow.
    for (let i = 0; i < 2_000_000; i++) kept[i % 50_000] = { i, list: [i] };
  });
  assert.ok(cpu.gc > 0, 'no pause was counted');
  assert.ok(gcShareOf(cpu) <= 1, `gc ${cpu.gc} of ${cpu.main}`);
});

test('what ended meanwhile is taken from the process', () => {
  const thread: ThreadTimes = { of: 'main', us: 100, waitUs: 0, gcPauseUs: 0 };
  const ended: ThreadTimes = { of: 'helpers', us: 50, waitUs: 0, gcPauseUs: 0 };
  const spent = spentBetween(
    {
      threads: new Map([
        [1, thread],
        [2, ended],
      ]),
      processUs: 150,
    },
    { threads: new Map([[1, { ...thread, us: 400, waitUs: 300, gcPauseUs: 80 }]]), processUs: 1_150 },
  );
  assert.deepEqual(spent, { main: 300, workers: 0, helpers: 0, libuv: 0, v8: 0, other: 700, gc: 40 });
  assert.equal(totalOf(spent), 1_000);
});

test('rows add up and are shown per operation', () => {
  const table = new CpuTable();
  const spent: CpuSpent = { main: 100, workers: 200, helpers: 0, libuv: 50, v8: 50, other: 0, gc: 30 };
  table.add('add', 10, spent);
  table.add('add', 10, spent);
  table.add('nothing', 1, undefined);
  assert.deepEqual(table.figures(), {
    add: {
      ...{
        operations: 20,
        total_us: 40,
        main_us: 10,
        workers_us: 20,
        helpers_us: 0,
        libuv_us: 5,
        v8_us: 5,
        other_us: 0,
      },
      gc_ratio: 0.1,
    },
  });
  const [head, row] = cpuLines('CPU', table.figures(), 1);
  assert.equal(head, '  CPU  total  main  workers  helpers  libuv  v8  other      GC');
  assert.equal(row, '  add     40    10       20        0      5   5      0  10.0 %');
  assert.deepEqual(cpuLines('CPU', {}, 1), []);
});
