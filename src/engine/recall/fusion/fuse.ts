// Fuses the rankings of several legs into one. Pure: runs in the engine for one partition and on the main thread for
// several, on the same candidates.
import type { Candidate, RecallBreakdown, RecallQuery } from '../../calls/recall.ts';
import { knownOf, leadOf, placeOf, RELEVANCE } from '../legs/relevance.ts';
import { mostByWords, NO_TERMS, TextLeg, WEIGHTS } from '../legs/text-leg.ts';

/** Reciprocal rank fusion's constant (Cormack, Clarke and Buettcher, SIGIR 2009). */
export const RRF_K = 60;

export interface Fused<C extends Candidate = Candidate> {
  readonly candidate: C;
  /** 0 to 1; equal to `breakdown.final`. */
  readonly score: number;
  /** The probability that it bears on the query; absent for a hit by structure only. */
  readonly relevance?: number | undefined;
  /** Equal to `breakdown.rrf`. */
  readonly rrfScore: number;
  /** Rank by words only, from 1; absent if no word matches. */
  readonly bm25Rank?: number | undefined;
  readonly breakdown: RecallBreakdown;
}

type FusedQuery = Pick<RecallQuery, 'query' | 'structural' | 'limit' | 'wordsOnly'>;
type Partitioned = Candidate & { readonly partition?: number | undefined };

/**
 * Returns at most `limit` hits, best first. Ties are ordered newest first, then by hash. The scores depend on the legs.
 * Structure only, or a query of `field:term` only: 1 for each hit. Words only: BM25 divided by the best BM25. Text leg
 * only: its score (recall/legs/text-leg.ts). Several legs: reciprocal rank fusion, divided by the score of a
 * candidate that is first in every leg. `covered`: the share of the query's idf that a candidate holds; asked of the
 * best by words only.
 */
export function fuse<C extends Partitioned>(
  candidates: readonly C[],
  query: FusedQuery,
  covered: (candidate: C) => number = () => 0,
): Fused<C>[] {
  const inText = query.query === undefined ? [] : allThat(candidates, isInTextLeg);
  const coveredOnce = once(covered);
  const text = query.wordsOnly === true ? wordsAlone(inText) : textLeg(inText, coveredOnce);
  const isMixed = query.query !== undefined && query.structural;
  const ranked = isMixed
    ? fuseLegs(candidates, query, text)
    : inText.length > 0
      ? bestOf(inText, text.scores, query.limit).map((one, i) => alone(one, text, i))
      : bestOf(candidates, new Float64Array(candidates.length).fill(1), query.limit).map(structuralOnly);
  return withRanks(withRelevance(ranked, text, coveredOnce), inText);
}

/** The list itself if all its members pass, as they mostly do. */
function allThat<C>(list: readonly C[], passes: (one: C) => boolean): readonly C[] {
  return list.every(passes) ? list : list.filter(passes);
}

/** The best by words is asked for twice. */
function once<C>(covered: (candidate: C) => number): (candidate: C) => number {
  let known: { readonly candidate: C; readonly share: number } | undefined;
  return (candidate) => {
    if (known?.candidate !== candidate) known = { candidate, share: covered(candidate) };
    return known.share;
  };
}

/** Adds to each hit of the text leg how likely it bears on the query. */
function withRelevance<C extends Candidate>(
  hits: readonly Fused<C>[],
  text: ScoredLeg<C>,
  covered: (candidate: C) => number,
): readonly Fused<C>[] {
  const { candidates, scores } = text;
  if (hits.length === 0 || candidates.length === 0) return hits;
  const attained = new Float64Array(candidates.length);
  let bestCosine: number | undefined;
  let first: C | undefined;
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[i]!;
    attained[i] = text.attained(candidate, scores[i]!);
    const { cosine, bm25 = 0 } = candidate;
    if (cosine !== undefined && (bestCosine === undefined || cosine > bestCosine)) bestCosine = cosine;
    if (bm25 > (first?.bm25 ?? 0) || (first !== undefined && bm25 === first.bm25 && newestFirst(candidate, first) < 0))
      first = candidate;
  }
  attained.sort();
  const tenth = attained.at(-RELEVANCE.leadOver);
  const known = knownOf({ words: first === undefined ? 0 : covered(first), cosine: bestCosine });
  return hits.map((hit, i) => {
    const { candidate, score, rrfScore, breakdown } = hit;
    if (!isInTextLeg(candidate)) return hit;
    const own = text.attained(candidate, text.score(candidate));
    const lead = leadOf(own, tenth, bestCosine !== undefined);
    const cosine = bestCosine === undefined ? undefined : (candidate.cosine ?? RELEVANCE.unknownCosine);
    const relevance = known * placeOf({ rank: i + 1, lead, cosine });
    return { candidate, score, relevance, rrfScore, breakdown };
  });
}

interface Scored<C> {
  readonly candidate: C;
  readonly score: number;
}

/** A loop, because Float64Array.from takes several times as long. */
function scoresOf<C>(candidates: readonly C[], scoreOf: (candidate: C) => number): Float64Array {
  const scores = new Float64Array(candidates.length);
  for (let i = 0; i < scores.length; i++) scores[i] = scoreOf(candidates[i]!);
  return scores;
}

interface ScoredLeg<C> {
  readonly candidates: readonly C[];
  /** Of the candidates, in their order. */
  readonly scores: Float64Array;
  score(candidate: C): number;
  /** The share of the highest possible score of its kind that a candidate with this score has. */
  attained(candidate: C, score: number): number;
  terms(candidate: C): Omit<RecallBreakdown, 'rrf' | 'final'>;
}

function isInTextLeg({ bm25, cosine, outsideText }: Candidate): boolean {
  return outsideText !== true && (bm25 !== undefined || cosine !== undefined);
}

function textLeg<C extends Partitioned>(candidates: readonly C[], covered: (candidate: C) => number): ScoredLeg<C> {
  const leg = new TextLeg(candidates, covered);
  return {
    candidates,
    scores: scoresOf(candidates, (candidate) => leg.score(candidate)),
    score: (candidate) => leg.score(candidate),
    attained: (candidate, score) => leg.attained(candidate, score),
    terms: (candidate) => leg.terms(candidate),
  };
}

/** Scores by BM25 and wishes only, as a share of the best. */
function wordsAlone<C extends Candidate>(candidates: readonly C[]): ScoredLeg<C> {
  const wordsOf = ({ bm25 = 0, wishes }: C): number => (wishes === undefined ? bm25 : bm25 * wishes.factor);
  const best = candidates.reduce((most, candidate) => Math.max(most, wordsOf(candidate)), 0);
  const scoreOf = (candidate: C): number => (best === 0 ? 0 : wordsOf(candidate) / best);
  return {
    candidates,
    scores: scoresOf(candidates, scoreOf),
    score: scoreOf,
    // As the text leg would score its words alone.
    attained: (candidate, score) => (score * WEIGHTS.bm25) / mostByWords(candidate.turn !== undefined),
    terms: (candidate) => ({ ...NO_TERMS, bm25: scoreOf(candidate) }),
  };
}

function structuralOnly<C extends Candidate>({ candidate, score }: Scored<C>): Fused<C> {
  const rrf = 1 / (RRF_K + 1);
  return { candidate, score, rrfScore: rrf, breakdown: { ...NO_TERMS, rrf, final: score } };
}

function alone<C extends Candidate>({ candidate, score }: Scored<C>, leg: ScoredLeg<C>, i: number): Fused<C> {
  const rrf = 1 / (RRF_K + i + 1);
  return { candidate, score, rrfScore: rrf, breakdown: breakdownOf(leg.terms(candidate), rrf, score) };
}

/** Lists the members, because a spread costs a microsecond a hit. */
function breakdownOf(terms: Omit<RecallBreakdown, 'rrf' | 'final'>, rrf: number, final: number): RecallBreakdown {
  const { bm25, phrase, vector, near, answer, session, pooled, role, speaker, time, self } = terms;
  return { bm25, phrase, vector, near, answer, session, pooled, role, speaker, time, self, rrf, final };
}

/** Fuses the text leg with the structural leg. */
function fuseLegs<C extends Candidate>(candidates: readonly C[], query: FusedQuery, text: ScoredLeg<C>): Fused<C>[] {
  // A leg without results still counts, so the first of the other leg gets half of the maximum.
  const legs: readonly (readonly C[])[] = [
    bestOf(text.candidates, text.scores, text.candidates.length).map(({ candidate }) => candidate),
    candidates.filter((candidate) => candidate.structural === true).sort(newestFirst),
  ];
  const sums = new Map<C, number>();
  for (const leg of legs)
    leg.forEach((candidate, i) => {
      sums.set(candidate, (sums.get(candidate) ?? 0) + 1 / (RRF_K + i + 1));
    });
  const scores = scoresOf([...sums.values()], (rrf) => Math.min(1, (rrf * (RRF_K + 1)) / legs.length));
  const inText = new Set(text.candidates);
  return bestOf([...sums.keys()], scores, query.limit).map(({ candidate, score }) => {
    const rrf = sums.get(candidate)!; // one of its keys
    const terms = inText.has(candidate) ? text.terms(candidate) : NO_TERMS;
    return { candidate, score, rrfScore: rrf, breakdown: { ...terms, rrf, final: score } };
  });
}

/** With more hits than this, sorting all candidates is quicker than inserting the best one by one. */
const INSERTED_MAX = 100;

/** The `limit` best candidates, best first. */
function bestOf<C extends Candidate>(candidates: readonly C[], scores: Float64Array, limit: number): Scored<C>[] {
  if (limit < 1) return [];
  if (limit <= INSERTED_MAX) return insertedBest(candidates, scores, limit);
  const all = candidates.map((candidate, i): Scored<C> => ({ candidate, score: scores[i]! }));
  return all.sort((a, b) => b.score - a.score || newestFirst(a.candidate, b.candidate)).slice(0, limit);
}

/** Most candidates are compared with the last of the best alone, and get no object. */
function insertedBest<C extends Candidate>(candidates: readonly C[], scores: Float64Array, limit: number): Scored<C>[] {
  const best: Scored<C>[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    if (score < last) continue;
    const candidate = candidates[i]!;
    let low = 0;
    let high = best.length;
    // Legs mostly bring their best candidates first.
    if (high > 0 && !isBefore(candidate, score, best[high - 1]!)) low = high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(candidate, score, best[middle]!)) high = middle;
      else low = middle + 1;
    }
    if (low === limit) continue;
    if (best.length === limit) best.pop();
    best.splice(low, 0, { candidate, score });
    if (best.length === limit) last = best[limit - 1]!.score;
  }
  return best;
}

function isBefore<C extends Candidate>(candidate: C, score: number, other: Scored<C>): boolean {
  return score === other.score ? newestFirst(candidate, other.candidate) < 0 : score > other.score;
}

/** Adds each hit's rank by BM25, from 1. Ties are ranked newest first, then by hash. */
function withRanks<C extends Candidate>(hits: readonly Fused<C>[], candidates: readonly C[]): Fused<C>[] {
  if (hits.length === 0 || candidates.length === 0) return [...hits];
  const scores = new Float64Array(candidates.length);
  for (let i = 0; i < scores.length; i++) scores[i] = candidates[i]!.bm25 ?? 0;
  scores.sort();
  return hits.map((hit) => {
    const { bm25 = 0, outsideText } = hit.candidate;
    if (bm25 <= 0 || outsideText === true) return hit;
    const first = firstAbove(scores, bm25);
    let rank = scores.length - first + 1;
    // Only a tie needs a scan of all candidates. Ties are rare.
    if (first > 1 && scores[first - 2] === bm25)
      for (const other of candidates) if (other.bm25 === bm25 && newestFirst(other, hit.candidate) < 0) rank += 1;
    const { candidate, score, relevance, rrfScore, breakdown } = hit;
    return { candidate, score, relevance, rrfScore, bm25Rank: rank, breakdown };
  });
}

function firstAbove(ascending: Float64Array, score: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! <= score) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Creation time descending, then hash ascending. Reads the hash only for a tie, because it may be a getter that does
 * work.
 */
export function newestFirst(a: Candidate, b: Candidate): number {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs;
  return a === b ? 0 : a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0;
}
