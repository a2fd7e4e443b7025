// The stages together: their order, the account of every score, the limit, and reproducible answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { answerLater, answerNow } from '../../asking/asking.ts';
import { SOURCES_MAX } from '../../base/limits.ts';
import { CHANGES, type RecallOptions } from '../../calls/recall.ts';
import { compareHits, type StageHit, scoreOf } from './hit.ts';
import { hitsWanted, type StageContext, stages } from './run.ts';
import type { Staged } from './staged.ts';
import { answersOf, found, later, type StageAnswers } from './testing/answers.ts';
import { belief, grain, hashOf, hit, NOW_MS, names, query } from './testing/hits.ts';

const HOUR = 3_600_000;

function context(options: RecallOptions, given: Partial<StageContext> = {}): StageContext {
  return { query: query(), options, nowMs: NOW_MS, ...given };
}

function runStagesNow(hits: readonly StageHit[], given: StageContext, answers: StageAnswers): Staged {
  return answerNow(stages(hits, given), answers);
}

const nothing = answersOf({
  search: () => found([]),
  namespaces: () => ({ namespaces: [] }),
  fetch: ({ hashes }) => ({ grains: hashes.map(() => null) }),
});

test('without options the hits stay unchanged, cut to the limit', () => {
  const hits = [hit({ name: 'a', score: 0.9 }), hit({ name: 'b', score: 0.4 })];
  assert.deepEqual(runStagesNow(hits, context({}), nothing), { hits });
  assert.deepEqual(names(runStagesNow(hits, context({}, { query: query({ limit: 1 }) }), nothing).hits), ['a']);
});

test('stages run in the order of the contract: conflicts are marked on scores that recency changed', () => {
  const hits = [
    belief('old', 'Ada', 'lives in', 'Paris', { score: 0.9, ageMs: 5 * HOUR, fields: { temporal_type: 'event' } }),
    belief('new', 'Ada', 'lives in', 'Rome', { score: 0.5, fields: { temporal_type: 'event' } }),
  ];
  const { hits: staged } = runStagesNow(hits, context({ recencyWeight: 0.5, detectContradictions: true }), nothing);
  assert.deepEqual(names(staged), ['new', 'old']);
  const { changes } = staged[1]!.breakdown;
  assert.deepEqual(changes, { recencyDecay: 0.5 * (1 / 6 - 0.9), interferencePenalty: -0.2 });
  assert.equal(staged[1]?.score, 0.9 + changes.recencyDecay! + changes.interferencePenalty!);
});

test('include_contradicted false drops outdated and retracted hits, with or without detect_contradictions', () => {
  const hits = [
    belief('old', 'Ada', 'lives in', 'Paris', { score: 0.9, ageMs: HOUR }),
    belief('new', 'Ada', 'lives in', 'Rome', { score: 0.5 }),
    hit({ name: 'retracted', score: 0.4, fields: { verification_status: 'retracted' } }),
  ];
  assert.deepEqual(names(runStagesNow(hits, context({ includeContradicted: false }), nothing).hits), ['new']);
  assert.equal(runStagesNow(hits, context({ includeContradicted: true }), nothing).hits.length, 3);
});

test('exclude_superseded false demotes old versions, aggregation_intent does not', () => {
  const hits = [hit({ name: 'old', score: 0.6, superseded: true }), hit({ name: 'new', score: 0.5 })];
  assert.deepEqual(names(runStagesNow(hits, context({}), nothing).hits), ['new', 'old']);
  assert.deepEqual(names(runStagesNow(hits, context({ aggregationIntent: true }), nothing).hits), ['old', 'new']);
});

test('subject_contains and object_contains apply to the hits that stages add, too', () => {
  const answer: StageAnswers = {
    ...nothing,
    search: () => found([belief('other', 'Bob', 'r', 'o'), belief('more', 'Ada', 'r', 'x', { namespace: 'n' })]),
    namespaces: () => ({ namespaces: ['n'] }),
  };
  const hits = [belief('a', 'Ada', 'r', 'o'), belief('b', 'Bob', 'r', 'o')];
  const options = { subjectContains: 'ada', sessionCensus: true, exhaustive: true };
  assert.deepEqual(names(runStagesNow(hits, context(options), answer).hits).sort(), ['a', 'more']);
});

test('explanation states every number of the account in plain English', () => {
  const before: StageHit = {
    ...hit({ name: 'a', score: 0.75, superseded: true }),
    breakdown: { base: 0.75, terms: { bm25: 0.5, near: 0.25 }, bm25Rank: 2, vectorScore: 0.625, changes: {} },
  };
  const [explained] = runStagesNow([before], context({ explanation: true, recencyWeight: 0.5 }), nothing).hits;
  assert.equal(
    explained?.explanation,
    'Score 0.600: 0.500 for its words, 0.250 for what was said right before and after it (rank 2 by words, cosine 0.625 with the query); ' +
      '+0.000 for its age; -0.150 since a later version replaced it.',
  );
  const ranked: StageHit = {
    ...before,
    superseded: false,
    breakdown: { base: 0.75, rrf: 0.75, legs: { sum: 0.02, count: 2 }, changes: {} },
  };
  assert.equal(
    runStagesNow([ranked], context({ explanation: true }), nothing).hits[0]?.explanation,
    'Score 0.750: 0.750 for its ranks in 2 rankings.',
  );
});

test('sources, entities and metadata are returned on request, and only then', () => {
  const source = grain({ name: 'source' });
  const answer: StageAnswers = { ...nothing, fetch: () => ({ grains: [source] }) };
  const hits = [belief('a', 'Ada', 'is', 'here', { fields: { derived_from: source.hash } })];
  const all = runStagesNow(
    hits,
    context({
      includeSources: true,
      countEntities: true,
      sessionCensus: true,
      exhaustive: true,
      annotateRelativeTime: true,
    }),
    answer,
  );
  assert.deepEqual(names(all.sources ?? []), ['source']);
  assert.deepEqual(all.entities, ['Ada']);
  assert.equal(all.sessionCoverageRatio, 1);
  assert.equal(all.census?.totalSessions, 1);
  assert.equal(all.exhaustive?.converged, true);
  assert.equal(all.hits[0]?.relativeTime, 'just now');
  assert.deepEqual(Object.keys(runStagesNow(hits, context({}), answer)), ['hits']);
});

test('census hits get places though the limit is full, and preferences that nobody asked for do not', () => {
  const session = (name: string): StageHit =>
    hit({ name, namespace: 'quiet', score: 0.5, fields: { session_id: 's' } });
  const answer: StageAnswers = {
    ...nothing,
    search: () => found([session('c1'), session('c2')]),
    namespaces: () => ({ namespaces: ['quiet'] }),
  };
  const hits = Array.from({ length: 6 }, (_, at) =>
    hit({ name: `h${at}`, score: 0.9 - at / 10, fields: { content: 'I like tea', session_id: 's' } }),
  );
  const asking = query({ query: 'What do I like?', limit: 4 });
  const staged = runStagesNow(hits, context({ sessionCensus: true }, { query: asking }), answer);
  assert.deepEqual(names(staged.hits).sort(), ['c1', 'c2', 'h0', 'h1']);
  assert.deepEqual(names(runStagesNow(hits, context({}, { query: asking }), answer).hits), ['h0', 'h1', 'h2', 'h3']);
  const wide = query({ query: 'What do I like?', limit: 20 });
  assert.equal(runStagesNow(hits, context({}, { query: wide }), answer).hits.length, 8);
  assert.equal(runStagesNow(hits, context({ preferenceEnrichment: false }, { query: wide }), answer).hits.length, 6);
  const asked = runStagesNow(hits, context({ preferenceEnrichment: true }, { query: asking }), answer);
  assert.ok(names(asked.hits).includes('c1'));
});

test('stages that choose see all candidates, and the others see the limit', () => {
  const asking = query({ limit: 5, candidateLimit: 70 });
  const none: readonly RecallOptions[] = [
    {},
    { explanation: true, countEntities: true, includeSources: true, annotateRelativeTime: true, minScore: 0.5 },
    { recencyWeight: 0, diversityLambda: 1, includeContradicted: true, subjectContains: '', multiHop: 0 },
  ];
  for (const options of none) assert.equal(hitsWanted(asking, options), 5);
  const all: readonly RecallOptions[] = [
    { recencyWeight: 0.1 },
    { targetDate: 1 },
    { diversityLambda: 0.5 },
    { includeContradicted: false },
    { deduplicate: true },
    { sessionCensus: true },
  ];
  for (const options of all) assert.equal(hitsWanted(asking, options), 70);
  const old = { ...asking, filter: { includeSuperseded: true } };
  assert.deepEqual([hitsWanted(old, {}), hitsWanted(old, { aggregationIntent: true })], [70, 5]);
});

const weight = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined });
const flag = fc.option(fc.boolean(), { nil: undefined });
const anyOptions = fc.record({
  recencyWeight: weight,
  targetDate: fc.option(fc.integer({ min: -9e9, max: 9e9 }), { nil: undefined }),
  targetDateWeight: weight,
  temporalField: fc.constantFrom('created_at', 'event_date', 'both', undefined),
  sessionAffinityBoost: weight,
  subjectAffinityBoost: weight,
  detectContradictions: flag,
  includeContradicted: flag,
  aggregationIntent: flag,
  deduplicate: flag,
  deduplicateThreshold: weight,
  conflictResolution: flag,
  conflictSimilarityThreshold: weight,
  diversityLambda: weight,
  minScore: weight,
  minPerNamespace: fc.option(fc.nat(3), { nil: undefined }),
  maxNamespaces: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  sessionCensus: flag,
  exhaustive: flag,
  preferenceEnrichment: flag,
  queryExpansion: flag,
  queryDecompose: flag,
  multiHop: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  explanation: flag,
  annotateRelativeTime: flag,
  includeSources: flag,
  countEntities: flag,
});

const name = fc.constantFrom('Ada', 'Bob', 'Acme', '__proto__', '');
const anyHit = fc.record({
  score: fc.double({ min: 0, max: 1, noNaN: true }),
  ageMs: fc.integer({ min: -1e12, max: 1.7e12 }),
  namespace: fc.constantFrom('', 'x', 'y'),
  grainType: fc.constantFrom('belief', 'event'),
  superseded: fc.boolean(),
  judged: fc.boolean(),
  fields: fc.record(
    {
      subject: name,
      relation: fc.constantFrom('likes', 'is', 'constructor'),
      object: name,
      content: fc.constantFrom('I like tea', 'Bob met Cleo', '\ud800', 'x'.repeat(3_000)),
      session_id: fc.constantFrom('s1', 's2'),
      confidence: fc.constantFrom(0, 0.5, 1, 'high'),
      valid_from: fc.constantFrom(0, 1_700_000_000, -9_999_999_999),
      derived_from: fc.constantFrom(hashOf('h0'), 'none'),
      verification_status: fc.constantFrom('retracted', 'verified'),
    },
    { requiredKeys: [] },
  ),
});

/** Every fifth has none. */
function unitVector(seed: number): Float32Array | undefined {
  return seed % 5 === 0 ? undefined : Float32Array.of(Math.cos(seed), Math.sin(seed));
}

/** Answers every question from the same hits, by its filter. */
function world(all: readonly StageHit[]): StageAnswers {
  return {
    search: ({ filter, limit }) => {
      const passing = all.filter(
        ({ grain: { namespace, fields } }) =>
          (filter.namespace === undefined || namespace === filter.namespace) &&
          (filter.entity === undefined || fields['subject'] === filter.entity || fields['object'] === filter.entity) &&
          (filter.sessionId === undefined || fields['session_id'] === filter.sessionId),
      );
      return found(passing.toSorted(compareHits).slice(0, limit));
    },
    fetch: ({ hashes }) => ({
      grains: hashes.map((hash) => all.find(({ grain: { hash: own } }) => own === hash)?.grain ?? null),
    }),
    namespaces: () => ({ namespaces: ['x', 'y', 'z'] }),
    alike: ({ words }) => ({ words: words.map(() => ['tea']) }),
    vectors: ({ hashes }) => ({ vectors: hashes.map((hash) => unitVector(Number.parseInt(hash.slice(0, 4), 16))) }),
    rerank: ({ hits }) => ({ order: [...hits.keys()].reverse() }),
  };
}

test('every score is its base and the changes of its account, in order, within the limit, and reproducible', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyHit, { maxLength: 25 }),
      anyOptions,
      fc.integer({ min: 1, max: 12 }),
      async (given, options, limit) => {
        const all = given.map((made, at) => hit({ ...made, name: `h${at}` }));
        const chosen = Object.fromEntries(
          Object.entries(options).filter(([, value]) => value !== undefined),
        ) as RecallOptions; // the record above
        const asking = context(chosen, { query: query({ query: 'What do Ada and Bob like?', limit }) });
        const staged = runStagesNow(all, asking, world(all));
        assert.ok(staged.hits.length <= limit);
        assert.equal(new Set(staged.hits.map(({ grain: { hash } }) => hash)).size, staged.hits.length);
        assert.deepEqual(staged.hits, staged.hits.toSorted(compareHits));
        for (const { score, breakdown } of staged.hits) {
          assert.ok(Number.isFinite(score));
          assert.equal(score, scoreOf(breakdown));
          assert.equal(
            score,
            CHANGES.reduce((sum, stage) => sum + (breakdown.changes[stage] ?? 0), breakdown.base),
          );
        }
        // The order of the hits, and delayed answers, change nothing.
        const shuffled = await answerLater(stages(all.toReversed(), asking), later(world(all)));
        assert.deepEqual(shuffled, staged);
      },
    ),
    { numRuns: runs(150) },
  );
});

test('sources beyond the limit of an answer are reported, and those of the best hits are fetched', () => {
  const sourcesFrom = (from: number, count: number) => Array.from({ length: count }, (_, i) => hashOf(`s${from + i}`));
  const fetched = (first: number, second: number) => {
    let asked: readonly string[] = [];
    const hits = [
      hit({ name: 'a', score: 0.9, fields: { derived_from: sourcesFrom(0, first) } }),
      hit({ name: 'b', score: 0.4, fields: { derived_from: sourcesFrom(first, second) } }),
    ];
    const { sourcesCut } = runStagesNow(hits, context({ includeSources: true }), {
      ...nothing,
      fetch: (input) => {
        asked = input.hashes;
        return nothing.fetch(input);
      },
    });
    return [asked.length, asked[0], sourcesCut];
  };
  assert.deepEqual(fetched(SOURCES_MAX - 1, 1), [SOURCES_MAX, hashOf('s0'), undefined]);
  assert.deepEqual(fetched(SOURCES_MAX, 1), [SOURCES_MAX, hashOf('s0'), true]);
});

/** A value of each option that makes its stage run. A new option does not compile without one. */
const EVERY_OPTION: Required<RecallOptions> = {
  subjectContains: 'a',
  objectContains: 'o',
  queryExpansion: true,
  queryDecompose: true,
  multiHop: 1,
  recencyWeight: 0.5,
  temporalField: 'created_at',
  targetDate: NOW_MS / 1_000,
  targetDateWeight: 0.5,
  sessionAffinityBoost: 0.5,
  subjectAffinityBoost: 0.5,
  detectContradictions: true,
  includeContradicted: false,
  aggregationIntent: true,
  deduplicate: true,
  deduplicateThreshold: 0.9,
  conflictResolution: true,
  conflictSimilarityThreshold: 0.9,
  diversityLambda: 0.5,
  minScore: 0.1,
  minPerNamespace: 1,
  maxNamespaces: 2,
  sessionCensus: true,
  sessionCensusMinPerSession: 1,
  sessionCensusMinScore: 0.1,
  sessionCensusMaxQueries: 1,
  exhaustive: true,
  exhaustiveMaxRounds: 1,
  preferenceEnrichment: true,
  includeSources: true,
  annotateRelativeTime: true,
  referenceDate: NOW_MS / 1_000,
  countEntities: true,
  explanation: true,
  scoreBreakdown: true,
};
/** Options that need no stage: hits carry their breakdown anyway. */
const WITHOUT_STAGE: readonly string[] = ['scoreBreakdown'];

test('the stages read every option', () => {
  const read = new Set<string>();
  const options = new Proxy(EVERY_OPTION, {
    get: (target, name) => {
      read.add(String(name));
      return Reflect.get(target, name);
    },
    ownKeys: () => assert.fail('a copy of the options reads all of them, also those that no stage needs'),
  });
  const hits = [
    belief('a', 'Ada', 'likes', 'coffee', { score: 0.9, fields: { session_id: 's1' } }),
    belief('b', 'Ada', 'likes', 'chocolate', { score: 0.8, fields: { session_id: 's2' } }),
  ];
  const asking = context(options, { query: query({ query: 'What do Ada and Bob like?' }) });
  assert.ok(runStagesNow(hits, asking, world(hits)).hits.length > 0);
  const unread = Object.keys(EVERY_OPTION).filter((name) => !read.has(name));
  assert.deepEqual(unread, WITHOUT_STAGE, 'options that no stage of run.ts reads');
});
