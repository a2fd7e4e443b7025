// A short campaign over three nodes: `node test/crash/nodes/run.ts` runs long ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_POSTGRES } from '../../support/postgres.ts';
import { runs } from '../../support/runs.ts';
import { nodesCampaign } from './campaign.ts';

test('nodes and their database are killed and stopped under load: nothing is lost, written twice or answered wrongly', {
  skip: NO_POSTGRES,
}, async (t) => {
  const { problems, ...report } = await nodesCampaign({
    rounds: runs(4),
    seed: 1,
    acknowledgements: 60,
    log: (line) => t.diagnostic(line),
  });
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual(problems, []);
  assert.ok(report.kills >= 3 && report.stops >= 1 && report.acknowledged > 300, JSON.stringify(report));
});
