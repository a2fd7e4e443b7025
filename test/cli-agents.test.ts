// `granary agents` against a server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';

const { here } = servedForFile();
const DID = 'did:web:example.com:planner';

test('an agent is registered, listed, shown with its history, and deactivated', async () => {
  assert.equal((await granary(here('agents'))).stdout, 'There are no agents.\n');
  const made = await granary(
    here('agents', 'register', 'planner', '--name', 'Planner', '--did', DID, '--capability', 'plan'),
  );
  assert.equal(made.stdout, 'planner is registered.\n');
  const again = await granary(here('agents', 'register', 'planner'));
  assert.match(again.stderr, /AGT-E002/);
  const fields = JSON.stringify({ tool_name: 'search', is_error: true, author_did: DID });
  const added = await granary(here('add', '--type', 'action', '--fields', fields));
  assert.equal(added.code, 0, added.stderr);
  const listed = await granary(here('agents'));
  assert.match(listed.stdout, /planner +active +0\.333 +1 +\d{4}-/);
  const shown = await granary(here('agents', 'show', 'planner'));
  assert.match(shown.stdout, /^planner: active, trust 0\.333\n {2}name +Planner\n/);
  assert.match(shown.stdout, /0 succeeded, 1 failed; the policy refused 0 requests/);
  assert.match(shown.stdout, /0\.333 +-0\.167 +action failed +[0-9a-f]{16}/);
  const ended = await granaryJson(here('agents', 'deactivate', 'planner', '--reason', 'replaced'));
  assert.deepEqual([ended['status'], ended['deactivation_reason']], ['deactivated', 'replaced']);
  const refused = await granary(here('add', '--type', 'action', '--fields', fields));
  assert.match(refused.stderr, /AGT-E003/);
  assert.match((await granary(here('agents', 'show', 'planner'))).stdout, /deactivated +\d{4}-.* replaced\n/);
  assert.match((await granary(here('agents', 'show', 'nobody'))).stderr, /AGT-E001/);
});
