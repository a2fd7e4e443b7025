// Runs one scenario and sends what it measured: a scenario has a process to itself, so that the heap and the compiled
// code of another do not speak in its figures.
import { SUITE } from '../suite.ts';
import type { ScenarioRun } from './report.ts';
import type { Options } from './scenario.ts';

// Whether it is through, or whoever asked is gone: what it started goes with it.
process.once('disconnect', () => process.exit());

process.once('message', async (message) => {
  const { name, options } = message as { name: string; options: Options }; // what `runScenario` sent
  const load = SUITE[name];
  if (load === undefined) throw new Error(`there is no scenario ${name}`);
  const { scenario } = await load();
  const start = performance.now();
  const result = await scenario.run(options);
  const { about, aims } = scenario;
  const run: ScenarioRun = { name, about, aims, result, seconds: (performance.now() - start) / 1_000 };
  process.send?.(run);
  process.disconnect();
});
