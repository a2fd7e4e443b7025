// Converts between the hits of a recall and those of the stages.
import { defined } from '../../base/defined.ts';
import type { RecallBreakdown, RecallHit, RecallQuery } from '../../calls/recall.ts';
import { type StageHit, TEXT_TERMS, type TextTerm } from './hit.ts';

/** Converts the hits of a recall without stages; `query` is the query that they answer. */
export function stageHits(found: readonly RecallHit[], query: RecallQuery): StageHit[] {
  return found.map((hit) => stageHit(hit, query));
}

/** Converts a fused hit; `query` is the query that it answers. */
export function stageHit(found: RecallHit, query: RecallQuery): StageHit {
  const { grain, score, relevance, breakdown, bm25Rank, cosine, evidence, superseded, unmet } = found;
  const inText = TEXT_TERMS.some((term) => breakdown[term] !== 0);
  const count = query.query !== undefined && query.structural ? 2 : 1;
  const terms = Object.fromEntries(TEXT_TERMS.map((term) => [term, breakdown[term]])) as Record<TextTerm, number>; // of all of them
  return {
    grain,
    score,
    breakdown: {
      base: score,
      // A score of the text leg alone is explained by its terms; any other score only by its score by rank.
      rrf: inText && count === 1 ? undefined : score,
      legs: { sum: breakdown.rrf, count },
      bm25Rank,
      vectorScore: cosine,
      terms: inText ? terms : undefined,
      changes: {},
    },
    judged: query.query !== undefined && (inText || !query.structural),
    relevance,
    strength: evidence,
    superseded,
    unmet,
    recallSource: 'primary',
  };
}

/** Converts a hit back after the stages. */
export function recallHit(hit: StageHit): RecallHit {
  const {
    grain,
    score,
    relevance,
    breakdown,
    strength,
    superseded,
    unmet,
    recallSource,
    conflictStatus,
    relativeTime,
    explanation,
  } = hit;
  const { base, rrf, legs, bm25Rank, vectorScore, terms, changes } = breakdown;
  const shown = Object.fromEntries(TEXT_TERMS.map((term) => [term, terms?.[term] ?? 0])) as Record<TextTerm, number>; // of all of them
  const sum = legs?.sum ?? 0;
  const account: RecallBreakdown = { ...shown, rrf: sum, final: score };
  return defined({
    grain,
    score,
    relevance,
    breakdown: account,
    rrfScore: sum,
    superseded,
    unmet,
    evidence: strength,
    bm25Rank,
    cosine: vectorScore,
    stage: defined({
      base,
      byRanks: rrf !== undefined,
      changes,
      recallSource,
      conflictStatus,
      relativeTime,
      explanation,
    }),
  });
}
