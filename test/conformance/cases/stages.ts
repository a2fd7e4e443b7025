// Fields of a recall that apply after fusion (contract 6.3 and 8.3), as callers see them.
import assert from 'node:assert/strict';
import type { Fields, Memory, ParsedJson } from '../driver.ts';
import { assertSameEverywhere, believe, type Case, hashesOf, NO_HASH, THEN } from './case.ts';

const HOUR = 3_600;
const DAY = 86_400;

/** Members of a score breakdown that are changes, in their order. */
const CHANGES = [
  'recency_decay',
  'temporal_decay_boost',
  'target_date_proximity',
  'session_affinity',
  'subject_affinity',
  'interference_penalty',
  'supersession_demotion',
];
const TERMS = ['bm25', 'phrase', 'vector', 'near', 'answer', 'session', 'pooled', 'role', 'speaker', 'time', 'self'];

function sum(account: ParsedJson, members: readonly string[]): number {
  return members.reduce((total, member) => total + (account[member] ?? 0), 0);
}

/** The results, best first, by the object of each hit. */
async function objects(memory: Memory, query: Fields): Promise<string[]> {
  const { hits } = await memory.recall(query);
  return hits.map(({ fields }) => String(fields['object'] ?? fields['content']));
}

/** Drinks that Ada likes, from different times and with one text, so that words rank them equally. */
async function drinks(memory: Memory, more: (at: number) => Fields = () => ({})): Promise<void> {
  for (const [at, drink] of ['tea', 'coffee', 'milk', 'cocoa'].entries())
    await memory.add('belief', {
      subject: 'Ada',
      relation: 'drinks',
      object: drink,
      created_at: THEN + at * DAY,
      ...more(at),
    });
}

export const STAGES: readonly Case[] = [
  {
    name: 'the same stages give the same answer wherever they run, and over however many partitions',
    async run(memory) {
      await drinks(memory, (at) => ({ namespace: at < 3 ? 'home' : 'away', user_id: `user${at}` }));
      for (let at = 0; at < 12; at++)
        await memory.add('event', {
          content: `Ada spoke of tea and ${at % 2 === 0 ? 'rain' : 'sun'}`,
          created_at: THEN + at * HOUR,
          session_id: `s${at % 5}`,
          namespace: `day${at % 4}`,
        });
      const stages: readonly Fields[] = [
        { target_date: THEN + 5 * HOUR, target_date_weight: 0.3, session_affinity_boost: 0.2 },
        { deduplicate: true, diversity_lambda: 0.4, limit: 5 },
        { max_namespaces: 2, min_per_namespace: 2, limit: 6 },
        { session_census: true, limit: 3 },
        { exhaustive: true, multi_hop: 2, query_expansion: true, query_decompose: true },
        { preference_enrichment: true, subject_affinity_boost: 1, detect_contradictions: true },
      ];
      for (const query of [
        { query: 'what did Ada say of tea' },
        { query: 'Ada tea', entity: 'Ada' },
        { entity: 'Ada' },
      ])
        for (const asked of stages) {
          const { hits } = await memory.recall({ ...query, ...asked });
          assert.ok(hits.length > 0);
          const shown = hits.map(({ hash, score }) => [hash, Number(score.toFixed(9))]);
          assertSameEverywhere(`stages of ${JSON.stringify({ ...query, ...asked })}`, shown);
        }
    },
  },
  {
    name: 'scope_path sees its line and what lies below, include_siblings what lies beside it, the deepest scope holds',
    needs: ['server'],
    async run(memory) {
      for (const namespace of [
        'acme',
        'acme/prod',
        'acme/prod/bot1',
        'acme/prod/bot1/x',
        'acme/prod/bot2',
        'acme/test',
      ])
        await memory.add('belief', { subject: 'bot', relation: `rule ${namespace}`, object: 'be kind', namespace });
      for (const [namespace, tone] of [
        ['acme', 'formal'],
        ['acme/prod', 'dry'],
      ] as const)
        await memory.add('belief', { subject: 'bot', relation: 'tone', object: tone, namespace });
      const seen = async (query: Fields): Promise<string[]> => {
        const { raw } = await memory.recall({ query: 'kind', ...query });
        for (const hit of raw['results']) {
          assert.equal(hit.source_namespace, hit.fields.namespace);
          assert.equal(hit.scope_depth, hit.source_namespace.split('/').length - 1);
        }
        return raw['results'].map((hit: ParsedJson) => hit['source_namespace']).sort();
      };
      const line = ['acme', 'acme/prod', 'acme/prod/bot1', 'acme/prod/bot1/x'];
      assert.deepEqual(await seen({ scope_path: 'acme/prod/bot1' }), line);
      assert.deepEqual(await seen({ scope_path: 'acme/prod/bot1', include_siblings: true }), [
        ...line,
        'acme/prod/bot2',
      ]);
      assert.deepEqual(await seen({ scope_path: 'globex' }), []);
      assert.deepEqual(await seen({ scope_path: 'acme/prod', namespace: 'acme' }), ['acme'], 'both must hold');
      assert.deepEqual(await objects(memory, { relation: 'tone', scope_path: 'acme/prod/bot1' }), ['dry']);
      assert.deepEqual(await objects(memory, { relation: 'tone', scope_path: 'acme' }), ['dry', 'formal']);
      const { raw, warnings } = await memory.recall({ query: 'kind', include_siblings: true });
      assert.ok(warnings.includes('include_siblings was ignored: it needs scope_path'));
      assert.ok(!raw['results'][0].source_namespace);
    },
  },
  {
    name: 'query_expansion finds by words of the memory that a mistyped one may mean',
    async run(memory) {
      await memory.add('belief', { subject: 'Ada', relation: 'is', object: 'photographer', session_id: 'a' });
      await memory.add('belief', { subject: 'Ada', relation: 'keeps', object: 'lanterns', session_id: 'b' });
      await memory.add('event', { content: 'the harbour was full of lanterns', session_id: 'c' });
      assert.deepEqual(await objects(memory, { query: 'fotographer' }), []);
      assert.deepEqual(await objects(memory, { query: 'fotographer', query_expansion: true }), ['photographer']);
      const { hits, raw } = await memory.recall({ query: 'lantrens', query_expansion: true, explanation: true });
      assert.equal(hits.length, 2);
      for (const hit of raw['results']) assert.equal(hit.recall_source, 'expansion');
      assert.deepEqual(await objects(memory, { query: 'zzyzx qwrtp', query_expansion: true }), []);
    },
  },
  {
    name: 'explanations state why others were left out, over any number of partitions',
    async run(memory) {
      await drinks(memory, (at) => ({
        namespace: at < 3 ? 'home' : 'away',
        session_id: `s${at}`,
        confidence: 1 - at / 10,
      }));
      const query = { query: 'Ada drinks', namespace: 'home', confidence_threshold: 0.85, limit: 1, explanation: true };
      const { raw, hits } = await memory.recall(query);
      assert.equal(hits.length, 1);
      // gRPC messages do not have it.
      if (raw['excluded'] !== undefined)
        assert.deepEqual(raw['excluded'], { namespace_mismatch: 1, below_confidence: 1, limit_exceeded: 1 });
      assert.equal((await memory.recall({ ...query, explanation: false })).raw['excluded'], undefined);
    },
  },
  {
    name: 'score_breakdown accounts for every score: base and changes add up',
    async run(memory) {
      await drinks(memory, (at) => ({ temporal_type: 'event', namespace: at < 3 ? 'home' : 'away' }));
      for (const query of [
        { query: 'Ada drinks tea' },
        { query: 'Ada drinks tea', subject: 'Ada' },
        { subject: 'Ada' },
        { query: 'Ada drinks', query_expansion: true, multi_hop: 1 },
      ]) {
        const { raw } = await memory.recall({
          ...query,
          score_breakdown: true,
          recency_weight: 0.2,
          target_date: THEN + 2 * DAY,
          target_date_weight: 0.1,
          session_affinity_boost: 0.3,
          subject_affinity_boost: 0.2,
          detect_contradictions: true,
        });
        assert.equal(raw['count'], 4, JSON.stringify(query));
        for (const { score, score_breakdown: account } of raw['results']) {
          assert.equal(account.final_score, score);
          const base = account.rrf_score === 0 ? sum(account, TERMS) : account.rrf_score;
          assert.ok(Math.abs(base + sum(account, CHANGES) - score) < 1e-9, JSON.stringify(account));
          for (const member of ['recency_decay', 'target_date_proximity', 'session_affinity', 'subject_affinity'])
            assert.equal(typeof account[member], 'number', member);
        }
      }
      const { raw } = await memory.recall({ query: 'tea' });
      assert.equal(raw['results'][0].score_breakdown ?? undefined, undefined);
    },
  },
  {
    name: 'recency_weight favours the young, target_date what is near it',
    async run(memory) {
      await drinks(memory, () => ({ temporal_type: 'event' }));
      const now = Math.floor(Date.now() / 1000);
      await memory.add('belief', {
        subject: 'Ada',
        relation: 'drinks',
        object: 'water',
        temporal_type: 'event',
        created_at: now - HOUR,
      });
      assert.equal((await objects(memory, { subject: 'Ada', recency_weight: 0.5 }))[0], 'water');
      const near = { subject: 'Ada', target_date: THEN + DAY };
      assert.equal((await objects(memory, near))[0], 'coffee');
      assert.equal((await objects(memory, { ...near, target_date_weight: 0.9 }))[0], 'coffee');
      assert.equal((await objects(memory, { ...near, limit: 1 }))[0], 'coffee');
    },
  },
  {
    name: 'session_affinity_boost and subject_affinity_boost favour what leads',
    async run(memory) {
      await drinks(memory, (at) => ({ namespace: at === 3 ? 'away' : 'home', subject: at === 0 ? 'Bob' : 'Ada' }));
      assert.deepEqual(await objects(memory, { relation: 'drinks' }), ['cocoa', 'milk', 'coffee', 'tea']);
      const sessions = await objects(memory, { relation: 'drinks', session_affinity_boost: 0.5 });
      assert.deepEqual(sessions, ['milk', 'coffee', 'tea', 'cocoa']);
      const subjects = await objects(memory, { relation: 'drinks', subject_affinity_boost: 0.5 });
      assert.deepEqual(subjects, ['cocoa', 'milk', 'coffee', 'tea']);
    },
  },
  {
    name: 'detect_contradictions marks and demotes, include_contradicted false drops',
    async run(memory) {
      await drinks(memory);
      const { raw } = await memory.recall({ subject: 'Ada', detect_contradictions: true });
      assert.deepEqual(
        raw['results'].map(({ fields, conflict_status, score }: ParsedJson) => [
          fields.object,
          conflict_status,
          Number(score.toFixed(6)),
        ]),
        [
          ['cocoa', 'current', 1],
          ['milk', 'outdated', 0.8],
          ['coffee', 'outdated', 0.8],
          ['tea', 'outdated', 0.8],
        ],
      );
      assert.deepEqual(await objects(memory, { subject: 'Ada', include_contradicted: false }), ['cocoa']);
      assert.equal((await objects(memory, { subject: 'Ada', include_contradicted: true })).length, 4);
    },
  },
  {
    name: 'exclude_superseded false demotes old versions, aggregation_intent counts them like the others',
    async run(memory) {
      const old = await believe(memory, 'Ada', 'drinks', 'tea');
      const tip = await memory.supersede(old, { object: 'green tea' });
      const demoted = await memory.recall({ subject: 'Ada', exclude_superseded: false });
      assert.deepEqual(hashesOf(demoted.hits), [tip, old]);
      assert.deepEqual(
        demoted.raw['results'].map(({ supersession_status, score }: ParsedJson) => [
          supersession_status ?? undefined,
          Number(score.toFixed(6)),
        ]),
        [
          [undefined, 1],
          ['superseded', 0.85],
        ],
      );
      const counted = await memory.recall({ subject: 'Ada', aggregation_intent: true });
      assert.deepEqual(new Set(counted.hits.map(({ score }) => score)), new Set([1]));
    },
  },
  {
    name: 'deduplicate and conflict_resolution leave one of what says the same, or of what is no longer so',
    async run(memory) {
      await believe(memory, 'Ada', 'works at', 'Acme Corporation', { confidence: 0.6 });
      await believe(memory, 'Ada', 'works at', 'Acme Corporatiom', { created_at: THEN + 1, confidence: 0.5 });
      await believe(memory, 'Ada', 'works at', 'Bell', { created_at: THEN + 2 });
      const query = { subject: 'Ada' };
      assert.deepEqual(await objects(memory, { ...query, deduplicate: true }), ['Bell', 'Acme Corporation']);
      assert.equal((await objects(memory, { ...query, deduplicate: true, deduplicate_threshold: 0.99 })).length, 3);
      assert.deepEqual(await objects(memory, { ...query, conflict_resolution: true }), ['Bell']);
      const alike = { ...query, conflict_resolution: true, conflict_similarity_threshold: 0.9 };
      assert.equal((await objects(memory, alike)).length, 3);
    },
  },
  {
    name: 'subject_contains and object_contains narrow by parts of names',
    async run(memory) {
      await drinks(memory);
      await believe(memory, 'Bob', 'drinks', 'ICED COFFEE');
      assert.deepEqual(await objects(memory, { object_contains: 'coffee' }), ['coffee', 'ICED COFFEE']);
      assert.deepEqual(await objects(memory, { object_contains: 'coffee', subject_contains: 'BO' }), ['ICED COFFEE']);
      assert.deepEqual(await objects(memory, { query: 'drinks', subject_contains: 'bo' }), ['ICED COFFEE']);
      assert.deepEqual(await objects(memory, { subject_contains: 'nobody' }), []);
    },
  },
  {
    name: 'diversity_lambda chooses what differs, in order of score',
    async run(memory) {
      const said = ['heron river bank', 'heron river bank today', 'heron on a chimney far from water'];
      for (const [at, content] of said.entries()) await memory.add('event', { content, created_at: THEN + at });
      const found = async (lambda: number): Promise<unknown[]> => {
        const { hits } = await memory.recall({ query: 'heron river bank', diversity_lambda: lambda, limit: 2 });
        return hits.map(({ fields }) => fields['content']);
      };
      assert.deepEqual((await found(1)).toSorted(), [said[0], said[1]]);
      assert.equal((await found(0.1))[1], said[2]);
    },
  },
  {
    name: 'min_score drops what hardly matches, never what structure alone found',
    async run(memory) {
      await believe(memory, 'Ada', 'drinks', 'green tea');
      await believe(memory, 'Bob', 'drinks', 'water');
      assert.equal((await objects(memory, { query: 'green tea drinks' })).length, 2);
      assert.deepEqual(await objects(memory, { query: 'green tea drinks', min_score: 0.6 }), ['green tea']);
      assert.deepEqual(await objects(memory, { subject: 'Bob', min_score: 1 }), ['water']);
    },
  },
  {
    name: 'max_namespaces and min_per_namespace choose among namespaces',
    async run(memory) {
      await drinks(memory, (at) => ({ namespace: at < 2 ? 'home' : at === 2 ? 'work' : 'away' }));
      const all = await objects(memory, { relation: 'drinks' });
      assert.equal(all.length, 4);
      assert.equal((await objects(memory, { relation: 'drinks', max_namespaces: 1 })).length, 1);
      const { raw } = await memory.recall({ relation: 'drinks', min_per_namespace: 1, limit: 3 });
      const found = raw['results'].map(({ fields }: ParsedJson) => fields.namespace);
      assert.deepEqual(found.toSorted(), ['away', 'home', 'work']);
    },
  },
  {
    name: 'session_census asks the sessions that the answer lacks',
    async run(memory) {
      for (let at = 0; at < 6; at++)
        await memory.add('event', { content: `tea of the day ${at}`, namespace: 'loud', created_at: THEN + at });
      await memory.add('event', { content: 'a cup of tea', namespace: 'quiet', created_at: THEN });
      await memory.add('event', { content: 'nothing of the kind', namespace: 'silent', created_at: THEN });
      const { raw } = await memory.recall({ query: 'tea day', session_census: true, limit: 4 });
      const sources = raw['results'].map(({ fields, recall_source }: ParsedJson) => [fields.namespace, recall_source]);
      assert.equal(raw['count'], 4);
      assert.deepEqual(sources.at(-1), ['quiet', 'census']);
      const { session_census_metadata: metadata, session_coverage_ratio: ratio } = raw;
      assert.deepEqual(
        [metadata.total_sessions, metadata.represented_sessions, metadata.census_queries_issued, metadata.grains_added],
        [3, 2, 2, 1],
      );
      assert.deepEqual(metadata.session_stats.map(({ namespace }: ParsedJson) => namespace).toSorted(), [
        'quiet',
        'silent',
      ]);
      assert.ok(Math.abs(ratio - 2 / 3) < 1e-9);
      const none = await memory.recall({
        query: 'tea day',
        session_census: true,
        session_census_max_queries: 1,
        namespace: 'loud',
      });
      assert.equal(none.raw['session_census_metadata'].total_sessions, 1);
    },
  },
  {
    name: 'exhaustive follows the entities of what it finds',
    async run(memory) {
      await believe(memory, 'Ada', 'manages', 'Project Heron');
      await believe(memory, 'Project Heron', 'is led from', 'Aberdeen', { created_at: THEN + 1 });
      await believe(memory, 'Nobody', 'knows', 'nothing', { created_at: THEN + 2 });
      const { raw } = await memory.recall({ query: 'who manages', exhaustive: true });
      const metadata = raw['exhaustive_metadata'];
      assert.ok(metadata.entities_found.includes('Project Heron'));
      assert.ok(metadata.rounds_executed >= 1 && metadata.rounds_executed <= 3);
      assert.equal(metadata.round_stats.length, metadata.rounds_executed);
      assert.equal(metadata.final_unique_count >= metadata.initial_unique_count, true);
      assert.equal(typeof metadata.converged, 'boolean');
      const plain = await memory.recall({ query: 'who manages' });
      assert.equal(plain.raw['exhaustive_metadata'] ?? undefined, undefined);
    },
  },
  {
    name: 'multi_hop, query_expansion and query_decompose find what the words alone do not',
    async run(memory) {
      await believe(memory, 'Ada', 'is sister of', 'Bob');
      await believe(memory, 'Bob', 'rows on', 'Sunday', { created_at: THEN + 1 });
      await memory.add('event', { content: 'We went on vacation', created_at: THEN + 2 });
      assert.equal((await objects(memory, { query: 'sister' })).length, 1);
      const hop = await memory.recall({ query: 'sister', multi_hop: 1 });
      const reached = hop.raw['results'].find(({ fields }: ParsedJson) => fields.object === 'Sunday');
      assert.equal(reached?.recall_source, 'expansion');
      assert.deepEqual(await objects(memory, { query: 'holiday' }), []);
      const expanded = await memory.recall({ query: 'holiday', query_expansion: true });
      assert.deepEqual(
        expanded.raw['results'].map(({ fields, recall_source }: ParsedJson) => [fields.content, recall_source]),
        [['We went on vacation', 'expansion']],
      );
      const parts = await objects(memory, { query: 'Who is the sister? Who rows?', query_decompose: true });
      assert.deepEqual(parts.toSorted(), ['Bob', 'Sunday']);
    },
  },
  {
    name: 'include_sources, count_entities, annotate_relative_time and explanation say more of what was found',
    async run(memory) {
      const { hash: source } = await memory.add('event', { content: 'I had tea with Ada', created_at: THEN });
      await believe(memory, 'Ada', 'drinks', 'tea', { derived_from: source });
      await believe(memory, 'Ada', 'avoids', 'milk', { derived_from: NO_HASH, created_at: THEN - 14 * DAY });
      const { raw, entities } = await memory.recall({
        subject: 'Ada',
        include_sources: true,
        count_entities: true,
        annotate_relative_time: true,
        reference_date: THEN,
        explanation: true,
      });
      assert.deepEqual(entities, ['Ada']);
      assert.equal(raw['entity_count'], 1);
      assert.deepEqual(
        raw['sources'].map(({ hash, fields }: ParsedJson) => [hash, fields.content]),
        [[source, 'I had tea with Ada']],
      );
      assert.deepEqual(
        raw['results'].map(({ relative_time }: ParsedJson) => relative_time),
        ['just now', '2 weeks ago'],
      );
      for (const { explanation } of raw['results']) assert.match(explanation, /^Score 1\.000: 1\.000/);
    },
  },
  {
    name: 'preference_enrichment adds what was said around a preference',
    async run(memory) {
      const say = (content: string, at: number) =>
        memory.add('event', { content, session_id: 's1', created_at: THEN + at });
      await say('The ferry leaves at nine', 1);
      await say('I prefer the window seat', 2);
      await say('Nine it is, then', 3);
      const { raw } = await memory.recall({ query: 'window seat', preference_enrichment: true });
      assert.equal(raw['count'], 3);
      assert.equal(raw['results'][0].fields.content, 'I prefer the window seat');
      const off = await memory.recall({ query: 'which seat do I prefer', preference_enrichment: false });
      const on = await memory.recall({ query: 'which seat do I prefer' });
      assert.ok(on.hits.length >= off.hits.length);
    },
  },
  {
    name: 'a caller bound to a namespace or a user is shown nothing else by any stage',
    async run(memory) {
      const { hash } = await memory.add('event', { content: 'tea behind closed doors', namespace: 'theirs' });
      await believe(memory, 'Ada', 'drinks', 'tea', { namespace: 'mine', derived_from: hash });
      await believe(memory, 'Ada', 'drinks', 'coffee', { namespace: 'theirs' });
      const mine = await memory.as({ namespace: 'mine' });
      const { raw } = await mine.recall({
        query: 'Ada tea',
        session_census: true,
        exhaustive: true,
        multi_hop: 3,
        query_expansion: true,
        include_sources: true,
        min_per_namespace: 3,
        preference_enrichment: true,
      });
      assert.deepEqual(
        raw['results'].map(({ fields }: ParsedJson) => fields.namespace),
        ['mine'],
      );
      assert.deepEqual(raw['sources'], []);
      assert.equal(raw['session_census_metadata'].total_sessions, 1);
    },
  },
];
