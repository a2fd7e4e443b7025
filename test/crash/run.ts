// `node test/crash/run.ts --rounds N --seed S [--door engine|partitions|server]`: kills the store repeatedly and looks
// for every acknowledged write. Exit code 1 when something was lost or incomplete; the printed seed repeats the run.
import { parseArgs } from 'node:util';
import { campaign } from './campaign.ts';
import { engineTarget, partitionTarget } from './engine-target.ts';
import { serverTarget } from './server-target.ts';

const TARGETS = { engine: engineTarget, partitions: partitionTarget, server: serverTarget };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    door: { type: 'string', default: 'engine' },
  },
});
const { door } = values;
if (door !== 'engine' && door !== 'partitions' && door !== 'server')
  throw new Error(`--door is engine, partitions or server, not ${door}`);
const report = await campaign({
  target: TARGETS[door],
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  log: (line) => console.log(line),
});
// Many clients may meet the same failure.
for (const problem of new Set(report.problems)) console.log(problem);
const { rounds, kills, acknowledged, problems } = report;
console.log(JSON.stringify({ door, rounds, kills, acknowledged, problems: problems.length }));
// Clients of a round that failed may wait for ever.
process.exit(problems.length === 0 ? 0 : 1);
