// Runs one scenario and sends its results. Each scenario has a process of its own, so that heap and compiled code of
// others do not affect it.
import { SUITE } from '../suite.ts';
import { cpuTable } from './cpu-table.ts';
import type { ScenarioRun } from './report.ts';
import type { Options } from './scenario.ts';
import { ownCpu } from './thread-cpu.ts';

// When the parent disconnects, exit and stop everything that was started.
process.once('disconnect', () => process.exit());

process.once('message', async (message) => {
  const { name, options } = message as { name: string; options: Options }; // what `runScenario` sent
  const load = SUITE[name];
  if (load === undefined) throw new Error(`scenario ${name} does not exist`);
  const { scenario } = await load();
  const start = performance.now();
  const { result, cpu } = await ownCpu(() => scenario.run(options));
  cpuTable.addWhole('this process', cpu);
  const { about, aims } = scenario;
  const run: ScenarioRun = {
    ...{ name, about, aims, result, seconds: (performance.now() - start) / 1_000 },
    ...{ cpu: cpuTable.figures(), wholeCpu: cpuTable.wholeFigures() },
  };
  process.send?.(run);
  process.disconnect();
});
