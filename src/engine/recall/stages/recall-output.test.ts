import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerNow } from '../../asking/asking.ts';
import { ANSWER_BYTES_MAX, FURTHER_SOURCES_MAX } from '../../base/limits.ts';
import type { GrainView } from '../../calls/grain.ts';
import type { RecallHit } from '../../calls/recall.ts';
import { recallStaged } from './recall-output.ts';
import { answersOf } from './testing/answers.ts';

const BREAKDOWN = {
  ...{
    bm25: 0,
    phrase: 0,
    vector: 0,
    near: 0,
    answer: 0,
    session: 0,
    pooled: 0,
    role: 0,
    speaker: 0,
    time: 0,
    self: 0,
  },
  ...{ rrf: 0, final: 1 },
};

/** 500 of these fit into one answer without their further sources, but not with them. */
function known(at: number): RecallHit {
  const hash = at.toString(16).padStart(64, '0');
  const grain: GrainView = {
    hash,
    grainType: 'belief',
    fields: { subject: 'ada', relation: 'says', object: 'x'.repeat(30_000) },
    createdAt: at,
    createdAtMs: at * 1000,
    namespace: '',
    sources: Array.from({ length: FURTHER_SOURCES_MAX }, () => hash),
    sizeBytes: 30_100,
  };
  return { grain, superseded: false, score: 1, rrfScore: 0, breakdown: BREAKDOWN };
}

test('further sources count towards the size of an answer', () => {
  const hits = Array.from({ length: 500 }, (_, at) => known(at));
  const query = { query: 'ada', limit: 500, candidateLimit: 500, filter: {}, structural: false };
  const found = { hits, total: 500, coverage: null };
  const answer = answerNow(recallStaged(query, { nowMs: 0, reranks: false }), answersOf({ search: () => found }));
  const bytes = JSON.stringify(answer.hits.map(({ grain }) => grain)).length;
  assert.ok(bytes <= ANSWER_BYTES_MAX, `${bytes} bytes`);
  assert.ok(bytes > 0.9 * ANSWER_BYTES_MAX, `${bytes} bytes`);
  assert.equal(answer.truncated, true);
});
