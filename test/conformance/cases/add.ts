// Adding: each type, duplicates, refusals, and batches.
import assert from 'node:assert/strict';
import type { GrainType } from '../../../src/engine/grain/grain.ts';
import { refused } from '../contract.ts';
import type { Fields } from '../driver.ts';
import {
  assertDuplicate,
  assertHolds,
  assertSameEverywhere,
  belief,
  believe,
  type Case,
  NO_HASH,
  THEN,
} from './case.ts';

/** A grain of each type with fields of its own, common ones and an extra one. */
const EACH_TYPE: Readonly<Record<GrainType, Fields>> = {
  belief: { subject: 'Ada', relation: 'prefers', object: 'dark mode', confidence: 0.75, importance: 0.5 },
  event: { content: 'Ada asked about the port', role: 'user', speaker: 'Ada', session_id: 's1', run_id: 'r9' },
  state: { data: { theme: 'dark', open: ['a.ts', 'b.ts'], depth: { of: { nesting: 3 } } }, session_id: 's1' },
  workflow: {
    nodes: ['fetch', 'check', 'store'],
    edges: [
      { src: 'fetch', dst: 'check' },
      { src: 'check', dst: 'store', cond: 'ok' },
    ],
    trigger: 'nightly import',
    retries: { fetch: 3 },
  },
  action: { tool_name: 'grep', input: { pattern: 'x+' }, content: 'three lines', is_error: false, duration_ms: 12 },
  observation: { content: 'the kettle boils', observer_id: 'sensor-1', observer_type: 'sensor', subject: 'kettle' },
  goal: { description: 'Ship the release', goal_state: 'active', priority: 'high', criteria: 'tests are green' },
  reasoning: { premises: ['it rains', 'roofs leak'], conclusion: 'bring a bucket', inference_method: 'deductive' },
  consensus: { participating_observers: ['a', 'b', 'c'], threshold: 0.5, agreement_count: 2, agreed_content: 'yes' },
  consent: { subject_did: 'did:key:z6MkAda', user_id: 'ada', grantee_did: 'did:key:z6MkApp', scope: 'storage' },
};

const COMMON: Fields = {
  namespace: 'team/blue',
  user_id: 'ada',
  tags: ['one', 'two'],
  created_at: THEN,
  valid_from: THEN - 86_400,
  valid_to: THEN + 86_400,
  source_type: 'agent',
};
/** A consent has none of these. */
const FREE: Fields = { context: { page: 3, note: 'naïve café ☕' }, of_my_own: { nested: [1, 2.5, true, 'x'] } };

const types: readonly Case[] = Object.entries(EACH_TYPE).map(([type, fields]) => ({
  name: `a ${type} comes back with every field that was sent`,
  async run(memory) {
    const sent = { ...COMMON, ...(type === 'consent' ? {} : FREE), ...fields };
    const { hash } = await memory.add(type, sent);
    assert.match(hash, /^[0-9a-f]{64}$/);
    const grain = await memory.get(hash);
    assert.equal(grain.hash, hash);
    assert.equal(grain.grain_type, type);
    assertHolds(grain, sent);
    assertSameEverywhere(`a ${type}`, grain);
  },
}));

/** A refusal of an add: type, fields, code. */
const REFUSED: readonly (readonly [what: string, type: string, fields: Fields, ...codes: string[]])[] = [
  ['an unknown type', 'nonsense', { subject: 'a' }, 'MEM-E005'],
  ['a consent with a context', 'consent', { user_id: 'ada', scope: 'storage', context: { note: 'x' } }, 'VAL-E001'],
  ['a consent with a field of its own', 'consent', { user_id: 'ada', scope: 'storage', note: 'x' }, 'VAL-E001'],
  ['a belief without an object', 'belief', { subject: 'a', relation: 'b' }, 'VAL-E003'],
  ['an object that is a number', 'belief', { subject: 'a', relation: 'b', object: 7 }, 'VAL-E003'],
  ['an event without content', 'event', {}, 'VAL-E003'],
  ['a goal without a description', 'goal', {}, 'VAL-E003'],
  ['a confidence above 1', 'belief', belief('a', 'b', 'c', { confidence: 1.5 }), 'VAL-E001'],
  ['an importance below 0', 'belief', belief('a', 'b', 'c', { importance: -0.1 }), 'VAL-E001'],
  ['tags that are a text', 'belief', belief('a', 'b', 'c', { tags: 'x' }), 'VAL-E003'],
  ['65 tags', 'belief', belief('a', 'b', 'c', { tags: Array.from({ length: 65 }, (_, at) => `t${at}`) }), 'VAL-E001'],
  ['a tag of 129 characters', 'belief', belief('a', 'b', 'c', { tags: ['t'.repeat(129)] }), 'VAL-E001'],
  ['a namespace of 257 characters', 'belief', belief('a', 'b', 'c', { namespace: 'n'.repeat(257) }), 'VAL-E001'],
  ['a user of 257 characters', 'belief', belief('a', 'b', 'c', { user_id: 'u'.repeat(257) }), 'VAL-E001'],
  ['milliseconds for seconds', 'belief', belief('a', 'b', 'c', { created_at: THEN * 1000 }), 'VAL-E001'],
  [
    'a date an hour ahead',
    'belief',
    belief('a', 'b', 'c', { created_at: Math.ceil(Date.now() / 1000) + 3600 }),
    'VAL-E001',
  ],
  ['a NUL in a text', 'belief', belief('a', 'b', 'c\0d'), 'VAL-E001', 'VAL-E003'],
  [
    'an embedding text of 8,193 bytes',
    'belief',
    belief('a', 'b', 'c', { embedding_text: 'e'.repeat(8_193) }),
    'VAL-E001',
  ],
  ['an edge to a node that is none', 'workflow', { nodes: ['a'], edges: [{ src: 'a', dst: 'b' }] }, 'VAL-E001'],
  ['two nodes of one name', 'workflow', { nodes: ['a', 'a'], edges: [] }, 'VAL-E001'],
  ['an unknown temporal type', 'belief', belief('a', 'b', 'c', { temporal_type: 'sometimes' }), 'VAL-E001'],
  ['a grain above 1 MiB', 'event', { content: 'x'.repeat(1_048_576) }, 'LIM-E003'],
];

export const ADD: readonly Case[] = [
  ...types,
  {
    name: 'defaults are filled in',
    async run(memory) {
      const before = Math.floor(Date.now() / 1000);
      const { hash } = await memory.add('belief', { subject: 'a', relation: 'b', object: 'c' });
      const { fields } = await memory.get(hash);
      const { confidence, tags, namespace, temporal_type, source_type, user_id, created_at } = fields;
      assert.deepEqual(
        { confidence, tags, namespace, temporal_type, source_type, user_id },
        {
          confidence: 1,
          tags: [],
          namespace: 'default',
          temporal_type: 'state',
          source_type: 'user',
          user_id: undefined,
        },
      );
      assert.ok(Number(created_at) >= before && Number(created_at) <= Date.now() / 1000 + 1);
      const event = await memory.get((await memory.add('event', { content: 'x' })).hash);
      assert.equal(event.fields['temporal_type'], 'event');
      const action = await memory.get((await memory.add('action', { input: { a: 1 }, content: 'y' })).hash);
      assert.equal(action.fields['tool_name'], 'unknown');
      const goal = await memory.get((await memory.add('goal', { description: 'z' })).hash);
      assert.equal(goal.fields['goal_state'], 'active');
    },
  },
  {
    name: 'names of earlier versions are taken: structural_tags, context_data, output, a bare related hash',
    async run(memory) {
      const one = await believe(memory, 'a', 'b', 'c');
      const two = await memory.get(await believe(memory, 'd', 'e', 'f', { structural_tags: ['x'], related_to: [one] }));
      assert.deepEqual(two.fields['tags'], ['x']);
      assert.deepEqual(two.fields['related_to'], [{ hash: one, relation_type: 'related' }]);
      const state = await memory.get((await memory.add('state', { context_data: { k: 1 } })).hash);
      assert.deepEqual(state.fields['data'], { k: 1 });
      const loose = await memory.get((await memory.add('state', { mood: 'calm', speed: 3 })).hash);
      assert.deepEqual(loose.fields['data'], { mood: 'calm', speed: 3 });
      const action = await memory.get((await memory.add('action', { tool_name: 't', output: 'done' })).hash);
      assert.equal(action.fields['content'], 'done');
    },
  },
  {
    name: 'a text keeps its code points, and names are normalised',
    async run(memory) {
      const sent = { content: 'a👩‍👩‍👧‍👦b 𝒳 ‮rtl \u{10FFFF} e\u0301' };
      assert.equal(
        (await memory.get((await memory.add('event', sent)).hash)).fields['content'],
        sent.content.normalize('NFC'),
      );
    },
  },
  {
    name: 'a duplicate is not stored, and its hash is that of the first',
    async run(memory) {
      const first = await memory.add('belief', belief('a', 'b', 'c', { user_id: 'u', tags: ['t'] }));
      const again = await memory.add(
        'belief',
        belief('a', 'b', 'c', { user_id: 'u', tags: ['t'], created_at: THEN + 9 }),
      );
      assertDuplicate(first, false);
      assertDuplicate(again, true);
      assert.equal(again.hash, first.hash);
      for (const more of [
        { user_id: 'v', tags: ['t'] },
        { user_id: 'u', tags: [] },
        { user_id: 'u', namespace: 'n' },
      ])
        assertDuplicate(await memory.add('belief', belief('a', 'b', 'c', more)), false);
      assert.equal((await memory.statistics()).total_grains, 4);
    },
  },
  {
    name: 'events of one second are duplicates, of two seconds are not; actions by their call',
    async run(memory) {
      const event = { content: 'tick', created_at: THEN };
      const first = await memory.add('event', event);
      assert.equal((await memory.add('event', event)).hash, first.hash);
      assert.notEqual((await memory.add('event', { ...event, created_at: THEN + 1 })).hash, first.hash);
      const action = { tool_name: 't', content: 'x', created_at: THEN };
      const call = await memory.add('action', { ...action, tool_call_id: 'c1' });
      assert.equal((await memory.add('action', { ...action, tool_call_id: 'c1' })).hash, call.hash);
      assert.notEqual((await memory.add('action', { ...action, tool_call_id: 'c2' })).hash, call.hash);
      const { total_grains: before } = await memory.statistics();
      await memory.add('action', { ...action, created_at: THEN + 5 });
      await memory.add('action', { ...action, created_at: THEN + 6 });
      assert.equal((await memory.statistics()).total_grains, before + 2);
    },
  },
  {
    name: 'what was superseded or forgotten is no duplicate any more',
    async run(memory) {
      const first = await believe(memory, 'a', 'b', 'c');
      await memory.supersede(first, { object: 'd' });
      const second = await memory.add('belief', belief('a', 'b', 'c', { created_at: THEN + 60 }));
      assertDuplicate(second, false);
      assert.notEqual(second.hash, first);
      await memory.forget(second.hash);
      assertDuplicate(await memory.add('belief', belief('a', 'b', 'c', { created_at: THEN + 120 })), false);
    },
  },
  {
    name: 'dedup none stores what is there again',
    options: { dedup: 'none' },
    async run(memory) {
      const first = await believe(memory, 'a', 'b', 'c');
      const again = await memory.add('belief', belief('a', 'b', 'c', { created_at: THEN + 1 }));
      assertDuplicate(again, false);
      assert.notEqual(again.hash, first);
      assert.equal((await memory.statistics()).total_grains, 2);
    },
  },
  {
    name: 'dedup fuzzy takes what is nearly the same',
    options: { dedup: 'fuzzy', dedup_threshold: 0.8 },
    async run(memory) {
      const first = await believe(memory, 'Ada', 'likes', 'green tea with milk');
      const near = await memory.add('belief', belief('Ada', 'likes', 'green tea with milk.', { created_at: THEN + 1 }));
      assert.equal(near.hash, first);
      assertDuplicate(near, true);
      assert.notEqual(await believe(memory, 'Ada', 'likes', 'long walks at night'), first);
      assert.notEqual(await believe(memory, 'Bob', 'likes', 'green tea with milk'), first);
    },
  },
  {
    name: 'dedup upsert supersedes another object of the same subject and relation',
    options: { dedup: 'upsert' },
    async run(memory) {
      const first = await believe(memory, 'Ada', 'lives in', 'London');
      const second = await memory.add('belief', belief('Ada', 'lives in', 'Paris', { created_at: THEN + 1 }));
      assertDuplicate(second, false);
      assert.deepEqual(
        (await memory.history(first)).map(({ hash, relation }) => [hash, relation]),
        [
          [first, 'original'],
          [second.hash, 'supersedes'],
        ],
      );
      assertDuplicate(await memory.add('belief', belief('Ada', 'lives in', 'Paris', { created_at: THEN + 2 })), true);
      assert.equal((await memory.statistics()).superseded_grains, 1);
    },
  },
  {
    name: 'an add that waits for the indexes is found by words',
    async run(memory) {
      const { hash } = await memory.add('event', { content: 'the heron waits', created_at: THEN }, { sync: true });
      assert.deepEqual(
        (await memory.recall({ query: 'heron' })).hits.map((hit) => hit.hash),
        [hash],
      );
    },
  },
  {
    name: 'what is wrong with a grain is refused with its code, and nothing is stored',
    async run(memory) {
      for (const [what, type, fields, ...codes] of REFUSED) {
        await refused(memory.add(type, fields), ...codes).catch((error: Error) => {
          error.message = `${what}: ${error.message}`;
          throw error;
        });
      }
      assert.equal((await memory.statistics()).total_grains, 0);
    },
  },
  {
    name: 'a batch stores what is good, names what is not, and counts duplicates, its own too',
    async run(memory) {
      const there = await believe(memory, 'a', 'b', 'c');
      const items = [
        { grain_type: 'belief', fields: belief('a', 'b', 'c') },
        { grain_type: 'belief', fields: belief('a', 'b', 'd') },
        { grain_type: 'belief', fields: { subject: 'a' } },
        { grain_type: 'event', fields: { content: 'x', created_at: THEN } },
        { grain_type: 'event', fields: { content: 'x', created_at: THEN } },
        { grain_type: 'nonsense', fields: {} },
        { grain_type: 'belief', fields: belief('a', 'b', 'e', { confidence: 2 }) },
        { grain_type: 'goal', fields: { description: 'g', created_at: THEN } },
      ];
      const answer = await memory.batchAdd(items);
      assert.deepEqual(
        answer.added.map(({ index }) => index),
        [1, 3, 7],
      );
      assert.deepEqual(answer.errors, [
        { index: 2, code: 'VAL-E003' },
        { index: 5, code: 'MEM-E005' },
        { index: 6, code: 'VAL-E001' },
      ]);
      assert.deepEqual(answer.duplicates, [
        { index: 0, hash: there },
        { index: 4, hash: answer.added[1]?.hash },
      ]);
      for (const { index, hash } of answer.added) {
        const grain = await memory.get(hash);
        assert.equal(grain.grain_type, items[index]?.grain_type);
        assertHolds(grain, items[index]?.fields ?? {});
      }
    },
  },
  {
    name: 'a batch of nothing is one, a batch of 1,000 is stored whole, and one of 1,001 is refused',
    needs: ['server'],
    async run(memory) {
      assert.deepEqual(await memory.batchAdd([]), { added: [], duplicates: [], errors: [] });
      const items = Array.from({ length: 1_001 }, (_, at) => ({
        grain_type: 'belief',
        fields: belief(`s${at % 10}`, 'has', `thing ${at}`),
      }));
      await refused(memory.batchAdd(items), 'LIM-E003', 'VAL-E001');
      assert.equal((await memory.statistics()).total_grains, 0);
      const answer = await memory.batchAdd(items.slice(1));
      assert.equal(answer.added.length, 1_000);
      assert.equal((await memory.statistics()).total_grains, 1_000);
    },
  },
  {
    name: 'a hash that names nothing, and one that is no hash, are refused',
    async run(memory) {
      await refused(memory.get(NO_HASH), 'MEM-E001');
      await refused(memory.history(NO_HASH), 'MEM-E001');
      await refused(memory.supersede(NO_HASH, { object: 'x' }), 'MEM-E001');
      await refused(memory.accumulate({ hash: NO_HASH }, { n: 1 }), 'MEM-E001');
      await refused(memory.forget(NO_HASH), 'MEM-E001');
      for (const wrong of ['abc', 'F'.repeat(64), `${'f'.repeat(63)}g`])
        await refused(memory.get(wrong), 'VAL-E001', 'MEM-E001');
    },
  },
];
