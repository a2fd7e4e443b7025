// Rankings in, one ranking out. Pure: it runs in the engine for a memory with one partition and on the main thread
// for several, on the same candidates.
import type { Candidate, RecallQuery } from '../calls.ts';

/** Reciprocal rank fusion's constant (Cormack, Clarke and Buettcher, SIGIR 2009). */
export const RRF_K = 60;

export interface Fused<C extends Candidate = Candidate> {
  readonly candidate: C;
  /** 0 to 1. */
  readonly score: number;
  readonly rrfScore: number;
  /** Rank in the word leg from 1; absent when words did not find it. */
  readonly bm25Rank?: number;
}

/**
 * Structure only (nothing but `field:term` in the query too): score 1 each, newest first. Words only: BM25 over the best BM25 of the query. Both: reciprocal rank
 * fusion of the two legs, divided by what a candidate first in both would get. Ties: newest first, then by hash.
 */
export function fuse<C extends Candidate>(
  candidates: readonly C[],
  query: Pick<RecallQuery, 'query' | 'structural' | 'limit'>,
): Fused<C>[] {
  const fused = fusedLegs(candidates, query);
  fused.sort(byScore);
  return fused.slice(0, query.limit);
}

function fusedLegs<C extends Candidate>(
  candidates: readonly C[],
  query: Pick<RecallQuery, 'query' | 'structural'>,
): Fused<C>[] {
  if (query.query === undefined) return candidates.map(structuralOnly);
  if (query.structural) return fuseLegs(candidates);
  const hasWords = candidates.some(({ bm25 }) => bm25 !== undefined);
  return hasWords ? byWords(candidates) : candidates.map(structuralOnly);
}

function structuralOnly<C extends Candidate>(candidate: C): Fused<C> {
  return { candidate, score: 1, rrfScore: 1 / (RRF_K + 1) };
}

function byWords<C extends Candidate>(candidates: readonly C[]): Fused<C>[] {
  const ranked = wordRanking(candidates);
  const best = ranked[0]?.bm25 ?? 1;
  return ranked.map((candidate, i) => ({
    candidate,
    score: (candidate.bm25 ?? 0) / best,
    rrfScore: 1 / (RRF_K + i + 1),
    bm25Rank: i + 1,
  }));
}

function fuseLegs<C extends Candidate>(candidates: readonly C[]): Fused<C>[] {
  const wordRanks = new Map(wordRanking(candidates).map((candidate, i) => [candidate, i + 1]));
  const structural = candidates.filter((candidate) => candidate.structural === true).sort(newestFirst);
  const structuralRanks = new Map(structural.map((candidate, i) => [candidate, i + 1]));
  return candidates.map((candidate) => {
    const word = wordRanks.get(candidate);
    const structure = structuralRanks.get(candidate);
    const rrfScore =
      (word === undefined ? 0 : 1 / (RRF_K + word)) + (structure === undefined ? 0 : 1 / (RRF_K + structure));
    return {
      candidate,
      score: (rrfScore * (RRF_K + 1)) / 2,
      rrfScore,
      ...(word === undefined ? {} : { bm25Rank: word }),
    };
  });
}

function wordRanking<C extends Candidate>(candidates: readonly C[]): C[] {
  return candidates
    .filter((candidate) => candidate.bm25 !== undefined)
    .sort((a, b) => b.bm25! - a.bm25! || newestFirst(a, b));
}

function byScore(a: Fused, b: Fused): number {
  return b.score - a.score || newestFirst(a.candidate, b.candidate);
}

/** Creation time descending, then hash ascending. A candidate's hash may be a getter: it is only asked for in a tie. */
function newestFirst(a: Candidate, b: Candidate): number {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs;
  return a === b ? 0 : a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0;
}
