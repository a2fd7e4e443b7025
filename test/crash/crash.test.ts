// A few rounds of each campaign, from a new seed every time; `node test/crash/run.ts` runs as many as one likes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from './campaign.ts';
import { engineTarget, partitionTarget } from './engine-target.ts';
import { serverTarget } from './server-target.ts';

const TIMEOUT_MS = 120_000;

for (const [door, target, rounds, acknowledgementsMax] of [
  ['engines in a process', engineTarget, 3, 200],
  ['memories of four partitions', partitionTarget, 2, 100],
  ['the whole server', serverTarget, 1, 60],
] as const)
  test(`killed under load, ${door}: every acknowledged write is there`, { timeout: TIMEOUT_MS }, async (t) => {
    const seed = Date.now() % 1_000_000;
    const report = await campaign({ target, rounds, seed, acknowledgementsMax });
    t.diagnostic(`seed ${seed}: ${report.rounds} rounds, ${report.kills} kills, ${report.acknowledged} acknowledged`);
    assert.deepEqual([...new Set(report.problems)], [], `seed ${seed}`);
    assert.ok(report.rounds === rounds && report.kills >= rounds && report.acknowledged > 0);
  });
