// The sixty fields of a recall: the accepted values, the refusals and their codes, and that docs/recall.md describes
// each field.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { EngineError } from '../../../engine/base/errors.ts';
import type { RecallQuery } from '../../../shards/protocol.ts';
import { toSnake } from '../names.ts';
import { idleFieldWarnings, modelFieldWarnings, RecallInput } from './fields.ts';
import { recallOptions } from './options.ts';
import { recall } from './recall.ts';

const root = resolve(import.meta.dirname, '../../../..');
const FIELDS = Object.keys(RecallInput.properties).map(toSnake);

/** The shard query of a request with these fields. Throws the caller's refusal. */
function asked(fields: Record<string, unknown>): RecallQuery {
  const { asked } = recall.plan!(recall.readArgs(fields, []));
  return asked.input as RecallQuery; // the members that the row reads
}

function refusal(fields: Record<string, unknown>): string | undefined {
  try {
    asked(fields);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof EngineError, String(error));
    return error.code;
  }
}

const TEXTS = [7, true, ['x'], {}];
const FLAGS = ['yes', 1, [], {}];
const NUMBERS = ['1', true, [1], {}];
const FRACTIONS = { good: [0, 0.5, 1], out: [-0.01, 1.01, 1e308], wrong: NUMBERS };
const SECONDS = {
  good: [0, -86_400, 9_999_999_999],
  out: [10_000_000_000, 1_700_000_000_000],
  wrong: [...NUMBERS, 1.5],
};
const counts = (most: number) => ({ good: [1, most], out: [-1, most + 1], wrong: [...NUMBERS, 1.5] });

interface Taken {
  readonly good: readonly unknown[];
  /** VAL-E001, unless `code` says otherwise. */
  readonly out?: readonly unknown[];
  readonly code?: string;
  /** VAL-E003. */
  readonly wrong: readonly unknown[];
}

const text: Taken = { good: ['', 'x', '‮😀', '__proto__'], wrong: TEXTS };
const texts: Taken = { good: [[], ['a'], ['a', 'b']], wrong: ['a', 7, { 0: 'a' }, [7], [['a']]] };
const flag: Taken = { good: [true, false], wrong: FLAGS };
const number: Taken = { good: [-1, 0, 0.5, 2], wrong: NUMBERS };

const TAKEN: Readonly<Record<string, Taken>> = {
  query: text,
  subject: text,
  relation: text,
  object: text,
  namespace: text,
  user_id: text,
  grain_type: { good: ['', 'belief', 'consent'], out: ['fact', 'Belief'], code: 'MEM-E005', wrong: TEXTS },
  time_start: SECONDS,
  time_end: SECONDS,
  confidence_threshold: number,
  importance_threshold: number,
  limit: { good: [0, 1, 500, 501, 4_294_967_295], out: [-1], wrong: [...NUMBERS, 1.5] },
  temporal_expr: { good: ['', 'today', '2024-02', 'last 7 days'], out: ['someday', 'before'], wrong: TEXTS },
  tags: texts,
  exclude_tags: texts,
  detect_contradictions: flag,
  scope_path: text,
  include_siblings: flag,
  deduplicate: flag,
  deduplicate_threshold: FRACTIONS,
  subject_contains: text,
  object_contains: text,
  exclude_superseded: flag,
  include_contradicted: flag,
  embedding: { good: [[], [0.5, -1]], wrong: ['x', 5, ['x'], {}] },
  candidate_limit: { good: [0, 1, 2_500, 99_999], out: [-1], wrong: [...NUMBERS, 1.5] },
  min_score: FRACTIONS,
  score_breakdown: flag,
  explanation: flag,
  recency_weight: FRACTIONS,
  conflict_resolution: flag,
  record_provenance: flag,
  entity: text,
  rerank: flag,
  diversity_lambda: FRACTIONS,
  query_expansion: flag,
  hyde: flag,
  llm_rerank: flag,
  temporal_field: { good: ['created_at', 'event_date', 'both'], out: ['valid_from'], wrong: TEXTS },
  include_sources: flag,
  annotate_relative_time: flag,
  reference_date: SECONDS,
  session_affinity_boost: FRACTIONS,
  subject_affinity_boost: FRACTIONS,
  multi_hop: counts(3),
  target_date: SECONDS,
  target_date_weight: FRACTIONS,
  query_decompose: flag,
  conflict_similarity_threshold: FRACTIONS,
  count_entities: flag,
  min_per_namespace: counts(10),
  max_namespaces: counts(100),
  exhaustive: flag,
  exhaustive_max_rounds: counts(5),
  session_census: flag,
  session_census_min_per_session: counts(10),
  session_census_min_score: FRACTIONS,
  session_census_max_queries: counts(50),
  aggregation_intent: flag,
  preference_enrichment: flag,
};

test('there are sixty fields, and each has its values in this file', () => {
  assert.equal(FIELDS.length, 60);
  assert.deepEqual(Object.keys(TAKEN), FIELDS);
});

const OWN = 'src/server/operations/recall/fields.test.ts';
const TAKES = 'takes what the contract says and refuses the rest by its code';

for (const [name, { good, out = [], code = 'VAL-E001', wrong }] of Object.entries(TAKEN))
  test(`${name} ${TAKES}`, () => {
    for (const value of good) assert.equal(refusal({ [name]: value }), undefined, JSON.stringify(value));
    assert.equal(refusal({ [name]: null }), undefined, 'null is absent');
    for (const value of out) assert.equal(refusal({ [name]: value }), code, JSON.stringify(value));
    for (const value of wrong) assert.equal(refusal({ [name]: value }), 'VAL-E003', JSON.stringify(value));
    // JSON cannot contain these; a caller within the process can pass them.
    if (good.some((value) => typeof value === 'number'))
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
        assert.ok(refusal({ [name]: value }) !== undefined, `${value}`);
  });

test('the default that the schema gives for a field has the same effect as its absence', () => {
  const defaults = Object.entries(RecallInput.properties as Record<string, { readonly default?: unknown }>).flatMap(
    ([name, schema]) => (schema.default === undefined ? [] : [[toSnake(name), schema.default] as const]),
  );
  assert.ok(defaults.length > 30, String(defaults.length));
  for (const [name, value] of defaults)
    assert.deepEqual(asked({ query: 'x', [name]: value }), asked({ query: 'x' }), name);
});

test('time_start after time_end is refused', () => {
  assert.equal(refusal({ time_start: 5, time_end: 4 }), 'VAL-E001');
  assert.equal(refusal({ time_start: 5, time_end: 5 }), undefined);
});

test('fields that ask for nothing leave a recall without options', () => {
  assert.deepEqual(asked({ query: 'x' }).options, {});
  const nothing = {
    recency_weight: 0,
    diversity_lambda: 1,
    include_contradicted: true,
    multi_hop: 0,
    min_per_namespace: 0,
    subject_contains: '',
    score_breakdown: false,
    deduplicate_threshold: 0.5,
    exhaustive_max_rounds: 3,
    reference_date: 5,
    temporal_field: 'both',
    target_date_weight: 0.5,
  };
  assert.deepEqual(asked({ query: 'x', ...nothing }).options, {});
});

test('fields that ask for a stage reach the shards under their own names', () => {
  const fields = {
    recency_weight: 0.5,
    target_date: 0,
    target_date_weight: 0.25,
    temporal_field: 'event_date',
    detect_contradictions: true,
    include_contradicted: false,
    deduplicate: true,
    deduplicate_threshold: 0,
    session_census: true,
    session_census_min_per_session: 0,
    session_census_min_score: 0,
    preference_enrichment: false,
    min_score: 0,
  } as const;
  assert.deepEqual(asked(fields).options, {
    recencyWeight: 0.5,
    targetDate: 0,
    targetDateWeight: 0.25,
    temporalField: 'event_date',
    detectContradictions: true,
    includeContradicted: false,
    deduplicate: true,
    deduplicateThreshold: 0,
    sessionCensus: true,
    sessionCensusMinScore: 0,
    preferenceEnrichment: false,
    minScore: 0,
  });
  assert.deepEqual(recallOptions({}), {});
});

test('entity takes priority over subject, relation and object', () => {
  const { filter, structural } = asked({ entity: 'Ada', subject: 'Bob', relation: 'likes', object: 'tea' });
  assert.deepEqual([filter, structural], [{ entity: 'Ada' }, true]);
});

test('candidate_limit bounds the first stage, and exhaustive widens it', () => {
  const limitOf = (fields: Record<string, unknown>) => asked({ query: 'x', ...fields }).candidateLimit;
  assert.deepEqual([limitOf({}), limitOf({ limit: 100 }), limitOf({ candidate_limit: 30 })], [100, 500, 30]);
  assert.deepEqual([limitOf({ candidate_limit: 9_999 }), limitOf({ candidate_limit: 5, limit: 20 })], [2_500, 5]);
  assert.deepEqual([limitOf({ exhaustive: true }), limitOf({ exhaustive: true, limit: 50 })], [2_000, 2_500]);
});

test('aggregation_intent and exclude_superseded false keep old versions', () => {
  const keeps = (fields: Record<string, unknown>) => asked(fields).filter.includeSuperseded === true;
  assert.deepEqual(
    [
      keeps({}),
      keeps({ exclude_superseded: true }),
      keeps({ exclude_superseded: false }),
      keeps({ aggregation_intent: true }),
    ],
    [false, false, true, true],
  );
});

test('fields that need a model report that they had no effect', () => {
  for (const name of ['rerank', 'hyde', 'llmRerank'] as const)
    assert.deepEqual(modelFieldWarnings({ query: 'x', [name]: true }).length, 1, name);
  assert.deepEqual(modelFieldWarnings({ query: 'x', hyde: true, embedding: [1] }), [
    'hyde was ignored: the request brings a vector of its own',
  ]);
  assert.deepEqual(modelFieldWarnings({ rerank: false, scopePath: 'a/b', embedding: [0.5] }), []);
});

test('fields that modify another field report that it is missing', () => {
  assert.deepEqual(idleFieldWarnings({ targetDateWeight: 0.5, exhaustiveMaxRounds: 2, queryExpansion: true }), [
    'target_date_weight was ignored: it needs target_date',
    'exhaustive_max_rounds was ignored: it needs exhaustive',
    'query_expansion was ignored: it needs query',
  ]);
  assert.deepEqual(idleFieldWarnings({ targetDateWeight: 0.5, targetDate: 0 }), []);
  assert.deepEqual(idleFieldWarnings({ subject: 'ann', embedding: [1, 0] }), ['embedding was ignored: it needs query']);
  assert.deepEqual(idleFieldWarnings({ subject: 'ann', embedding: [] }), []);
  assert.deepEqual(idleFieldWarnings({ query: 'ann', embedding: [1, 0] }), []);
  assert.deepEqual(
    idleFieldWarnings({ queryDecompose: true, query: 'x', exhaustive: true, exhaustiveMaxRounds: 2 }),
    [],
  );
});

test('docs/recall.md has a row for each field, in order, and the test that it names', () => {
  const rows = readFileSync(resolve(root, 'docs/recall.md'), 'utf8').matchAll(
    /^\| (?<number>\d+) \| `(?<field>[a-z_]+)` \|.*\| (?<file>[\w./-]+): "(?<named>.+)" \|$/gm,
  );
  const files = new Map<string, string>();
  const listed = [...rows].map(({ groups }) => {
    const { number, field, file, named } = groups!;
    const source = files.get(file!) ?? readFileSync(resolve(root, file!), 'utf8');
    files.set(file!, source);
    const generated = file === OWN && named === `${field} ${TAKES}`;
    assert.ok(generated || source.includes(`'${named}'`), `${file} has no test "${named}"`);
    return [Number(number), field];
  });
  const numbered = FIELDS.map((field, at) => [at + 1, field]);
  assert.deepEqual(listed, numbered);
});
