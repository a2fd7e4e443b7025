// Runs the simulation: `npm run sim -- --seed N --steps M` repeats a run, `--count K` tries that many seeds from N on,
// `--store postgres` runs them on a database, with the faults that it brings.
import { parseArgs } from 'node:util';
import { Discrepancy } from '../model/compare.ts';
import type { StoreKind } from './node.ts';
import { run, shrink, stepsOf } from './run.ts';
import { type Counts, optionsOf } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    steps: { type: 'string', default: '200' },
    count: { type: 'string', default: '1' },
    tries: { type: 'string', default: '300' },
    store: { type: 'string' },
  },
});
const first = Number(values.seed);
const steps = Number(values.steps);
const count = Number(values.count);
const STORES: readonly StoreKind[] = ['heap', 'lmdb', 'postgres'];
const store = STORES.find((one) => one === values.store);
if (values.store !== undefined && store === undefined)
  throw new Error(`--store is heap, lmdb or postgres, not ${values.store}`);

const total: Counts = { acknowledged: 0, refused: 0, unanswered: 0, reads: 0, reopened: 0 };

for (let seed = first; seed < first + count; seed++) {
  const options = optionsOf(seed, store);
  const { failure, counts } = await run(options, stepsOf(seed, steps));
  // Its own keys, which the type of Object.keys forgets.
  for (const name of Object.keys(total) as (keyof Counts)[]) total[name] += counts[name];
  if (failure === undefined) {
    if (count === 1) console.log(`seed ${seed}: ${steps} steps agree with the model ${JSON.stringify(options)}`);
    continue;
  }
  process.exitCode = 1;
  console.log(
    `seed ${seed} fails at step ${failure.at}: npm run sim -- --seed ${seed} --steps ${failure.at + 1}${values.store === undefined ? '' : ` --store ${values.store}`}`,
  );
  const {
    failure: smallest,
    steps: left,
    tries,
  } = await shrink(options, stepsOf(seed, steps), failure, Number(values.tries));
  console.log(`${JSON.stringify(options)}; ${left.length} steps are left after ${tries} runs:`);
  for (const line of smallest.trace) console.log(`  ${line}`);
  const { error } = smallest;
  console.log(error instanceof Discrepancy ? error.message : error);
}
console.log(`${count} seeds from ${first} on, ${steps} steps each: ${JSON.stringify(total)}`);
