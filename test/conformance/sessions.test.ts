// A session over HTTP: its state, goals and actions, the summary and the chains of its actions. On both listeners, with
// one partition and with four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import { serveSuite } from './http-suite.ts';

const THEN = 1_700_000_000;
const SID = 'run 7/ü';
const PATH = encodeURIComponent(SID);

interface Written {
  readonly grain_type: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const action = (at: number, fields: object): Written => ({
  grain_type: 'action',
  fields: { created_at: THEN + at, session_id: SID, ...fields },
});
const goal = (at: number, description: string, fields: object = {}): Written => ({
  grain_type: 'goal',
  fields: { created_at: THEN + at, session_id: SID, description, ...fields },
});

/** Some of it belongs to the session by its namespace, so that several partitions hold it. */
const GRAINS: readonly Written[] = [
  { grain_type: 'state', fields: { created_at: THEN, session_id: SID, data: { step: 1 } } },
  { grain_type: 'state', fields: { created_at: THEN + 9, namespace: SID, user_id: 'ada', data: { step: 2 } } },
  { grain_type: 'state', fields: { created_at: THEN + 99, session_id: 'another', data: { step: 3 } } },
  goal(1, 'low and new', { priority: 'low' }),
  goal(2, 'critical', { priority: 'CRITICAL' }),
  goal(3, 'of no priority'),
  goal(4, 'words of its own', { priority: 'whenever' }),
  goal(5, 'high', { priority: 'high', namespace: SID, session_id: undefined, user_id: 'bob' }),
  goal(6, 'done', { goal_state: 'satisfied' }),
  action(10, { tool_name: 'search', input: { q: 1 }, content: 'ok', duration_ms: 10, parent_task_id: 't1' }),
  action(11, {
    tool_name: 'search',
    content: 'no',
    is_error: true,
    error: 'timeout',
    duration_ms: 30,
    tool_call_id: 'c1',
  }),
  action(12, {
    tool_name: 'search',
    is_error: true,
    error: 'timeout',
    namespace: SID,
    session_id: undefined,
    user_id: 'eve',
  }),
  action(13, { tool_name: '__proto__', is_error: true, content: 'boom', duration_ms: 5, parent_task_id: 't1' }),
  action(14, { tool_name: 'send', kind: 'definition', tool_description: 'sends', input_schema: { type: 'object' } }),
  action(15, { tool_name: 'send', status: 'pending', tool_call_id: 'c2', parent_task_id: 'c1' }),
];

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory: emptyMemory } = serveSuite(listener, partitions);

    const memory = async (grains: readonly Written[] = GRAINS): Promise<string> => {
      const path = await emptyMemory();
      const { errors } = await http.post(`${path}/batch-add`, { grains });
      assert.deepEqual(errors, []);
      return path;
    };
    const toolsOf = (actions: readonly ParsedJson[]): string[] => actions.map(({ fields }) => fields.tool_name);

    test('bootstrap shows the newest state, active goals by priority and the last actions', async () => {
      const path = await memory();
      const bootstrap = await http.get(`${path}/sessions/${PATH}/bootstrap`);
      assert.deepEqual([bootstrap.session_id, bootstrap.first_seen, bootstrap.last_seen], [SID, THEN, THEN + 15]);
      assert.deepEqual(bootstrap.state.fields.data, { step: 2 });
      assert.deepEqual(
        bootstrap.active_goals.map(({ description }: ParsedJson) => description),
        ['critical', 'high', 'words of its own', 'of no priority', 'low and new'],
      );
      assert.deepEqual(
        bootstrap.active_goals.map(({ priority }: ParsedJson) => priority),
        ['critical', 'high', 'whenever', 'medium', 'low'],
      );
      assert.equal(bootstrap.active_goals_total, 5);
      assert.deepEqual(toolsOf(bootstrap.recent_actions), ['send', '__proto__', 'search', 'search', 'search']);
      assert.equal(bootstrap.recent_actions_total, 5);
      const two = await http.get(`${path}/sessions/${PATH}/bootstrap?actions_limit=2`);
      assert.deepEqual(two.recent_actions, bootstrap.recent_actions.slice(0, 2));
      assert.deepEqual((await http.get(`${path}/sessions/${PATH}/state`)).state, bootstrap.state);
    });

    test('a session without grains is empty', async () => {
      const path = await memory([]);
      const none = await http.get(`${path}/sessions/nobody/bootstrap`);
      assert.deepEqual([none.state, none.active_goals, none.recent_actions], [null, [], []]);
      assert.deepEqual([none.first_seen, none.last_seen], [null, null]);
      assert.equal((await http.get(`${path}/sessions/nobody/state`)).state, null);
      const actions = await http.get(`${path}/sessions/nobody/actions`);
      assert.deepEqual([actions.actions, actions.total, actions.next_cursor], [[], 0, null]);
      assert.equal((await http.get(`${path}/sessions/nobody/actions/failed`)).total, 0);
      const chain = await http.get(`${path}/sessions/nobody/actions/chain/t1`);
      assert.deepEqual([chain.actions, chain.total_duration_ms, chain.failed], [[], 0, 0]);
      const summary = await http.get(`${path}/sessions/nobody/actions/summary`);
      assert.deepEqual([summary.total_calls, summary.by_tool, summary.error_patterns], [0, {}, []]);
    });

    test('a new version of the state takes the place of the one before', async () => {
      const path = await memory();
      const { state } = await http.get(`${path}/sessions/${PATH}/state`);
      const { new_hash } = await http.post(`${path}/supersede`, { blob_hash: state.hash, fields: { step: 4 } });
      const now = await http.get(`${path}/sessions/${PATH}/state`);
      assert.deepEqual([now.state.hash, now.state.fields.data], [new_hash, { step: 4 }]);
      await http.post(`${path}/forget`, { blob_hash: new_hash });
      assert.deepEqual((await http.get(`${path}/sessions/${PATH}/state`)).state.fields.data, { step: 1 });
    });

    test('actions are listed in pages, newest first, and by tool', async () => {
      const path = await memory(
        Array.from({ length: 9 }, (_, i) =>
          action(i - (i % 2), {
            tool_name: i % 3 === 0 ? 'a' : 'b',
            content: `${i}`,
            is_error: i % 4 === 0,
            ...(i % 2 === 0 ? {} : { namespace: SID, session_id: undefined, user_id: `u${i}` }),
          }),
        ),
      );
      const all = await http.get(`${path}/sessions/${PATH}/actions`);
      assert.equal(all.total, 9);
      assert.equal(all.next_cursor, null);
      const times = all.actions.map(({ created_at }: ParsedJson) => created_at);
      assert.deepEqual(
        times,
        times.toSorted((a: number, b: number) => b - a),
      );
      const paged: ParsedJson[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await http.get(
          `${path}/sessions/${PATH}/actions?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        assert.ok(page.actions.length <= 2);
        paged.push(...page.actions);
        cursor = page.next_cursor;
      }
      assert.deepEqual(paged, all.actions);
      const ofTool = await http.get(`${path}/sessions/${PATH}/actions?tool_name=a`);
      assert.deepEqual([ofTool.total, new Set(toolsOf(ofTool.actions))], [3, new Set(['a'])]);
      assert.equal((await http.get(`${path}/sessions/${PATH}/actions?tool_name=none`)).total, 0);
      const failed = await http.get(`${path}/sessions/${PATH}/actions/failed?limit=2`);
      assert.deepEqual([failed.total, failed.actions.length], [3, 2]);
      assert.ok(failed.actions.every(({ fields }: ParsedJson) => fields.is_error === true));
      await refused(http.get(`${path}/sessions/${PATH}/actions?cursor=x`), 'VAL-E004');
    });

    test('the summary counts calls, outcomes, durations and errors', async () => {
      const path = await memory();
      const summary = await http.get(`${path}/sessions/${PATH}/actions/summary`);
      assert.deepEqual(
        [summary.total_calls, summary.successful, summary.failed, summary.total_duration_ms],
        [5, 1, 3, 45],
      );
      assert.deepEqual(Object.entries(summary.by_tool).sort(), [
        ['__proto__', { calls: 1, failures: 1, successes: 0, total_duration_ms: 5 }],
        ['search', { calls: 3, failures: 2, successes: 1, total_duration_ms: 40 }],
        ['send', { calls: 1, failures: 0, successes: 0, total_duration_ms: 0 }],
      ]);
      assert.deepEqual(summary.error_patterns, [
        { error: 'timeout', count: 2 },
        { error: 'boom', count: 1 },
      ]);
    });

    test('a chain is the actions of a task, or those connected with one action', async () => {
      const path = await memory([
        action(0, { tool_name: 'plan', tool_call_id: 'top', duration_ms: 1 }),
        action(1, { tool_name: 'left', tool_call_id: 'left', parent_task_id: 'top', duration_ms: 2 }),
        action(2, { tool_name: 'right', parent_task_id: 'top', is_error: true, duration_ms: 4 }),
        action(3, { tool_name: 'under', parent_task_id: 'left', namespace: SID, session_id: undefined, user_id: 'u1' }),
        action(4, { tool_name: 'deep', parent_task_id: 'round', tool_call_id: 'round' }),
        action(5, { tool_name: 'strange', parent_task_id: 'top', session_id: 'another' }),
      ]);
      const chain = async (task: string): Promise<ParsedJson> =>
        await http.get(`${path}/sessions/${PATH}/actions/chain/${encodeURIComponent(task)}`);
      const whole = await chain('top');
      assert.deepEqual(toolsOf(whole.actions), ['plan', 'left', 'right', 'under']);
      assert.deepEqual([whole.task, whole.total_duration_ms, whole.failed], ['top', 7, 1]);
      assert.deepEqual(toolsOf((await chain('left')).actions), ['plan', 'left', 'under']);
      const under = whole.actions.find(({ fields }: ParsedJson) => fields.tool_name === 'under');
      assert.deepEqual(toolsOf((await chain(under.hash)).actions), ['plan', 'left', 'under']);
      assert.deepEqual(toolsOf((await chain('round')).actions), ['deep']);
      assert.deepEqual((await chain('nothing')).actions, []);
    });

    test('the context has the state first, then goals, then what is worth most, and fits its budget', async () => {
      const path = await memory();
      const add = async (object: string, fields: object): Promise<void> => {
        await http.post(`${path}/add`, { subject: 'Ada', relation: 'says', object, session_id: SID, ...fields });
      };
      await add('of little worth', { importance: 0.1, confidence: 0.2 });
      await add('of great worth', { importance: 1, namespace: SID, session_id: undefined, user_id: 'kim' });
      await add('about saffron', { importance: 0.5 });
      const ask = (query: string): Promise<ParsedJson> => http.get(`${path}/sessions/${PATH}/context${query}`);
      const whole = await ask('');
      assert.deepEqual([whole.session_id, whole.token_budget, whole.truncated], [SID, 4000, false]);
      assert.deepEqual(whole.state.fields.data, { step: 2 });
      assert.deepEqual(
        whole.goals.map(({ description }: ParsedJson) => description),
        ['critical', 'high', 'words of its own', 'of no priority', 'low and new'],
      );
      assert.deepEqual(
        whole.beliefs.map(({ fields }: ParsedJson) => fields.object),
        ['of great worth', 'about saffron', 'of little worth'],
      );
      assert.equal(whole.actions.length, 5);
      assert.deepEqual(whole.dropped, { states: 0, state_keys: 0, goals: 0, actions: 0, beliefs: 0 });
      const sizeOf = ({ state, goals, actions, beliefs }: ParsedJson): number =>
        JSON.stringify({ state, goals, actions, beliefs }).length;
      assert.equal(whole.estimated_tokens, Math.ceil(sizeOf(whole) / 4));
      for (const budget of [1, 20, 60, 120, 200, 300]) {
        const small = await ask(`?token_budget=${budget}`);
        assert.ok(small.estimated_tokens <= budget, `${small.estimated_tokens} tokens in ${budget}`);
        assert.ok(small.truncated);
        assert.ok(small.estimated_tokens === 0 || sizeOf(small) <= 4 * budget);
        const text = await ask(`?token_budget=${budget}&format=text`);
        assert.ok(text.text.length <= 4 * budget && text.estimated_tokens === Math.ceil(text.text.length / 4));
        assert.equal(text.goals, undefined);
      }
      const page = (await ask('?format=text')).text;
      assert.match(page, /^## State\nstep: 2\n\n## Goals\n- \[critical\] critical\n/);
      assert.match(page, /\n## Beliefs\n- Ada says of great worth\n/);
      assert.match(page, /\n- search\(\) failed: timeout\n/);
      const asked = await ask('?query=saffron');
      assert.equal(asked.beliefs[0].fields.object, 'about saffron');
      const none = await http.get(`${path}/sessions/nobody/context`);
      assert.deepEqual([none.state, none.goals, none.estimated_tokens, none.truncated], [null, [], 0, false]);
      for (const wrong of ['token_budget=0', 'token_budget=200001', 'token_budget=x', 'format=xml'])
        await refused(ask(`?${wrong}`), 'VAL-E001', 'VAL-E003');
    });

    test('a large context is complete, however many reads it takes', async () => {
      const beliefs = 2_300;
      const path = await emptyMemory();
      for (let at = 0; at < beliefs; at += 1_000)
        await http.post(`${path}/batch-add`, {
          grains: Array.from({ length: Math.min(1_000, beliefs - at) }, (_, i) => ({
            grain_type: 'belief',
            fields: { subject: `s${at + i}`, relation: 'is', object: 'x', namespace: SID, importance: i / 1_000 },
          })),
        });
      const ask = (budget: number): Promise<ParsedJson> =>
        http.get(`${path}/sessions/${PATH}/context?format=text&token_budget=${budget}`);
      const whole = await ask(200_000);
      assert.deepEqual([whole.truncated, whole.text.split('\n').length], [false, beliefs + 1]);
      const half = await ask(Math.floor(whole.text.length / 8));
      assert.ok(half.text.length <= whole.text.length / 2 && half.text.length > whole.text.length / 2 - 100);
      assert.equal(half.dropped.beliefs, beliefs - half.text.split('\n').length + 1);
    });

    describe('consolidation', () => {
      const belief = (object: string, fields: object = {}): Written => ({
        grain_type: 'belief',
        fields: { subject: 'Ada', relation: 'likes', object, session_id: SID, ...fields },
      });
      const event = (content: string, fields: object = {}): Written => ({
        grain_type: 'event',
        fields: { content, session_id: SID, role: 'user', ...fields },
      });
      const merges = (path: string, body: object = {}): Promise<ParsedJson> =>
        http.post(`${path}/sessions/${PATH}/consolidate`, body);
      const versionsOf = async (path: string, hash: string): Promise<ParsedJson[]> =>
        (await http.post(`${path}/app/exec`, { command: 'history', args: { hash } })).result.versions;
      const current = async (path: string): Promise<string[]> =>
        (await http.get(`${path}/grains?limit=100`)).grains
          .map(({ fields }: ParsedJson) => fields.object ?? fields.content)
          .sort();

      test('the answer warns of statements that lie where they were not compared', async () => {
        const own = { session_id: undefined, namespace: SID };
        const spread = await memory(
          ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay'].map((user_id) => event('hello', { ...own, user_id })),
        );
        const { warnings } = await merges(spread, { dry_run: true });
        if (partitions === 1) assert.equal(warnings, undefined);
        else assert.match(warnings[0], /are in [2-4] partitions, and those of different partitions were not compared/);
        const together = await memory([event('hello'), event('hello', { confidence: 0.5 })]);
        assert.equal((await merges(together, { dry_run: true })).warnings, undefined);
      });

      test('the most trusted, newest statement stays with a new version, and a repetition merges nothing', async () => {
        const path = await memory([
          belief('green tea from Japan', { confidence: 0.9, created_at: THEN, success_count: 2 }),
          belief('green tea from Japan.', { confidence: 0.9, created_at: THEN + 5, success_count: 4, importance: 0.7 }),
          belief('Green  tea from japan', { confidence: 0.4, created_at: THEN + 9 }),
          belief('green tea from China', { confidence: 1 }),
        ]);
        const asked = await merges(path, { dry_run: true });
        assert.deepEqual(
          [asked.dry_run, asked.total_analyzed, asked.threshold, asked.merged, asked.groups.length],
          [true, 4, 0.85, 2, 1],
        );
        assert.equal((await current(path)).length, 4);
        const done = await merges(path);
        const [group] = done.groups;
        assert.deepEqual([done.merged, done.refused, group.confirmation_count], [2, [], 3]);
        assert.deepEqual(group.duplicate_hashes.toSorted(), asked.groups[0].duplicate_hashes.toSorted());
        assert.equal(group.similarity, asked.groups[0].similarity);
        assert.ok(group.similarity >= 0.85 && group.similarity < 1);
        assert.deepEqual(await current(path), ['green tea from China', 'green tea from Japan.']);
        const { fields } = await http.get(`${path}/grains/${group.canonical_hash}`);
        assert.deepEqual(
          [fields.consolidation_level, fields.success_count, fields.importance, fields.created_at],
          [1, 6, 0.7, THEN + 5],
        );
        assert.deepEqual(
          fields.provenance_chain.map(({ method, source_hash }: ParsedJson) => [method, source_hash]).sort(),
          group.duplicate_hashes.map((hash: string) => ['consolidation', hash]).sort(),
        );
        for (const hash of [...group.duplicate_hashes, asked.groups[0].canonical_hash]) {
          const old = await http.get(`${path}/grains/${hash}`);
          assert.equal(old.superseded_by, group.canonical_hash);
          assert.equal((await versionsOf(path, hash)).at(-1)!['hash'], group.canonical_hash);
        }
        assert.equal((await versionsOf(path, group.canonical_hash))[0]!['hash'], asked.groups[0].canonical_hash);
        const again = await merges(path);
        assert.deepEqual([again.merged, again.groups, again.total_analyzed], [0, [], 2]);
        const { entries } = await http.get(`${path}/audit?event_type=session.consolidated`);
        assert.equal(entries.length, 1);
        assert.deepEqual([entries[0].details['groups'], entries[0].details['merged']], [1, 2]);
        assert.ok(!JSON.stringify(entries).includes(SID));
      });

      test('nothing is merged across types, users, namespaces, subjects, roles, numbers or negations', async () => {
        const path = await memory([
          belief('green tea'),
          belief('green tea ', { user_id: 'ada' }),
          belief('green tea', { user_id: 'bob' }),
          belief('green tea', { namespace: 'other' }),
          belief('green tea', { subject: 'Bob' }),
          belief('green tea', { relation: 'hates' }),
          event('green tea'),
          event('green tea', { role: 'assistant' }),
          event('room 101 of the house is taken'),
          event('room 102 of the house is taken'),
          event('room 101 of the house is not taken'),
          { grain_type: 'observation', fields: { content: 'green tea', session_id: SID } },
          action(1, { tool_name: 'brew', content: 'green tea' }),
          action(2, { tool_name: 'brew', content: 'green tea' }),
          goal(1, 'green tea'),
          goal(2, 'green tea'),
          belief('green tea', { session_id: 'another' }),
        ]);
        const { groups, total_analyzed } = await merges(path, { threshold: 0.8 });
        assert.deepEqual([groups, total_analyzed], [[], 12]);
      });

      test('what a policy or a grain protects is refused as a group, and the others are merged', async () => {
        const path = await memory([
          belief('a green kettle of iron', { created_at: THEN }),
          belief('a green kettle of iron!', { created_at: THEN + 1, invalidation_policy: { mode: 'locked' } }),
          belief('a large pot of honey', { created_at: THEN }),
          belief('a large pot of honey!', { created_at: THEN + 1 }),
        ]);
        const asked = await merges(path, { dry_run: true });
        assert.deepEqual([asked.merged, asked.refused.map(({ code }: ParsedJson) => code)], [1, ['POL-E004']]);
        const done = await merges(path);
        assert.deepEqual([done.merged, done.refused], [1, asked.refused]);
        assert.equal((await current(path)).length, 3);
        await refused(merges(path), 'POL-E004');
        await refused(merges(path, { dry_run: true }), 'POL-E004');
        const careful = await memory([belief('a red kettle'), belief('a red kettle!')]);
        await http.call('PUT', `${careful}/policy`, {
          json: { overrides: { supersede: { reason_required: true } }, reason: 'test' },
        });
        await refused(merges(careful), 'POL-E001');
        assert.equal((await merges(careful, { reason: 'said twice' })).merged, 1);
      });

      test('requests are checked, repeated under their key, and unknown sessions are empty', async () => {
        const path = await memory([belief('black tea at noon'), belief('black tea at noon.')]);
        for (const wrong of [{ threshold: 0 }, { threshold: 1.1 }, { threshold: 'x' }])
          await refused(merges(path, wrong), 'VAL-E001', 'VAL-E003');
        // A misspelt dry run must not merge.
        await refused(merges(path, { dryrun: true }), 'VAL-E001');
        const none = await http.post(`${path}/sessions/nobody/consolidate`, {});
        assert.deepEqual([none.total_analyzed, none.groups, none.merged], [0, [], 0]);
        const headers = { 'idempotency-key': 'once' };
        const first = await http.post(`${path}/sessions/${PATH}/consolidate`, {}, { headers });
        assert.equal(first.merged, 1);
        assert.deepEqual(await http.post(`${path}/sessions/${PATH}/consolidate`, {}, { headers }), first);
      });
    });

    test('two states are compared by path, in any version that the caller may read', async () => {
      const path = await memory([]);
      const add = async (fields: object): Promise<string> =>
        (await http.post(`${path}/add`, { grain_type: 'state', fields })).blob_hash;
      const from = await add({ data: { step: 1, plan: { who: 'ada', left: [1, 2] }, gone: true }, session_id: 's1' });
      const { new_hash: to } = await http.post(`${path}/supersede`, {
        blob_hash: from,
        fields: { data: { step: 2, plan: { who: 'ada', left: [1] }, fresh: {} } },
      });
      const told = await http.post(`${path}/states/diff`, { old_hash: from, new_hash: to });
      assert.deepEqual(told, {
        old_hash: from,
        new_hash: to,
        added: ['fresh'],
        removed: ['gone', 'plan.left[1]'],
        changed: [{ key: 'step', old: 1, new: 2 }],
        unchanged: ['plan.left[0]', 'plan.who'],
      });
      assert.deepEqual((await http.post(`${path}/states/diff`, { from: to, to: from })).added, told.removed);
      const event = (await http.post(`${path}/add`, { grain_type: 'event', fields: { content: 'x' } })).blob_hash;
      await refused(http.post(`${path}/states/diff`, { old_hash: event, new_hash: to }), 'VAL-E001');
      await refused(http.post(`${path}/states/diff`, { old_hash: 'f'.repeat(64), new_hash: to }), 'MEM-E001');
      await refused(http.post(`${path}/states/diff`, { old_hash: 'x', new_hash: to }), 'VAL-E001', 'VAL-E003');
      await refused(http.post(`${path}/states/diff`, { new_hash: to }), 'VAL-E003');
      const hers = await add({ data: { step: 1 }, user_id: 'eve' });
      await http.post(`${path}/app/exec`, { command: 'restrict', args: { user_id: 'eve' } });
      await refused(http.post(`${path}/states/diff`, { old_hash: hers, new_hash: to }), 'POL-E008');
    });

    test('hidden grains are neither shown nor counted, and a bound caller sees its own', async () => {
      const path = await memory();
      await http.post(`${path}/app/exec`, { command: 'restrict', args: { user_id: 'eve' } });
      await http.post(`${path}/app/exec`, { command: 'restrict', args: { user_id: 'ada' } });
      const summary = await http.get(`${path}/sessions/${PATH}/actions/summary`);
      assert.deepEqual([summary.total_calls, summary.failed], [4, 2]);
      assert.equal((await http.get(`${path}/sessions/${PATH}/actions`)).total, 4);
      assert.deepEqual((await http.get(`${path}/sessions/${PATH}/state`)).state.fields.data, { step: 1 });
      const { raw_key } = await http.post('/auth/keys', { scopes: ['read'], user_id: 'bob' });
      const bob = await http.with(raw_key).get(`${path}/sessions/${PATH}/bootstrap`);
      assert.deepEqual(
        [bob.state, bob.active_goals.map(({ description }: ParsedJson) => description), bob.recent_actions],
        [null, ['high'], []],
      );
    });

    test('reads of a session are audited where the policy audits reads', async () => {
      const path = await memory();
      await http.call('PUT', `${path}/policy`, { json: { overrides: { audit: { reads: true } }, reason: 'test' } });
      await http.get(`${path}/sessions/${PATH}/bootstrap`);
      await http.get(`${path}/sessions/${PATH}/actions/chain/t1`);
      const { entries } = await http.get(`${path}/audit?event_type=memory.read`);
      assert.ok(entries.length >= 2, 'one entry for each read, in each partition');
      assert.ok(entries.every(({ details }: ParsedJson) => Number.isInteger(details['count'])));
      const shown = entries.reduce((sum: number, { details }: ParsedJson) => sum + details['count'], 0);
      // A state, five goals and five actions, then two actions. The second state may lie in another partition, which has shown it to the gathering thread.
      assert.equal(shown, partitions === 1 ? 13 : 14);
    });
  });
