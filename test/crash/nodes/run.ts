// `node test/crash/nodes/run.ts --rounds N --seed S --acknowledgements A`: kills and stops nodes and their database under load, and checks
// every answer. Exit code 1 when something was lost, written twice, or answered as no single store would.
import { parseArgs } from 'node:util';
import { nodesCampaign } from './campaign.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    acknowledgements: { type: 'string', default: '400' },
  },
});
const seed = Number(values.seed);
const { problems, ...report } = await nodesCampaign({
  rounds: Number(values.rounds),
  seed,
  acknowledgements: Number(values.acknowledgements),
  log: (line) => console.log(line),
});
for (const problem of new Set(problems)) console.log(problem);
console.log(JSON.stringify({ seed, ...report, problems: problems.length }));
process.exit(problems.length === 0 ? 0 : 1);
