// Goals over HTTP: created, listed, moved and delegated. On both listeners, with one partition and with four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import type { Reply } from './http-client.ts';
import { serveSuite } from './http-suite.ts';

const SID = 'run 7/ü';
const SESSION = `/sessions/${encodeURIComponent(SID)}`;

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory } = serveSuite(listener, partitions);
    const created = (path: string, goal: object): Promise<Reply['json']> =>
      http.post(`${path}${SESSION}/goals/create`, goal);
    const moved = (path: string, hash: string, body: object, headers = {}): Promise<Reply['json']> =>
      http.call('PUT', `${path}/goals/${hash}/state`, { json: body, headers });
    const listed = async (path: string, query = ''): Promise<string[]> =>
      (await http.get(`${path}${SESSION}/goals${query}`)).goals.map(({ description }: ParsedJson) => description);

    test('a created goal is active and of medium priority', async () => {
      const path = await memory();
      const parent = await created(path, { description: 'parent' });
      const { status, json } = await http.ask('POST', `${path}${SESSION}/goals/create`, {
        json: {
          description: 'child',
          criteria: 'it is done',
          parent_goals: [parent.hash],
          deadline: 1_900_000_000,
          evidence_required: 2,
          allowed_transitions: ['satisfied'],
          user_id: 'ada',
        },
      });
      assert.equal(status, 201);
      const { hash, created_at, ...goal } = json;
      assert.deepEqual(goal, {
        blob_hash: hash,
        description: 'child',
        goal_state: 'active',
        priority: 'medium',
        criteria: 'it is done',
        progress: null,
        parent_goals: [parent.hash],
        delegate_to: null,
        state_reason: null,
        updated_at: created_at,
        status: 'created',
      });
      const { fields } = await http.get(`${path}/grains/${hash}`);
      assert.deepEqual(
        [fields.session_id, fields.user_id, fields.deadline, fields.evidence_required, fields.allowed_transitions],
        [SID, 'ada', 1_900_000_000, 2, ['satisfied']],
      );
      const { entries } = await http.get(`${path}/audit?event_type=goal.created`);
      assert.equal(entries.length, 2);
      const again = await created(path, { description: 'parent' });
      assert.deepEqual([again.hash, again.duplicate], [parent.hash, true]);
      await refused(created(path, {}), 'VAL-E003');
      await refused(created(path, { description: 'x', parent_goals: ['1'] }), 'VAL-E001');
      await refused(created(path, { description: 'x', allowed_transitions: ['gone'] }), 'VAL-E001');
    });

    test('goals are listed in pages by priority, in one state', async () => {
      const path = await memory();
      const priorities = ['low', 'whenever', 'CRITICAL', 'high', undefined, 'low', 'critical'];
      for (const [i, priority] of priorities.entries())
        await http.post(`${path}/add`, {
          grain_type: 'goal',
          fields: {
            description: `g${i}`,
            priority,
            created_at: 1_700_000_000 + i,
            ...(i % 2 === 0 ? { session_id: SID } : { namespace: SID, user_id: `u${i}` }),
          },
        });
      const all = ['g6', 'g2', 'g3', 'g4', 'g1', 'g5', 'g0'];
      assert.deepEqual(await listed(path), all);
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await http.get(`${path}${SESSION}/goals?limit=2${cursor}`);
        assert.equal(page.total, 7);
        found.push(...page.goals.map(({ description }: ParsedJson) => description));
        if (page.next_cursor === null) break;
        assert.equal(page.goals.length, 2);
        cursor = `&cursor=${page.next_cursor}`;
      }
      assert.deepEqual(found, all);
      assert.deepEqual(await listed(path, '?state=suspended'), []);
      await refused(http.get(`${path}${SESSION}/goals?state=gone`), 'VAL-E001');
      const actions = Buffer.from('["actions",1,"x"]').toString('base64url');
      const bent = Buffer.from('["goals active",1,"x","desc"]').toString('base64url');
      for (const cursor of [actions, bent])
        await refused(http.get(`${path}${SESSION}/goals?cursor=${cursor}`), 'VAL-E004');
    });

    test('a goal moves, and an older version names the newest', async () => {
      const path = await memory();
      const first = await created(path, { description: 'g', evidence_required: 1, user_id: 'ada' });
      const second = await moved(path, first.hash, { state: 'suspended', reason: 'waits for the bank', progress: 0.5 });
      assert.deepEqual(
        [second.goal_state, second.previous_hash, second.previous_state, second.changed, second.state_reason],
        ['suspended', first.hash, 'active', true, 'waits for the bank'],
      );
      assert.equal(second.progress, 0.5);
      assert.deepEqual(await listed(path), []);
      assert.deepEqual(await listed(path, '/blocked'), ['g']);
      const same = await moved(path, first.hash, { goal_state: 'suspended' });
      assert.deepEqual([same.hash, same.changed, same.previous_hash], [second.hash, false, second.hash]);
      assert.equal(same.state_reason, 'waits for the bank');
      await refused(moved(path, first.hash, { state: 'satisfied' }), 'GOL-E002');
      const third = await moved(path, first.hash, { state: 'satisfied', evidence: [first.hash], progress: 0.1 });
      assert.deepEqual([third.progress, third.state_reason, third.previous_hash], [1, null, second.hash]);
      const { fields, supersedes } = await http.get(`${path}/grains/${third.hash}`);
      assert.equal(supersedes, second.hash);
      assert.deepEqual(fields.satisfaction_evidence, [first.hash]);
      assert.deepEqual(fields.provenance_chain, [
        { source_hash: first.hash, method: 'goal_state_transition', weight: 1 },
        { source_hash: second.hash, method: 'goal_state_transition', weight: 1 },
      ]);
      const { entries } = await http.get(`${path}/audit?event_type=goal.state_changed`);
      assert.deepEqual(
        entries.map(({ details }: ParsedJson) => [details.from, details.to]),
        [
          ['suspended', 'satisfied'],
          ['active', 'suspended'],
        ],
      );
      const belief = await http.post(`${path}/add`, { subject: 'a', relation: 'b', object: 'c' });
      await refused(moved(path, belief.blob_hash, { state: 'failed' }), 'VAL-E001');
      await refused(moved(path, '0'.repeat(64), { state: 'failed' }), 'MEM-E001');
      await refused(moved(path, first.hash, { state: 'done' }), 'VAL-E001');
      await refused(moved(path, first.hash, {}), 'VAL-E003');
    });

    test('a goal is delegated from agent to agent', async () => {
      const path = await memory();
      const { hash } = await created(path, { description: 'g', assigned_agent: 'clerk' });
      const one = await http.post(`${path}/goals/${hash}/delegate`, { target_agent: 'billing', reason: 'can refund' });
      assert.deepEqual(
        [one.delegate_to, one.delegate_from, one.changed, one.goal_state, one.state_reason],
        ['billing', 'clerk', true, 'active', 'can refund'],
      );
      const two = await http.post(`${path}/goals/${hash}/delegate`, { agent_id: 'bank' });
      assert.deepEqual([two.delegate_to, two.delegate_from, two.previous_hash], ['bank', 'billing', one.hash]);
      const same = await http.post(`${path}/goals/${hash}/delegate`, { delegate_to: 'bank' });
      assert.deepEqual([same.hash, same.changed], [two.hash, false]);
      const { fields } = await http.get(`${path}/grains/${two.hash}`);
      assert.deepEqual(fields.provenance_chain.at(-1), {
        source_hash: one.hash,
        method: 'goal_delegation',
        weight: 1,
      });
      assert.equal((await http.get(`${path}/audit?event_type=goal.delegated`)).entries.length, 2);
      await refused(http.post(`${path}/goals/${hash}/delegate`, {}), 'VAL-E003');
      await http.post(`${path}/agents/identities`, { agent_id: 'clerk' });
      await http.post(`${path}/goals/${hash}/delegate`, { target_agent: 'clerk' });
      await http.post(`${path}/goals/${hash}/delegate`, { target_agent: 'bank' });
      await http.post(`${path}/agents/identities/clerk/deactivate`, {});
      for (const name of ['clerk', 'agent:clerk'])
        await refused(http.post(`${path}/goals/${hash}/delegate`, { target_agent: name }), 'AGT-E003');
    });

    test('the tree shows each goal once, below its parent, whichever version names it', async () => {
      const path = await memory();
      const tree = async (query = '') => http.get(`${path}${SESSION}/goals/tree${query}`);
      const drawn = (nodes: ParsedJson[]): string =>
        nodes.map(({ goal, children }) => `${goal.description}(${drawn(children)})`).join('');
      const top = await created(path, { description: 'top', priority: 'high' });
      await created(path, { description: 'alone', created_at: 1_700_000_000 });
      const under = async (parent: string, description: string, fields: object = {}): Promise<string> => {
        const goal = { description, parent_goals: [parent], created_at: 1_700_000_000, ...fields };
        return (await http.post(`${path}/add`, { grain_type: 'goal', fields: goal })).blob_hash;
      };
      const middle = await under(top.hash, 'middle', { namespace: SID, user_id: 'bob' });
      await under(middle, 'low', { namespace: SID, user_id: 'eve', goal_state: 'satisfied' });
      await moved(path, top.hash, { state: 'suspended' });
      await moved(path, middle, { state: 'failed' });
      const whole = await tree();
      assert.equal(drawn(whole.roots), 'top(middle(low()))alone()');
      assert.deepEqual([whole.total_goals, whole.shown_goals, whole.truncated], [4, 4, false]);
      assert.equal(whole.roots[0].goal.goal_state, 'suspended');
      assert.equal(whole.roots[0].hash, whole.roots[0].goal.hash);
      const cut = await tree('?limit=3');
      assert.equal(drawn(cut.roots), 'top(middle())alone()');
      assert.deepEqual([cut.shown_goals, cut.truncated, cut.roots[0].children[0].children_total], [3, true, 1]);
      const none = await http.get(`${path}/sessions/nobody/goals/tree`);
      assert.deepEqual([none.roots, none.total_goals, none.truncated], [[], 0, false]);
    });

    test('an expired goal is shown in the state that its policy gives it, which is then recorded', async () => {
      const path = await memory();
      const past = 1_700_000_000;
      const hard = await created(path, { description: 'hard', expiry_policy: { deadline: past, mode: 'hard' } });
      const soft = await created(path, { description: 'soft', deadline: past, expiry_policy: { mode: 'soft' } });
      await created(path, { description: 'later', expiry_policy: { deadline: 4_000_000_000, mode: 'hard' } });
      assert.deepEqual(await listed(path), ['later']);
      const blocked = await http.get(`${path}${SESSION}/goals/blocked`);
      assert.deepEqual([blocked.goals[0].description, blocked.goals[0].goal_state], ['soft', 'suspended']);
      assert.match(blocked.goals[0].state_reason, /deadline/);
      assert.deepEqual(await listed(path, '?state=failed'), ['hard']);
      const { active_goals } = await http.get(`${path}${SESSION}/bootstrap`);
      assert.deepEqual(
        active_goals.map(({ description }: ParsedJson) => description),
        ['later'],
      );
      // The read has it recorded.
      const next = async (): Promise<string | undefined> =>
        (await http.get(`${path}/grains/${hard.hash}`)).superseded_by;
      await eventually('the failed goal is recorded', async () => (await next()) !== undefined);
      const failed = await http.get(`${path}/grains/${await next()}`);
      assert.deepEqual([failed.fields.goal_state, failed.fields.provenance_chain.length], ['failed', 1]);
      // The policy acts once: who takes the goal up again has decided so.
      const again = await moved(path, soft.hash, { state: 'active' });
      assert.equal(again.previous_state, 'suspended');
      assert.deepEqual((await listed(path)).toSorted(), ['later', 'soft']);
      assert.equal((await http.post(`${path}/retention/enforce`, {})).goals, 0);
    });

    test('concurrent moves follow one another, and a key repeats its answer', async () => {
      const path = await memory();
      const { hash } = await created(path, { description: 'g' });
      const states = ['suspended', 'failed', 'satisfied', 'active', 'failed', 'suspended'];
      const answers = await Promise.all(states.map((state) => moved(path, hash, { state })));
      const done = answers.filter(({ changed }) => changed);
      const stateAt = new Map<string, string>([[hash, 'active']]);
      for (const { hash: version, goal_state } of done) stateAt.set(version, goal_state);
      assert.equal(stateAt.size, done.length + 1, 'each move makes a version of its own');
      assert.equal(new Set(done.map(({ previous_hash }) => previous_hash)).size, done.length, 'the chain has no fork');
      for (const { previous_hash, previous_state } of answers) assert.equal(previous_state, stateAt.get(previous_hash));
      const tip = answers.find(({ hash: version }) => !done.some(({ previous_hash }) => previous_hash === version));
      const target = tip.goal_state === 'failed' ? 'active' : 'failed';
      const key = { 'idempotency-key': `k-${listener}-${partitions}` };
      const first = await moved(path, hash, { state: target }, key);
      await moved(path, hash, { state: 'suspended' });
      assert.deepEqual(await moved(path, hash, { state: target }, key), first);
      await refused(moved(path, hash, { state: 'satisfied' }, key), 'VAL-E005');
    });
  });
