// A few rounds of each campaign, with a new seed every time; `node test/crash/run.ts` runs any number.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from './campaign.ts';
import { engineTarget, partitionTarget } from './engine-target.ts';
import { serverTarget } from './server-target.ts';

/** A test that takes longer hangs. */
const TIMEOUT_MS = 600_000;
const TRIES_MAX = 5;

for (const [door, target, rounds, acknowledgementsMax] of [
  ['engines in a process', engineTarget, 3, 200],
  ['memories of four partitions', partitionTarget, 2, 100],
  ['the whole server', serverTarget, 1, 60],
] as const)
  test(`killed under load, ${door}: every acknowledged write is there`, { timeout: TIMEOUT_MS }, async (t) => {
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
