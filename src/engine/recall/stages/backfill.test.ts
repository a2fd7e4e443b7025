// The stages that search for more: census, exhaustive, thin namespaces, preferences, sources.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerLater, answerNow } from '../../asking/asking.ts';
import type { GrainView } from '../../calls/grain.ts';
import type { RecallQuery } from '../../calls/recall.ts';
import { sourcesOf, subjectsOf } from './annotate.ts';
import { coverageRatio, sessionCensus } from './census.ts';
import { exhaust } from './exhaustive.ts';
import type { StageHit } from './hit.ts';
import { backfillNamespaces } from './namespaces.ts';
import { asksPreference, enrichPreferences } from './preferences.ts';
import { followUp } from './questions.ts';
import { answersOf, found, later, type StageAnswers } from './testing/answers.ts';
import { belief, grain, hashOf, hit, NOW_MS, names, query } from './testing/hits.ts';

interface World {
  readonly search?: (asked: RecallQuery) => readonly StageHit[];
  readonly namespaces?: readonly string[];
  readonly grains?: Readonly<Record<string, GrainView>>;
}

function answers({ search = () => [], namespaces = [], grains = {} }: World): StageAnswers {
  return answersOf({
    search: (asked) => found(search(asked).slice(0, asked.limit)),
    namespaces: () => ({ namespaces }),
    fetch: ({ hashes }) => ({ grains: hashes.map((hash) => grains[hash] ?? null) }),
  });
}

/** Grains of a namespace: `count` hits, scores falling from `best`. */
function inNamespace(namespace: string, count: number, best = 0.9): StageHit[] {
  return Array.from({ length: count }, (_, at) => hit({ name: `${namespace}${at}`, namespace, score: best - at / 10 }));
}

test('session_census searches sessions that the answer lacks, for two grains each, at most ten', () => {
  const namespaces = ['x', ...Array.from({ length: 30 }, (_, at) => `s${String(at).padStart(2, '0')}`)];
  const asked: (string | undefined)[] = [];
  const world = answers({
    namespaces,
    search: ({ filter, limit }) => {
      asked.push(filter.namespace);
      return inNamespace(filter.namespace ?? '', limit);
    },
  });
  const { hits, added, metadata } = answerNow(sessionCensus(inNamespace('x', 3, 0.6), query(), {}), world);
  assert.deepEqual(asked, namespaces.slice(1, 11));
  assert.equal(added.size, 20);
  assert.equal(hits.length, 23);
  assert.ok(hits.slice(3).every(({ recallSource, score }) => recallSource === 'census' && score <= 0.4));
  assert.deepEqual(
    [metadata.totalSessions, metadata.representedSessions, metadata.censusQueriesIssued, metadata.grainsAdded],
    [31, 11, 10, 20],
  );
  assert.deepEqual(metadata.sessionStats[0], { namespace: 's00', grainsFound: 2, grainsMerged: 2, topScore: 0.9 });
  assert.equal(coverageRatio(metadata), 11 / 31);
});

test('session_census_min_per_session, _min_score and _max_queries bound what it adds', () => {
  const world = answers({
    namespaces: ['a', 'b', 'c'],
    search: ({ filter }) => inNamespace(filter.namespace ?? '', 9),
  });
  const options = { sessionCensusMinPerSession: 4, sessionCensusMinScore: 0.75, sessionCensusMaxQueries: 2 };
  const { added, metadata } = answerNow(sessionCensus([], query(), options), world);
  assert.deepEqual(
    metadata.sessionStats.map(({ namespace, grainsFound, grainsMerged }) => [namespace, grainsFound, grainsMerged]),
    [
      ['a', 4, 2],
      ['b', 4, 2],
    ],
  );
  assert.equal(added.size, 4);
});

test('a census within one namespace counts only that namespace, and a hit behind the limit is a hint', () => {
  const none = answerNow(sessionCensus([], query({ filter: { namespace: 'x' } }), {}), answers({}));
  assert.deepEqual([none.metadata.totalSessions, none.metadata.censusQueriesIssued], [1, 1]);
  const asked: (string | undefined)[] = [];
  const world = answers({
    namespaces: ['a', 'b', 'z'],
    search: ({ filter }) => {
      asked.push(filter.namespace);
      return [];
    },
  });
  const hits = [...inNamespace('a', 1), ...inNamespace('z', 1, 0.2)];
  answerNow(sessionCensus(hits, query({ limit: 1 }), { sessionCensusMaxQueries: 1 }), world);
  assert.deepEqual(asked, ['z']);
});

test('exhaustive follows entities until nothing new comes, below the first ten', () => {
  const chain = ['Ada', 'Bob', 'Cleo', 'Dora'];
  const world = answers({
    search: ({ filter }) => {
      const at = chain.indexOf(filter.entity ?? '');
      return at < 0 || at + 1 >= chain.length
        ? []
        : [belief(`n${at}`, chain[at]!, 'knows', chain[at + 1]!, { score: 0.9 })];
    },
  });
  const start = [belief('start', 'Ada', 'is', 'here', { score: 0.5 })];
  const { hits, metadata } = answerNow(exhaust(start, query(), { exhaustiveMaxRounds: 5 }), world);
  assert.deepEqual(names(hits), ['start', 'n0', 'n1', 'n2']);
  assert.ok(hits.slice(1).every(({ score, recallSource }) => score === 0.45 && recallSource === 'expansion'));
  assert.equal(metadata.converged, true);
  assert.equal(metadata.expansionScoreCap, 0.45);
  assert.deepEqual(metadata.entitiesFound, ['Ada', 'here', 'Bob', 'Cleo', 'Dora']);
  assert.deepEqual([metadata.initialUniqueCount, metadata.finalUniqueCount], [1, 4]);
  assert.deepEqual(
    metadata.roundStats.map(({ round, newHashes }) => [round, newHashes]),
    [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 0],
    ],
  );
});

test('exhaustive_max_rounds ends it early, and a round adds at most twenty above 0.60', () => {
  const world = answers({
    search: ({ filter, limit }) =>
      Array.from({ length: limit }, (_, at) =>
        belief(`${filter.entity}-${at}`, `e${filter.entity}${at}`, 'r', 'o', { score: at < 15 ? 0.7 : 0.5 }),
      ),
  });
  const start = [belief('start', 'Ada', 'knows', 'Bob', { score: 0.8 })];
  const { hits, metadata } = answerNow(exhaust(start, query(), { exhaustiveMaxRounds: 1 }), world);
  assert.equal(hits.length, 21);
  assert.equal(metadata.converged, false);
  assert.deepEqual(metadata.roundStats, [
    { round: 1, queriesIssued: 2, newHashes: 20, filteredByMinScore: 10, budgetCapped: 10 },
  ]);
  assert.equal(answerNow(exhaust(start, query(), {}), world).metadata.roundsExecuted, 3);
});

test('exhaustive ends at once when nothing was found', () => {
  const { hits, metadata } = answerNow(exhaust([], query(), {}), answers({}));
  assert.deepEqual([hits.length, metadata.roundsExecuted, metadata.converged], [0, 0, true]);
  assert.equal('expansionScoreCap' in metadata, false);
});

test('min_per_namespace searches thin namespaces alone', () => {
  const world = answers({ search: ({ filter }) => inNamespace(filter.namespace ?? '', 5) });
  const hits = [...inNamespace('x', 3), ...inNamespace('y', 1, 0.3)];
  const filled = answerNow(backfillNamespaces(hits, query(), 3), world);
  assert.deepEqual(names(filled), ['x0', 'x1', 'x2', 'y0', 'y1', 'y2']);
  assert.ok(filled.slice(4).every(({ score, recallSource }) => score <= 0.3 && recallSource === 'primary'));
});

test('preference_enrichment adds what was said around a preference', () => {
  const minute = 60_000;
  const said = (name: string, ageMs: number, content: string) =>
    hit({ name, grainType: 'event', ageMs, fields: { content, session_id: 's1' } });
  const session = [said('far', 90 * minute, 'a'), said('near', 2 * minute, 'b'), said('close', minute, 'c')];
  const world = answers({ search: ({ filter }) => (filter.sessionId === 's1' ? session : []) });
  const liked = said('liked', 0, 'I prefer the window seat');
  const { hits, added } = answerNow(enrichPreferences([liked], query()), world);
  assert.deepEqual(names(hits), ['liked', 'close', 'near']);
  assert.deepEqual(added, new Set([hashOf('close'), hashOf('near')]));
  const plain = answerNow(enrichPreferences([said('plain', 0, 'The train left')], query()), world);
  assert.deepEqual(names(plain.hits), ['plain']);
});

test('a query that asks for a preference is recognised', () => {
  for (const text of ['What does Ada like to drink?', 'favourite colour', 'Can you recommend a hotel?'])
    assert.equal(asksPreference(text), true, text);
  for (const text of [undefined, '', 'When did Ada move?', 'a'.repeat(1_000_000)])
    assert.equal(asksPreference(text), false);
});

test('include_sources returns the grains that derived_from names, each once', () => {
  const source = grain({ name: 'source', fields: { content: 'Ada said so' } });
  const from = (name: string, derived: string | string[], score: number) =>
    belief(name, 'Ada', 'is', name, { score, fields: { derived_from: derived } });
  const hits = [from('a', source.hash, 0.9), from('b', [source.hash, 'f'.repeat(64)], 0.5), from('c', 'no hash', 0.4)];
  const { sources = [] } = answerNow(sourcesOf(hits), answers({ grains: { [source.hash]: source } }));
  assert.deepEqual(names(sources), ['source']);
  assert.equal(sources[0]?.score, 0.9);
  assert.deepEqual(answerNow(sourcesOf([hit()]), answers({})), { sources: [] });
});

test('count_entities counts distinct subjects in the order of the hits', () => {
  const hits = [belief('1', 'Bob', 'r', 'o'), belief('2', 'Ada', 'r', 'o'), belief('3', 'Bob', 'x', 'y'), hit()];
  assert.deepEqual(subjectsOf(hits), ['Bob', 'Ada']);
});

test('delayed answers have the same result as immediate ones', async () => {
  const world = answers({ namespaces: ['a', 'b'], search: ({ filter }) => inNamespace(filter.namespace ?? '', 2) });
  const waited = await answerLater(sessionCensus([], query(), {}), later(world));
  assert.deepEqual(waited, answerNow(sessionCensus([], query(), {}), world));
  assert.ok(NOW_MS > 0);
});

test('a further question of the same words keeps their vector, and one of other words has none', () => {
  const vector = { bytes: new Uint8Array(8), of: 'tea' };
  const first = query({ query: 'tea', vector });
  assert.equal(followUp(first, { limit: 2 }).vector, vector);
  assert.equal(followUp(first, { limit: 2, text: 'coffee' }).vector, undefined);
  assert.equal(followUp(first, { limit: 2, text: null }).vector, undefined);
  assert.equal(followUp(first, { limit: 2, wordsOnly: true }).vector, undefined);
});
