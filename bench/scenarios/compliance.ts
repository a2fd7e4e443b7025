// A full run of the compliance checks on a memory of one partition, in process: its duration, and the delay for other
// calls.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { judge } from '../../src/server/compliance/judge.ts';
import { BARE_DEPLOYMENT, NO_METRICS } from '../../src/server/compliance/testing/deployment.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { addAll, batchesOf, contextOf, makeMemories, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { median, rounded } from '../lib/statistics.ts';
import { ownCpu, totalOf } from '../lib/thread-cpu.ts';

const MEMORY = 1;
const ERASED = ['user-7', 'user-8'];

export const scenario: Scenario = {
  name: 'compliance',
  about: 'a full run of the 88 checks of compliance, and what others wait for it',
  aims: [
    { metric: 'full_run_ms', atMost: 2_000 },
    { metric: 'full_run_longest_wait_ms', atMost: 60 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 500 });
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  return inFolder(async (folder) => {
    const shard = await openShard(folder);
    await makeMemories(shard.engine, MEMORY, 1);
    const source = grainSource(1);
    for (let left = grains; left > 0; left -= 10_000)
      await addAll(shard, batchesOf(MEMORY, source.take(Math.min(left, 10_000))));
    const context = contextOf(MEMORY);
    for (const userId of ERASED) await shard.engine.write('eraseUser', context, { userId });
    await settle(shard);
    const took: number[] = [];
    const cpu: number[] = [];
    const waits: number[] = [];
    let judged = 0;
    let failed = 0;
    for (let round = 0; round <= rounds; round++) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const { result, cpu: spent } = await ownCpu(async () => {
        const start = performance.now();
        const { partitions } = await shard.engine.write('compliance', context, { runId: `vrf_bench${round}` });
        const gathered = performance.now();
        const checks = judge({ partitions, metrics: NO_METRICS, deployment: BARE_DEPLOYMENT }, undefined);
        return { checks, start, gathered, end: performance.now() };
      });
      const { checks, start, gathered, end } = result;
      delay.disable();
      judged = end - gathered;
      failed = checks.filter(({ status }) => status === 'fail').length;
      // The first round warms up.
      if (round === 0) continue;
      took.push(end - start);
      cpu.push(totalOf(spent) / 1_000);
      cpuTable.add('full_run', 1, spent);
      waits.push(delay.max / 1e6);
      await settle(shard);
    }
    await shard.close();
    return {
      parameters: { grains, rounds, erased_users: ERASED.length },
      metrics: rounded({
        full_run_ms: median(took),
        full_run_cpu_ms: median(cpu),
        full_run_longest_wait_ms: median(waits),
        judging_ms: judged,
        failing_checks: failed,
      }),
    };
  });
}
