// A few rounds of each campaign, with a new seed every time; `node test/crash/run.ts` runs any number.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { NO_POSTGRES } from '../support/postgres.ts';
import { campaign, type Target } from './campaign.ts';
import { engineTarget, partitionTarget } from './engine-target.ts';
import { serverTarget } from './server-target.ts';
import { StoredTargets } from './stored-targets.ts';

/** A test that takes longer hangs. */
const TIMEOUT_MS = 600_000;
const TRIES_MAX = 5;

let starting: Promise<StoredTargets> | undefined;
/** The targets whose truth lies in PostgreSQL. */
function stored(): Promise<StoredTargets> {
  starting ??= StoredTargets.start();
  return starting;
}
after(async () => (await starting)?.end());

interface Campaign {
  readonly door: string;
  readonly target: () => Target | Promise<Target>;
  readonly rounds: number;
  readonly acknowledgementsMax: number;
  readonly skip?: string | undefined;
}

const CAMPAIGNS: readonly Campaign[] = [
  { door: 'engines in a process', target: () => engineTarget, rounds: 3, acknowledgementsMax: 200 },
  { door: 'memories of four partitions', target: () => partitionTarget, rounds: 2, acknowledgementsMax: 100 },
  { door: 'the whole server', target: () => serverTarget, rounds: 1, acknowledgementsMax: 60 },
  {
    door: 'engines on PostgreSQL',
    target: async () => (await stored()).engines(2, 1),
    rounds: 2,
    acknowledgementsMax: 200,
    skip: NO_POSTGRES,
  },
  {
    door: 'a server on PostgreSQL',
    target: async () => (await stored()).server(2),
    rounds: 1,
    acknowledgementsMax: 60,
    skip: NO_POSTGRES,
  },
];

for (const { door, target: targetOf, rounds, acknowledgementsMax, skip } of CAMPAIGNS)
  test(`killed under load, ${door}: every acknowledged write is there`, { timeout: TIMEOUT_MS, skip }, async (t) => {
    const target = await targetOf();
    let acknowledged = 0;
    // All rounds may end before the first acknowledgement: then run more.
    for (let tries = 0; tries < TRIES_MAX && acknowledged === 0; tries++) {
      const seed = Date.now() % 1_000_000;
      const report = await campaign({ target, rounds, seed, acknowledgementsMax });
      t.diagnostic(`seed ${seed}: ${report.rounds} rounds, ${report.kills} kills, ${report.acknowledged} acknowledged`);
      assert.deepEqual([...new Set(report.problems)], [], `seed ${seed}`);
      assert.ok(report.rounds === rounds && report.kills >= rounds);
      ({ acknowledged } = report);
    }
    assert.ok(acknowledged > 0, 'some requests were acknowledged');
  });
