// The contract's recall fields (6.3, 8), from outside: a body and its expected result.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Body, DAY, Library, type ParsedJson, THEN } from './library.ts';

let library: Library;
before(async () => {
  library = await Library.open();
});
after(() => library.close());

/** Names in order, a set of names, or a check of the answer. */
type Wanted = readonly string[] | ReadonlySet<string> | ((answer: ParsedJson) => void);

async function holds(body: Body, wanted: Wanted): Promise<void> {
  const { status, json } = await library.recall(body);
  const said = `${JSON.stringify(body).slice(0, 200)}: ${JSON.stringify(json).slice(0, 300)}`;
  assert.equal(status, 200, said);
  if (typeof wanted === 'function') wanted(json);
  else {
    const names = library.namesIn(json);
    if (wanted instanceof Set) assert.deepEqual(names.toSorted(), [...wanted].toSorted(), said);
    else assert.deepEqual(names, wanted, said);
  }
}

function table(name: string, rows: readonly (readonly [body: Body, wanted: Wanted])[]): void {
  test(name, async () => {
    for (const [body, wanted] of rows) await holds(body, wanted);
  });
}

const of = (json: ParsedJson, name: string): ParsedJson =>
  json.results.find(({ hash }: ParsedJson) => hash === library.hashOf(name)) ?? assert.fail(`${name} was not found`);
const near = (value: number, wanted: number): void => assert.ok(Math.abs(value - wanted) < 1e-9, `${value}, ${wanted}`);
const set = (...names: string[]): ReadonlySet<string> => new Set(names);
const warns =
  (count: number) =>
  ({ warnings }: ParsedJson): void =>
    assert.equal(warnings.length, count, String(warnings));

const ADA = ['lyon', 'acme', 'acmes', 'paris'];

table('structure is matched exactly after trimming, newest first, current versions alone', [
  [{ subject: 'Ada' }, ADA],
  [{ subject: ' Ada ' }, ADA],
  [{ subject: 'ada' }, []],
  [{ relation: 'lives in' }, ['lyon', 'bobParis', 'paris']],
  [{ object: 'Paris' }, ['bobParis', 'paris']],
  [{ subject: '', object: 'Paris' }, ['bobParis', 'paris']],
  [{ subject: 'Ada', relation: 'works at' }, ['acme', 'acmes']],
  [{ subject: 'Ada', relation: 'lives in', object: 'Lyon' }, ['lyon']],
  [{ subject: 'Cara' }, ['coffee']],
  [{ subject: 'Kettle' }, ['observation', 'action']],
  [{ relation: 'observation' }, ['observation']],
  [{ entity: 'Paris' }, ['bobParis', 'paris']],
  [{ entity: 'Kettle', subject: 'Ada', relation: 'zzz' }, ['observation', 'action']],
  [{ namespace: 'acme' }, ['ten']],
  [{ user_id: 'bob' }, ['bobParis', 'rome']],
  [{ subject: 'Milk' }, []],
  [{ subject_contains: 'AD' }, set(...ADA)],
  [{ subject_contains: 'ettl' }, set('observation', 'action', 'derived')],
  [{ subject_contains: 'b', object_contains: 'rom' }, ['rome']],
]);

table(
  'each type is found by its name',
  ['state', 'workflow', 'action', 'observation', 'goal', 'reasoning', 'consensus', 'consent'].map((type) => [
    { grain_type: type },
    [type],
  ]),
);

table('times are inclusive seconds of the field that was chosen', [
  [{ time_start: THEN + 4 * DAY, time_end: THEN + 4 * DAY }, ['whistle']],
  [{ time_start: THEN + 4 * DAY + 1, time_end: THEN + 4.5 * DAY }, ['nice']],
  [{ temporal_field: 'event_date', time_start: THEN - 101 * DAY, time_end: THEN - 99 * DAY }, ['paris']],
  [{ temporal_field: 'event_date', subject: 'Bob', time_start: THEN }, []],
  // Either of the two times is enough.
  [{ temporal_field: 'both', subject: 'Ada', time_start: THEN, time_end: THEN }, ['paris']],
  [{ temporal_field: 'both', subject: 'Ada', time_end: THEN - 99 * DAY }, ['paris']],
  [{ temporal_field: 'both', subject: 'Bob', time_start: THEN + 3 * DAY }, ['bobParis']],
  [{ temporal_field: 'both', subject: 'Bob' }, ['bobParis', 'rome']],
  [{ query: 'axolotl', temporal_expr: '2023-01' }, ['axolotlOld']],
  [{ query: 'axolotl', temporal_expr: 'Q1 2023' }, ['axolotlOld']],
  [{ query: 'axolotl', temporal_expr: 'before 2023-06' }, ['axolotlOld']],
  [{ query: 'axolotl', temporal_expr: '2023-01-01/2023-06-30' }, ['axolotlOld']],
  [{ query: 'axolotl', temporal_expr: 'since 2024-02' }, ['axolotl']],
  [{ query: 'axolotl', temporal_expr: 'this month', reference_date: THEN - 300 * DAY }, ['axolotlOld']],
  [{ query: 'axolotl', temporal_expr: '2023-01', time_start: THEN }, []],
  [{ time_end: 0, temporal_expr: 'today', reference_date: -1 }, []],
]);

table('thresholds, tags and the limit', [
  [{ subject: 'Ada', confidence_threshold: 0.9 }, ['acmes', 'paris']],
  [{ user_id: 'bob', confidence_threshold: 1 }, ['bobParis', 'rome']],
  [{ subject: 'Ada', importance_threshold: 0.2 }, ['lyon', 'paris']],
  [{ subject: 'Ada', importance_threshold: 0 }, ['lyon', 'paris']],
  [{ tags: ['home', 'city'] }, ['paris']],
  [{ tags: ['Home'] }, []],
  [{ tags: ['home'], exclude_tags: ['city'] }, ['lyon']],
  [{ tags: ['home'], exclude_tags: ['home'] }, []],
  [{ tags: [], subject: 'Bob' }, ['bobParis', 'rome']],
  [{ subject: 'Ada', limit: 1 }, ['lyon']],
  [{ limit: 0 }, ({ count }) => assert.equal(count, 20)],
  [{ limit: 500 }, warns(0)],
  [{ limit: 501 }, warns(1)],
  [{ limit: 4_294_967_295 }, warns(1)],
  // Structure only: every score is 1, newest first, without a topic.
  [
    {},
    ({ results, topic_coverage }) => {
      assert.ok(results.every(({ score }: ParsedJson) => score === 1));
      const times = results.map(({ created_at }: ParsedJson) => created_at);
      assert.deepEqual(
        times,
        times.toSorted((a: number, b: number) => b - a),
      );
      assert.equal(topic_coverage, null);
    },
  ],
]);

table('the first stage has as many candidates of a leg as were asked for, or five a hit and a hundred', [
  [{ namespace: 'people', limit: 2 }, ({ total_candidates }) => assert.equal(total_candidates, 7)],
  [{ namespace: 'people', limit: 2, candidate_limit: 3 }, ({ total_candidates }) => assert.equal(total_candidates, 3)],
  [{ subject: 'Ada', candidate_limit: 1 }, ['lyon']],
  [{ query: 'walrus', candidate_limit: 2 }, ({ total_candidates }) => assert.ok(total_candidates <= 4)],
  [{ query: 'kettle', candidate_limit: 2_501 }, warns(1)],
]);

table('contradictions, versions and duplicates', [
  [
    { subject: 'Ada', relation: 'lives in', detect_contradictions: true, score_breakdown: true },
    (json) => {
      const [kept, outdated] = [of(json, 'lyon'), of(json, 'paris')];
      assert.deepEqual([kept.conflict_status, outdated.conflict_status], ['current', 'outdated']);
      near(outdated.score, kept.score - 0.2);
      near(outdated.score_breakdown.interference_penalty, -0.2);
    },
  ],
  [
    { subject: 'Bob', detect_contradictions: true },
    (json) => {
      assert.equal(of(json, 'bobParis').conflict_status, undefined);
      assert.equal(of(json, 'rome').conflict_status, 'outdated');
    },
  ],
  [{ subject: 'Bob', include_contradicted: false }, ['bobParis']],
  [{ subject: 'Ada', include_contradicted: false }, ['lyon', 'acme']],
  [
    { subject: 'Cara', exclude_superseded: false, score_breakdown: true },
    (json) => {
      assert.deepEqual(library.namesIn(json), ['coffee', 'tea']);
      near(of(json, 'tea').score, 0.85);
      near(of(json, 'tea').score_breakdown.supersession_demotion, -0.15);
      assert.equal(of(json, 'tea').supersession_status, 'superseded');
      assert.equal(of(json, 'coffee').supersession_status, undefined);
    },
  ],
  [
    { subject: 'Cara', aggregation_intent: true, exclude_superseded: true },
    ({ results }) =>
      assert.deepEqual(
        results.map(({ score }: ParsedJson) => score),
        [1, 1],
      ),
  ],
  [{ subject: 'Ada', relation: 'works at', deduplicate: true }, ['acmes']],
  [{ subject: 'Ada', relation: 'works at', deduplicate: true, deduplicate_threshold: 1 }, ['acme', 'acmes']],
  [{ subject: 'Ada', deduplicate: true, deduplicate_threshold: 0 }, set('acmes', 'paris')],
  [{ subject: 'Ada', conflict_resolution: true }, set('lyon', 'acme')],
  [{ subject: 'Ada', conflict_resolution: true, conflict_similarity_threshold: 0.9 }, set('lyon', 'paris', 'acme')],
]);

table('a scope path sees its line and what is below it, and the deepest of the line holds', [
  [{ scope_path: 'acme' }, set('ten', 'twenty', 'thirty', 'forty', 'fifty', 'deep')],
  [{ scope_path: 'acme/prod' }, set('twenty', 'thirty', 'forty', 'deep')],
  [{ scope_path: 'acme/prod/bot1' }, set('thirty', 'deep')],
  [{ scope_path: 'acme/prod/bot1', include_siblings: true, subject: 'quota' }, set('thirty', 'forty')],
  [
    { scope_path: 'acme/prod/bot1', subject: 'deep' },
    ({ results: [hit] }) => assert.deepEqual([hit.source_namespace, hit.scope_depth], ['acme/prod/bot1/x', 3]),
  ],
  [{ subject: 'deep' }, ({ results: [hit] }) => assert.ok(!('source_namespace' in hit) && !('scope_depth' in hit))],
  [{ include_siblings: true, subject: 'deep' }, warns(1)],
]);

table('age and nearness in time move scores as the formulas say', [
  [
    { subject: 'Ada', recency_weight: 0.5 },
    ({ results }) =>
      assert.ok(
        results.every(({ score }: ParsedJson) => score === 1),
        'a statement keeps its score',
      ),
  ],
  [{ query: 'axolotl', recency_weight: 1 }, ({ results: [hit] }) => assert.ok(hit.score > 0.9)],
  [
    { subject: 'Ada', target_date: THEN, score_breakdown: true },
    (json) => near(of(json, 'paris').score_breakdown.temporal_decay_boost, 0.15),
  ],
  [{ object: 'Paris', subject: 'Ada', target_date: THEN + 7 * DAY }, ({ results: [hit] }) => near(hit.score, 1.05)],
  [{ subject: 'Ada', target_date: THEN + 200 * DAY }, ({ results }) => near(results[0].score, 1)],
  [
    { object: 'Paris', subject: 'Ada', target_date: THEN + 3600, target_date_weight: 1, score_breakdown: true },
    ({ results: [hit] }) => {
      near(hit.score, 0.5);
      near(hit.score_breakdown.target_date_proximity, 0.5 - 1 - hit.score_breakdown.temporal_decay_boost);
    },
  ],
  [{ subject: 'Ada', target_date_weight: 0.2 }, warns(1)],
]);

table('affinity is a share of the leading score', [
  [
    { namespace: 'people', subject_affinity_boost: 0.5, score_breakdown: true },
    (json) => {
      near(of(json, 'lyon').score, 1.5);
      near(of(json, 'rome').score, 1);
    },
  ],
  [{ subject: 'Ada', session_affinity_boost: 1 }, ({ results }) => near(results[0].score, 2)],
]);

table('namespaces, sources, entities and what is said of times', [
  [{ query: 'walrus', max_namespaces: 1 }, (json) => assert.equal(namespaces(json).size, 1)],
  [{ query: 'walrus', min_per_namespace: 1, limit: 3 }, (json) => assert.equal(namespaces(json).size, 3)],
  [
    { query: 'walrus', session_census: true, limit: 2 },
    ({ session_census_metadata: { total_sessions }, results }) => {
      assert.equal(results.length, 2);
      assert.ok(total_sessions >= 3);
      assert.ok(results.some(({ recall_source }: ParsedJson) => recall_source === 'census'));
    },
  ],
  [
    { subject: 'kettle', include_sources: true },
    ({ sources }) =>
      assert.deepEqual(
        sources.map(({ hash, score }: ParsedJson) => [hash, score]),
        [[library.hashOf('whistle'), 1]],
      ),
  ],
  [{ subject: 'Ada', include_sources: true }, ({ sources }) => assert.deepEqual(sources, [])],
  [
    { relation: 'lives in', count_entities: true },
    ({ entity_count, entities }) => assert.deepEqual([entity_count, entities.toSorted()], [2, ['Ada', 'Bob']]),
  ],
  [{ subject: 'nobody', count_entities: true }, ({ entity_count }) => assert.equal(entity_count, 0)],
  [
    { subject: 'Bob', annotate_relative_time: true, reference_date: THEN + 17 * DAY },
    (json) => assert.equal(of(json, 'bobParis').relative_time, '2 weeks ago'),
  ],
  [
    { query: 'Acme', exhaustive: true, exhaustive_max_rounds: 1 },
    ({ exhaustive_metadata }) => assert.ok(exhaustive_metadata.rounds_executed <= 1),
  ],
  [
    { query: 'Where does Ada live and where does Bob live?', query_decompose: true },
    (json) => assert.deepEqual(library.namesIn(json).slice(0, 3).toSorted(), ['bobParis', 'lyon', 'paris']),
  ],
]);

function namespaces({ results }: ParsedJson): ReadonlySet<string> {
  return new Set(results.map(({ namespace }: ParsedJson) => namespace));
}

table('words and their operators', [
  [
    { query: 'kettle', limit: 50 },
    set('whistle', 'nice', 'workflow', 'action', 'observation', 'goal', 'reasoning', 'consensus', 'derived'),
  ],
  [{ query: '"blue kettle"', query_mode: 'operators' }, ['whistle']],
  [{ query: '+whistled kitchen', query_mode: 'operators' }, ['whistle']],
  [{ query: 'kettle -whistled namespace:chat', query_mode: 'operators' }, ['nice']],
  // In a question, operators exclude nothing: a warning says how many hits meet them.
  [
    { query: '"blue kettle"', limit: 50 },
    (json) => {
      assert.equal(library.namesIn(json)[0], 'whistle');
      assert.equal(json.count, 9);
      assert.match(json.warnings.join(), /^1 of the 9 hits meet the operators/);
    },
  ],
  [
    { query: 'kettle -whistled', limit: 50 },
    (json) => {
      assert.equal(json.count, 9);
      assert.match(json.warnings.join(), /^8 of the 9 hits meet the operators/);
    },
  ],
  [{ query: 'sensor-7' }, (json) => assert.equal(library.namesIn(json)[0], 'observation')],
  [{ query: 'Oslo' }, ['state']],
  [{ query: 'euros' }, ['goal']],
  [{ query: 'grants' }, ['consent']],
  [{ query: 'zeppelin' }, ['zeppelin']],
  [{ query: 'subject:Kettle' }, ['derived', 'observation', 'action']],
  [{ query: 'lives', object_contains: 'PARIS' }, set('paris', 'bobParis')],
  [{ query: 'kettle', namespace: 'chat' }, set('whistle', 'nice')],
  [{ query: 'kettle zeppelin gronk', min_score: 1 }, []],
  [{ subject: 'Ada', min_score: 1 }, ADA],
  [{ query: 'whistled kitchen' }, ({ topic_coverage }) => assert.equal(topic_coverage, 'full')],
  [{ query: 'whistled gronk blarg' }, ({ topic_coverage }) => assert.equal(topic_coverage, 'partial')],
  // Words of different grains: the top hits hold them together.
  [{ query: 'zeppelin sensor-7' }, ({ topic_coverage }) => assert.equal(topic_coverage, 'full')],
  [{ query: 'gronk blarg' }, ({ topic_coverage }) => assert.equal(topic_coverage, 'none')],
  [{ query: 'the of and' }, ({ topic_coverage }) => assert.equal(topic_coverage, 'none')],
  // Both: only structural matches, fused with the words; first in both is 1.
  [
    { query: 'Lyon', subject: 'Ada' },
    (json) => {
      assert.deepEqual(library.namesIn(json).toSorted(), ADA.toSorted());
      near(json.results[0].score, 1);
    },
  ],
]);

const TERMS = ['bm25', 'phrase', 'vector', 'near', 'answer', 'session', 'pooled', 'role', 'speaker', 'time', 'self'];
const CHANGES = [
  ...['recency_decay', 'temporal_decay_boost', 'target_date_proximity', 'session_affinity', 'subject_affinity'],
  ...['interference_penalty', 'supersession_demotion'],
];
const MOVES: Body = {
  target_date: THEN,
  target_date_weight: 0.1,
  recency_weight: 0.3,
  session_affinity_boost: 0.3,
  subject_affinity_boost: 0.2,
  detect_contradictions: true,
  exclude_superseded: false,
};

test('a score breakdown adds up, and has only changes that happened', async () => {
  const ask = async (body: Body): Promise<ParsedJson[]> => {
    const { json } = await library.recall({ ...body, score_breakdown: true });
    assert.ok(json.results.length > 1, JSON.stringify(body));
    return json.results;
  };
  const sum = (account: ParsedJson, names: readonly string[]): number =>
    names.reduce((total, name) => total + (account[name] ?? 0), 0);
  for (const query of [{ query: 'blue kettle' }, { subject: 'Ada' }, { query: 'lives Paris', subject: 'Ada' }])
    for (const moves of [{}, MOVES])
      for (const { score, score_breakdown: account } of await ask({ ...query, ...moves })) {
        near((account.rrf_score === 0 ? sum(account, TERMS) : account.rrf_score) + sum(account, CHANGES), score);
        assert.equal(account.final_score, score);
        const named = CHANGES.filter((name) => name in account);
        if (moves === MOVES) assert.ok(named.includes('recency_decay') && named.includes('target_date_proximity'));
        else assert.deepEqual(named, []);
      }
});

test('values out of range are rejected with their code', async () => {
  for (const [code, ...bodies] of [
    [
      'VAL-E001',
      { time_start: 5, time_end: 4 },
      { temporal_expr: 'between 2024-03 and 2024-01' },
      { temporal_expr: '2024-03/2024-01' },
      { temporal_expr: 'between 2024' },
      { temporal_expr: '2024-02-30' },
      { temporal_expr: 'Q5 2024' },
      { temporal_field: 'valid_to' },
      { recency_weight: 1.01 },
      { deduplicate_threshold: -0.01 },
      { diversity_lambda: 2 },
      { multi_hop: 4 },
      { min_per_namespace: 11 },
      { max_namespaces: 101 },
      { exhaustive_max_rounds: 6 },
      { session_census_max_queries: 51 },
    ],
    ['MEM-E005', { grain_type: 'fact' }, { grain_type: 'Goal' }],
  ] as const)
    for (const body of bodies) assert.equal((await library.recall(body)).code, code, JSON.stringify(body));
});

test('durations are for gRPC alone, also inside of other phrases', async () => {
  for (const [phrase, found] of [
    ['last 7 days', ['axolotl']],
    ['since 3 days ago', ['axolotl']],
    ['between 2 weeks ago and now', ['axolotl']],
    ['before 2 months ago', ['axolotlOld']],
    ['2 weeks ago', []],
  ] as const) {
    const body = { query: 'axolotl', temporal_expr: phrase };
    assert.equal((await library.http('recall', body)).code, 'VAL-E001', phrase);
    assert.deepEqual(library.namesIn((await library.rpc('Recall', body)).json), found, phrase);
  }
});

test('a request narrowed by its headers finds nothing outside', async () => {
  const found = async (body: Body, headers: Readonly<Record<string, string>>): Promise<string[]> =>
    library.namesIn((await library.recall(body, headers)).json).toSorted();
  assert.deepEqual(await found({ query: 'kettle' }, { 'x-namespace': 'chat' }), ['nice', 'whistle']);
  assert.deepEqual(await found({ namespace: 'people' }, { 'x-namespace': 'chat' }), []);
  assert.deepEqual(await found({ relation: 'lives in' }, { 'x-user-id': 'bob' }), ['bobParis']);
  assert.deepEqual(await found({ user_id: 'ada' }, { 'x-user-id': 'bob' }), []);
});
