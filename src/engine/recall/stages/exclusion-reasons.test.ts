// The reasons that stages give for exclusions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerNow } from '../../asking/asking.ts';
import type { RecallOptions } from '../../calls/recall.ts';
import { EXCLUSION_REASONS } from '../../govern/trail/exclusions.ts';
import { EXCLUDED_NAMED_MAX, ExclusionTally } from '../exclusion-tally.ts';
import type { StageHit } from './hit.ts';
import { stages } from './run.ts';
import { answersOf, found } from './testing/answers.ts';
import { belief, hashOf, hit, NOW_MS, query } from './testing/hits.ts';

function excludedBy(hits: readonly StageHit[], options: RecallOptions, asked: Parameters<typeof query>[0] = {}) {
  const excluded = new ExclusionTally();
  const context = { query: query(asked), options, nowMs: NOW_MS, excluded };
  const answers = answersOf({ vectors: ({ hashes }) => ({ vectors: hashes.map(() => undefined) }) });
  answerNow(stages(hits, context), answers);
  return excluded;
}

const tea = (name: string, given: Parameters<typeof belief>[4] = {}): StageHit =>
  belief(name, 'Ada', 'drinks', 'tea', given);
const milk = (name: string, given: Parameters<typeof belief>[4] = {}): StageHit =>
  belief(name, 'Ada', 'drinks', 'milk', given);

const ROWS: readonly (readonly [reason: string, hits: readonly StageHit[], options: RecallOptions, asked?: object])[] =
  [
    ['subject_mismatch', [tea('a'), belief('gone', 'Bob', 'drinks', 'tea')], { subjectContains: 'ad' }],
    ['object_mismatch', [tea('a'), milk('gone')], { objectContains: 'te' }],
    ['contradicted_filtered', [tea('a'), milk('gone', { ageMs: 9 })], { includeContradicted: false }],
    ['contradicted', [tea('a'), milk('gone', { ageMs: 9 })], { detectContradictions: true }, { limit: 1 }],
    ['supersession_demoted', [tea('a'), milk('gone', { superseded: true })], {}, { limit: 1 }],
    ['conflict_resolved', [tea('a'), milk('gone', { ageMs: 9 })], { conflictResolution: true }],
    [
      'conflict_resolved',
      [tea('a', { namespace: 'x/y' }), milk('gone', { namespace: 'x' })],
      {},
      { filter: { scope: { line: ['x', 'x/y'] } } },
    ],
    ['deduplicated', [tea('a'), tea('gone', { ageMs: 9 })], { deduplicate: true }],
    ['below_min_score', [tea('a', { relevance: 0.9 }), milk('gone', { relevance: 0.1 })], { minScore: 0.5 }],
    [
      'namespace_capped',
      [tea('a', { namespace: 'x' }), milk('gone', { namespace: 'y', score: 0.1 })],
      { maxNamespaces: 1 },
    ],
    [
      'diversity_filtered',
      [tea('a', { score: 0.9 }), tea('gone', { score: 0.8 }), belief('b', 'Bob', 'likes', 'chess', { score: 0.7 })],
      { diversityLambda: 0.3 },
      { limit: 2 },
    ],
    ['limit_exceeded', [tea('a', { score: 0.9 }), milk('gone')], {}, { limit: 1 }],
  ];

for (const [reason, hits, options, asked] of ROWS)
  test(`hits removed for ${reason} are counted and named (${JSON.stringify(options)})`, () => {
    const { counts, named } = excludedBy(hits, options, asked ?? {});
    assert.deepEqual(counts, { [reason]: 1 });
    assert.deepEqual(named, [{ hash: hashOf('gone'), reason }]);
  });

test('hits that an exhaustive recall had no room for, or found too weak, are counted', () => {
  const excluded = new ExclusionTally();
  const things = Array.from({ length: 25 }, (_, at) =>
    belief(`f${at}`, 'Ada', 'likes', `thing ${at}`, { strength: at < 23 ? 0.9 : 0.1 }),
  );
  const context = { query: query({ limit: 500 }), options: { exhaustive: true }, nowMs: NOW_MS, excluded };
  answerNow(stages([tea('a')], context), answersOf({ search: () => found(things) }));
  assert.ok((excluded.counts.budget_capped ?? 0) >= 3, JSON.stringify(excluded.counts));
  assert.ok((excluded.counts.below_min_score ?? 0) >= 2, JSON.stringify(excluded.counts));
});

test('there are 28 reasons, with a bound on named grains but not on counted ones', () => {
  assert.equal(new Set(EXCLUSION_REASONS).size, 28);
  const hits = Array.from({ length: EXCLUDED_NAMED_MAX + 50 }, (_, at) => hit({ name: `h${at}` }));
  const { counts, named } = excludedBy(hits, {}, { limit: 10 });
  assert.deepEqual(counts, { limit_exceeded: EXCLUDED_NAMED_MAX + 40 });
  assert.equal(named.length, EXCLUDED_NAMED_MAX);
});
