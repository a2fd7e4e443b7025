// `node test/crash/run.ts --rounds N --seed S [--door engine|partitions|server] [--store postgres]`: kills the store
// repeatedly and looks for every acknowledged write; with `--store postgres` the database too. Exit code 1 when something was
// lost or incomplete; the printed seed repeats the run.
import { parseArgs } from 'node:util';
import { campaign } from './campaign.ts';
import { engineTarget, partitionTarget } from './engine-target.ts';
import { serverTarget } from './server-target.ts';
import { StoredTargets } from './stored-targets.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    door: { type: 'string', default: 'engine' },
    store: { type: 'string', default: 'files' },
  },
});
const { door, store } = values;
if (door !== 'engine' && door !== 'partitions' && door !== 'server')
  throw new Error(`--door is engine, partitions or server, not ${door}`);
if (store !== 'files' && store !== 'postgres') throw new Error(`--store is files or postgres, not ${store}`);
const stored = store === 'postgres' ? await StoredTargets.start() : undefined;
const targets =
  stored === undefined
    ? { engine: engineTarget, partitions: partitionTarget, server: serverTarget }
    : { engine: stored.engines(2, 1), partitions: stored.engines(4, 4), server: stored.server(2) };
// A run that hangs can be repeated too.
console.log(`from seed ${values.seed} on`);
const report = await campaign({
  target: targets[door],
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  log: (line) => console.log(line),
});
// Many clients may meet the same failure.
for (const problem of new Set(report.problems)) console.log(problem);
const { rounds, kills, acknowledged, problems } = report;
const { databaseKills, emptied } = stored ?? {};
console.log(
  JSON.stringify({ door, store, rounds, kills, databaseKills, emptied, acknowledged, problems: problems.length }),
);
stored?.end();
// Clients of a round that failed may wait for ever.
process.exit(problems.length === 0 ? 0 : 1);
