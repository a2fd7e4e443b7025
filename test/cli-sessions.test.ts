// `granary session` and `granary actions` against a server.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';

const THEN = 1_700_000_000;
const GRAINS = [
  { grain_type: 'state', fields: { data: { step: 3, plan: ['find', 'order'] } } },
  { grain_type: 'goal', fields: { description: 'find a kettle', priority: 'high' } },
  { grain_type: 'action', fields: { tool_name: 'search', content: 'two kettles', duration_ms: 1_500 } },
  {
    grain_type: 'action',
    fields: { tool_name: 'order', is_error: true, error: 'sold out', parent_task_id: 'buying', duration_ms: 20 },
  },
  { grain_type: 'belief', fields: { subject: 'Ada', relation: 'likes', object: 'blue kettles' } },
];

const { here } = servedForFile({
  prepare: async ({ directory, here }) => {
    const file = join(directory, 'session.jsonl');
    const lines = GRAINS.map(({ grain_type, fields }, i) =>
      JSON.stringify({ grain_type, fields: { ...fields, session_id: 'run 1', created_at: THEN + i } }),
    );
    writeFileSync(file, `${lines.join('\n')}\n`);
    const { code, stderr } = await granary(here('import', file));
    assert.equal(code, 0, stderr);
  },
});

test('a session is printed as a page', async () => {
  const { stdout, code } = await granary(here('session', 'run 1'));
  assert.equal(code, 0);
  assert.match(stdout, /^State of 2023-11-14 22:13:20 UTC\n +plan +\["find","order"\]\n +step +3\n/);
  assert.match(stdout, /\nActive goals: 1\n {2}\[high\] find a kettle\n/);
  assert.match(stdout, /\nLast actions: 2\n.*order failed: sold out\n.*search: two kettles\n$/);
  const one = await granary(here('session', 'run 1', '-n', '1'));
  assert.match(one.stdout, /\nLast actions: 1 of 2\n/);
  assert.match((await granary(here('session', 'nobody'))).stdout, /^The session has no grains\.\n$/);
  const json = await granaryJson(here('session', 'run 1'));
  assert.equal(json['session_id'], 'run 1');
});

test('the context is what a prompt would get', async () => {
  const { stdout, stderr } = await granary(here('session', 'run 1', '--context'));
  assert.match(stdout, /^## State\nplan: \["find","order"\]\nstep: 3\n\n## Goals\n/);
  assert.match(stdout, /\n## Beliefs\n- Ada likes blue kettles\n$/);
  assert.match(stderr, /^\d+ of 4,000 tokens; nothing is left out\n$/);
  const small = await granary(here('session', 'run 1', '--context', '--budget', '20'));
  assert.ok(small.stdout.trimEnd().length <= 80, small.stdout);
  assert.match(small.stderr, /^\d+ of 20 tokens; left out: /);
  const json = await granaryJson(here('session', 'run 1', '--context', '--query', 'kettles'));
  assert.ok(Array.isArray(json['beliefs']));
});

test('actions are counted by tool, and listed by failure and by task', async () => {
  const { stdout } = await granary(here('actions', 'run 1'));
  assert.match(stdout, /\nsearch +1 +1 +0 +1\.5 s\n/);
  assert.match(stdout, /\norder +1 +0 +1 +20 ms\n/);
  assert.match(stdout, /\nall +2 +1 +1 +1\.5 s\n/);
  assert.match(stdout, /\n +1 +sold out\n$/);
  const failed = await granary(here('actions', 'run 1', '--failed'));
  assert.match(failed.stdout, /20 ms +order failed: sold out\n$/);
  const chain = await granary(here('actions', 'run 1', '--chain', 'buying'));
  assert.match(chain.stdout, /order failed: sold out\n$/);
  assert.match(chain.stderr, /^1 action, 1 failed, 20 ms\n$/);
  const both = await granary(here('actions', 'run 1', '--chain', 'buying', '--failed'));
  assert.equal(both.code, 2);
  assert.match((await granary(here('actions', 'nobody'))).stdout, /^The session has no actions\.\n$/);
});
