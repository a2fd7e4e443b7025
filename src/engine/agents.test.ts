// The engine's counts of agents: by grain and by group, across a crash, with bounds, and none of an erased person.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { AGENTS_SEEN_MAX, TRUST_PAGE_POINTS, TRUST_PAGES, TRUST_POINTS_MAX } from './base/limits.ts';
import type { CallContext } from './calls/context.ts';
import type { Engine } from './engine.ts';
import { trustPoints } from './govern/agents/trust.ts';
import { openEngine } from './open.ts';

const directory = mkdtempSync(join(tmpdir(), 'granary-agents-'));
let nowMs = 1_760_000_000_000;
let engine: Engine;
let number = 0;
let owner: CallContext;
let agent: CallContext;

const open = () =>
  openEngine({
    directory: join(directory, 'shard-0'),
    keysDirectory: join(directory, 'keys', 'shard-0'),
    shard: 0,
    shards: 1,
    masterKeys: [Buffer.alloc(32, 7)],
    indexHeapBytes: 64 << 20,
    clock: { nowMs: () => nowMs },
    onFatal: (error) => assert.fail(`fatal: ${error instanceof Error ? error.stack : error}`),
  });

before(async () => {
  engine = await open();
});
after(async () => {
  await engine.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => newMemory([]));

async function newMemory(presets: readonly string[]): Promise<void> {
  number += 1;
  owner = { memory: number, partition: 0, actor: 'key:test', requestId: 'req_test', owns: true };
  agent = { ...owner, actor: 'agent:planner' };
  await engine.write('attachMemory', owner, {
    settings: {
      number,
      id: `m${number}`,
      partitions: 1,
      language: 'en',
      dedup: 'exact',
      dedupThreshold: 0.85,
      createdAtMs: nowMs,
      policy: { presets, overrides: {}, sealedBy: 'test' },
    },
  });
}

let calls = 0;
const action = (failed: boolean, more: object = {}) => {
  calls += 1;
  return {
    grainType: 'action',
    fields: { tool_name: 'search', is_error: failed, tool_call_id: `c${calls}`, ...more },
  };
};
const add = (caller: CallContext, item: ReturnType<typeof action>) =>
  engine.write('add', caller, { ...item, sync: false });
const report = (agentId = 'planner', limit = TRUST_POINTS_MAX) => engine.write('agent', owner, { agentId, limit });
async function countsOf(agentId = 'planner'): Promise<readonly number[]> {
  const { seen } = await report(agentId);
  return seen === null ? [] : [seen.grains, seen.succeeded, seen.failed, seen.refused];
}
async function entries(event: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const page = await engine.write('auditPage', owner, { filter: {}, limit: 500, order: 'asc' });
  return page.entries.filter(({ eventType }) => eventType === event).map(({ details }) => details);
}

test('actions and refusals of the policy change the trust, other grains do not', async () => {
  await engine.write('addBatch', agent, {
    items: [
      { grainType: 'belief', fields: { subject: 'a', relation: 'b', object: 'c' } },
      action(false),
      action(true),
      action(false, { is_error: undefined, action_phase: 'call' }),
    ],
  });
  assert.deepEqual(await countsOf(), [4, 1, 1, 0], 'a call that has not returned is no result');
  const { changes, before: counts } = await report();
  assert.deepEqual(
    trustPoints(counts, changes).map(({ reason, score }) => [reason, score]),
    [
      ['action_succeeded', 2 / 3],
      ['action_failed', 1 / 2],
    ],
  );
  assert.ok(changes.every(({ actionHash }) => /^[0-9a-f]{64}$/.test(String(actionHash))));
});

test('one group leaves one entry of each kind for an agent, however many actions it holds', async () => {
  await engine.write('addBatch', agent, { items: Array.from({ length: 240 }, (_, i) => action(i % 3 === 0)) });
  assert.deepEqual(await countsOf(), [240, 160, 80, 0]);
  const changed = await entries('agent.trust_changed');
  assert.equal(changed.length, 1);
  assert.deepEqual(
    [changed[0]!['agent'], changed[0]!['succeeded'], changed[0]!['failed'], changed[0]!['score']],
    ['planner', 160, 80, Math.round((161 / 242) * 1e6) / 1e6],
  );
  assert.deepEqual(await entries('agent.write'), [{ agent: 'planner', grains: 240 }]);
});

test('counters and history survive a crash, and go on from there', async () => {
  for (let i = 0; i < 70; i++) await add(agent, action(i % 7 === 0));
  const before = await report();
  await engine.abandon();
  engine = await open();
  assert.deepEqual(await report(), before);
  await add(agent, action(false));
  const { changes } = await report();
  assert.deepEqual(changes.slice(0, -1), before.changes);
  assert.deepEqual(await countsOf(), [71, 61, 10, 0]);
});

test('the history is bounded, and its scores stay right', async () => {
  const total = TRUST_PAGE_POINTS * TRUST_PAGES + 900;
  for (let left = total; left > 0; left -= 900)
    await engine.write('addBatch', agent, {
      items: Array.from({ length: Math.min(900, left) }, (_, i) => action(i % 2 === 0)),
    });
  const { changes, before: counts, seen } = await report();
  assert.equal(changes.length, TRUST_POINTS_MAX);
  assert.equal(counts.succeeded + counts.failed + TRUST_POINTS_MAX, total);
  const last = trustPoints(counts, changes).at(-1)!;
  assert.equal(last.score, (1 + seen!.succeeded) / (2 + total));
  const states = [...engine.store.log.scanState(`agent-trust/${number}/`)];
  assert.ok(states.length <= TRUST_PAGES);
});

test('a new version of an action that came to the same counts as a grain alone', async () => {
  const { hash } = await add(agent, action(false));
  const { newHash } = await engine.write('supersede', agent, { oldHash: hash, fields: { tool_name: 'find' } });
  assert.deepEqual(await countsOf(), [2, 1, 0, 0]);
  await engine.write('supersede', agent, { oldHash: newHash, fields: { is_error: true } });
  assert.deepEqual(await countsOf(), [3, 1, 1, 0]);
  await engine.write('accumulate', agent, {
    target: { hash },
    deltas: { success_count: 1 },
    set: {},
  });
  assert.deepEqual(await countsOf(), [4, 1, 1, 0]);
});

test('what a duplicate or a repeat does not write is not counted', async () => {
  const item = action(false);
  await add(agent, item);
  await add(agent, item);
  assert.deepEqual(await countsOf(), [1, 1, 0, 0]);
  const keyed = { ...agent, idempotency: { key: 'k', bodyHash: '0'.repeat(64) } };
  const other = action(true);
  await add(keyed, other);
  await add(keyed, other);
  assert.deepEqual(await countsOf(), [2, 1, 1, 0]);
});

test('refusals of the policy count, of writes and of reads', async () => {
  await engine.write('restrict', owner, { userId: 'ann', restricted: true });
  const refused = action(false, { user_id: 'ann' });
  await assert.rejects(add(agent, refused), /POL-E008|restricted/);
  assert.throws(() => engine.read('list', agent, { filter: { userId: 'ann' }, limit: 1, order: 'asc' }));
  await entries('policy.enforced'); // it writes what reads left
  assert.deepEqual(await countsOf(), [0, 0, 0, 2]);
  const { changes } = await report();
  assert.deepEqual(
    changes.map(({ reason, actionHash }) => [reason, actionHash]),
    [
      ['policy_refusal', undefined],
      ['policy_refusal', undefined],
    ],
  );
});

test('a claim, a principal and the did of an identity name the agent, in this order', async () => {
  const did = 'did:web:example.com:author';
  await engine.write('registerAgent', owner, { identity: { agentId: 'author', did, capabilities: [], metadata: {} } });
  await add({ ...agent, agentId: 'claimed' }, action(false, { author_did: did }));
  await add(agent, action(false, { author_did: did }));
  await add(owner, action(false, { author_did: did }));
  await add(owner, action(false, { author_did: 'did:web:example.com:unknown' }));
  for (const name of ['claimed', 'planner', 'author']) assert.deepEqual(await countsOf(name), [1, 1, 0, 0], name);
  const { ids, statuses } = await engine.write('agents', owner, {});
  assert.deepEqual(ids.map((id, i) => `${id} ${statuses[i]}`).sort(), [
    'author active',
    'claimed unregistered',
    'planner unregistered',
  ]);
});

test('the hash of an action that is forgotten or hidden is not shown', async () => {
  const { hash } = await add(agent, action(false));
  await add(agent, action(false, { user_id: 'ann' }));
  await engine.write('restrict', owner, { userId: 'ann', restricted: true });
  await engine.write('forget', owner, { hashes: [hash], check: false });
  assert.deepEqual(
    (await report()).changes.map(({ actionHash }) => actionHash),
    [undefined, undefined],
  );
});

test('agents without an identity are bounded; a registered one is always counted', async () => {
  for (let from = 0; from < AGENTS_SEEN_MAX + 5; from += 100)
    await Promise.all(
      Array.from({ length: Math.min(100, AGENTS_SEEN_MAX + 5 - from) }, (_, i) =>
        add({ ...owner, actor: `agent:a${from + i}` }, action(false)),
      ),
    );
  assert.equal((await engine.write('agents', owner, {})).ids.length, AGENTS_SEEN_MAX);
  await engine.write('registerAgent', owner, { identity: { agentId: 'late', capabilities: [], metadata: {} } });
  await add({ ...owner, actor: 'agent:late' }, action(false));
  assert.deepEqual(await countsOf('late'), [1, 1, 0, 0]);
});

test('a report names agents without an identity, and one that recalls after its deactivation', async () => {
  await newMemory(['soc2']);
  await engine.write('registerAgent', owner, { identity: { agentId: 'planner', capabilities: [], metadata: {} } });
  for (const caller of [agent, { ...agent, actor: 'agent:stray' }]) await add({ ...caller, owns: true }, action(false));
  const trail = async () => {
    const { partitions } = await engine.write('compliance', owner, { runId: `vrf_${nowMs}` });
    const found = partitions[0]!.trail;
    assert.ok(!('error' in found));
    return found;
  };
  assert.deepEqual((await trail()).unregisteredAgents, ['agent:stray']);
  await engine.write('deactivateAgent', owner, { agentId: 'planner' });
  const quiet = await trail();
  assert.deepEqual([quiet.deactivatedAgents, quiet.lateAgents], [1, []]);
  nowMs += 2_000;
  engine.read('list', agent, { filter: {}, limit: 1, order: 'asc' });
  await entries('memory.read'); // it writes what reads left
  assert.deepEqual((await trail()).lateAgents, ['planner']);
});

test('nothing is left of an agent that is an erased person', async () => {
  const person = 'Xochiquetzal';
  const caller = { ...owner, agentId: `user:${person}` };
  await add(caller, action(false));
  assert.deepEqual(await countsOf(`user:${person}`), [1, 1, 0, 0]);
  await engine.write('eraseUser', owner, { userId: person });
  await assert.rejects(report(`user:${person}`), /AGT-E001|no identity/);
  assert.deepEqual((await engine.write('agents', owner, {})).ids, []);
  for (const topic of ['agent', 'agent-stats', 'agent-trust', 'agent-did'])
    assert.deepEqual([...engine.store.log.scanState(`${topic}/${number}/`)], [], topic);
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name));
  for (const file of files.filter((path) => statSync(path).isFile()))
    assert.ok(!readFileSync(file).includes(person), file);
});

test('a memory that is dropped leaves no agents', async () => {
  await engine.write('registerAgent', owner, { identity: { agentId: 'x', capabilities: [], metadata: {} } });
  await add(agent, action(false));
  await engine.write('dropMemory', owner, {});
  await eventually('the states of the memory are removed', () => {
    engine.maintain(10);
    return ['agent', 'agent-stats', 'agent-trust', 'agent-count'].every(
      (topic) => [...engine.store.log.scanState(`${topic}/${number}/`)].length === 0,
    );
  });
});
