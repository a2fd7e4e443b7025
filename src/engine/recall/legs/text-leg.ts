// The text leg's score (spec: ranking of text, section 3): the sum of terms for words, pairs, vectors and a turn's
// context. Pure: runs in the engine for one partition and on the main thread for several, on the same candidates, so
// terms are normalised over all of them. Each term has its own function.
import { assert } from '../../base/assert.ts';
import type { Candidate, CandidateTurn, NeighbourScore, RecallBreakdown } from '../../calls/recall.ts';

/** Weights of the score, chosen by experiments on chats and abstracts; see the spec. */
export const WEIGHTS = {
  bm25: 1,
  phrase: 0.3,
  vector: 1,
  /** For each of the two neighbours. */
  near: 0.2,
  answer: 0.3,
  session: 0.2,
  /** Only beside vectors: by words alone it repeats what the other terms say. */
  pooled: 0.2,
  role: 0.4,
  speaker: 0.4,
  time: 0.2,
  self: 0.1,
} as const;

/** The maximum score; a score is divided by it. */
export const SCORE_MAX = 5.4;

const { bm25, phrase, vector, near, answer, session, pooled, role, speaker, time, self } = WEIGHTS;
assert(
  Math.abs(mostOf({ isTurn: true, vectorWeight: 1, hasRoles: true }) - SCORE_MAX) < 1e-9,
  'the weights add up to the most that a score can be',
);

/** The most that a grain can score before the division; without vectors, `vectorWeight` is 0. */
function mostOf({ isTurn, vectorWeight, hasRoles }: Attainable): number {
  const hybrid = bm25 + vectorWeight * vector;
  if (!isTurn) return hybrid + phrase + (hasRoles ? role : 0);
  const around = hybrid * (2 * near + answer + session) + (vectorWeight === 0 ? 0 : pooled);
  return hybrid + phrase + around + role + speaker + time + self;
}

/** The most that words alone can bring a grain. */
export function mostByWords(isTurn: boolean): number {
  return mostOf({ isTurn, vectorWeight: 0, hasRoles: false });
}

interface Attainable {
  readonly isTurn: boolean;
  readonly vectorWeight: number;
  /** Grains that are no turns get the value of the role beside turns. */
  readonly hasRoles: boolean;
}

/** The bits of `CandidateTurn.turnFlags`. */
export const TURN_FLAGS = {
  /** Not said by an assistant. */
  notAssistant: 1,
  /** The query names its speaker. */
  named: 2,
  /** The query asks for a time and the turn contains one. */
  time: 4,
  self: 8,
  /** The previous turn is a question by another speaker. */
  answers: 16,
} as const;

/** The eleven terms, each divided by SCORE_MAX. */
export type TextTerms = Omit<RecallBreakdown, 'rrf' | 'final'>;

export const NO_TERMS: TextTerms = {
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
};

/** Scales a value of 0 to 1 by its weight and the maximum score. */
const share = (weight: number, value: number): number => (weight * value) / SCORE_MAX;

export const bm25Term = (words: number): number => share(WEIGHTS.bm25, words);
export const phraseTerm = (pairs: number): number => share(WEIGHTS.phrase, pairs);
/** `cosine` is normalised and has the weight of the vectors: see `vectorWeight`. */
export const vectorTerm = (cosine: number): number => share(WEIGHTS.vector, cosine);
/** From words + vector of the previous and next turns; 0 for a missing one. */
export const nearTerm = (before: number, after: number): number => share(WEIGHTS.near, before + after);
/** From words + vector of the previous turn. */
export const answerTerm = (before: number, turnFlags: number): number =>
  (turnFlags & TURN_FLAGS.answers) === 0 ? 0 : share(WEIGHTS.answer, before);
/** From the best words + vector of the session. */
export const sessionTerm = (best: number): number => share(WEIGHTS.session, best);
/** From the BM25 of the words of the whole session, as a share of the best session's. */
export const pooledTerm = (words: number): number => share(WEIGHTS.pooled, words);
export const roleTerm = (turnFlags: number): number => flag(WEIGHTS.role, turnFlags & TURN_FLAGS.notAssistant);
export const speakerTerm = (turnFlags: number): number => flag(WEIGHTS.speaker, turnFlags & TURN_FLAGS.named);
export const timeTerm = (turnFlags: number): number => flag(WEIGHTS.time, turnFlags & TURN_FLAGS.time);
export const selfTerm = (turnFlags: number): number => flag(WEIGHTS.self, turnFlags & TURN_FLAGS.self);

const flag = (weight: number, mark: number): number => (mark === 0 ? 0 : share(weight, 1));

/** Normalisation values over the candidates of all partitions. */
interface Norms {
  readonly bestWords: number;
  readonly bestPairs: number;
  readonly leastCosine: number;
  /** The value, 0 to 1, for a unit without a vector when others have one. Computed on first use. */
  readonly neutral: () => number;
  /** The best cosine; 0 without vectors. */
  readonly bestCosine: number;
  readonly hasVectors: boolean;
  /** Weight of the vectors beside the words, 0 to 1: see `vectorWeight`. */
  readonly vectorWeight: number;
  /** The best pooled BM25 of a session; 0 without vectors, because the term then stays out. */
  readonly bestPooled: number;
  /** Best words + vector by session. */
  readonly sessions: ReadonlyMap<number, number>;
  /** True if some candidate is a turn: other grains then get neutral values. */
  readonly hasTurns: boolean;
}

/** A candidate with its partition, because session numbers are local to a partition. */
type Scorable = Candidate & { readonly partition?: number | undefined };

/** Scores the candidates of the text leg, which are those with a `bm25`. */
export class TextLeg<C extends Scorable = Scorable> {
  readonly candidates: readonly C[];
  readonly #norms: Norms;

  /** `covered`: the share of the query's idf that a candidate holds; asked of the best by words only. */
  constructor(candidates: readonly C[], covered: (candidate: C) => number = () => 0) {
    this.candidates = candidates;
    this.#norms = normsOf(candidates, covered);
  }

  /** The share of the highest possible score of its kind that a candidate has. */
  attained(candidate: C, score: number): number {
    const { vectorWeight, hasTurns } = this.#norms;
    const isTurn = candidate.turn !== undefined;
    return (score * SCORE_MAX) / mostOf({ isTurn, vectorWeight, hasRoles: hasTurns });
  }

  /** The score, 0 to 1. Bit-identical to the sum of `terms` in their order. */
  score(candidate: C): number {
    if (candidate.wishes !== undefined) return Math.min(1, sumOfTerms(this.terms(candidate)));
    const norms = this.#norms;
    const words = wordsOf(candidate, norms);
    const { turn } = candidate;
    const plain = bm25Term(words) + phraseTerm(pairsOf(candidate, norms));
    const cosine = cosineOf(candidate, norms);
    if (turn === undefined) return Math.min(1, plain + vectorTerm(cosine) + neutralRole(norms));
    const { turnFlags } = turn;
    const before = hybridOf(turn.before, norms);
    const sum =
      plain +
      vectorTerm(cosine) +
      nearTerm(before, hybridOf(turn.after, norms)) +
      answerTerm(before, turnFlags) +
      sessionTerm(norms.sessions.get(sessionKey(candidate)) ?? 0) +
      pooledTerm(pooledOf(turn, norms)) +
      roleTerm(turnFlags) +
      speakerTerm(turnFlags) +
      timeTerm(turnFlags) +
      selfTerm(turnFlags);
    return Math.min(1, sum);
  }

  /** The terms of the score. */
  terms(candidate: C): TextTerms {
    const terms = this.#plainTerms(candidate);
    return candidate.wishes === undefined ? terms : scaled(terms, candidate.wishes.factor);
  }

  #plainTerms(candidate: C): TextTerms {
    const norms = this.#norms;
    const { turn } = candidate;
    const isTurn = turn !== undefined;
    const turnFlags = turn?.turnFlags ?? 0;
    const before = hybridOf(turn?.before, norms);
    return {
      bm25: bm25Term(wordsOf(candidate, norms)),
      phrase: phraseTerm(pairsOf(candidate, norms)),
      vector: vectorTerm(cosineOf(candidate, norms)),
      near: nearTerm(before, hybridOf(turn?.after, norms)),
      answer: answerTerm(before, turnFlags),
      session: isTurn ? sessionTerm(norms.sessions.get(sessionKey(candidate)) ?? 0) : 0,
      pooled: isTurn ? pooledTerm(pooledOf(turn, norms)) : 0,
      role: isTurn ? roleTerm(turnFlags) : neutralRole(norms),
      speaker: speakerTerm(turnFlags),
      time: timeTerm(turnFlags),
      self: selfTerm(turnFlags),
    };
  }
}

function scaled(terms: TextTerms, factor: number): TextTerms {
  return {
    bm25: terms.bm25 * factor,
    phrase: terms.phrase * factor,
    vector: terms.vector * factor,
    near: terms.near * factor,
    answer: terms.answer * factor,
    session: terms.session * factor,
    pooled: terms.pooled * factor,
    role: terms.role * factor,
    speaker: terms.speaker * factor,
    time: terms.time * factor,
    self: terms.self * factor,
  };
}

/** The sum of terms, in the same order of additions as `TextLeg.score`. */
export function sumOfTerms(terms: TextTerms): number {
  return (
    terms.bm25 +
    terms.phrase +
    terms.vector +
    terms.near +
    terms.answer +
    terms.session +
    terms.pooled +
    terms.role +
    terms.speaker +
    terms.time +
    terms.self
  );
}

function normsOf<C extends Scorable>(candidates: readonly C[], covered: (candidate: C) => number): Norms {
  let bestWords = 0;
  let bestPairs = 0;
  let bestPooled = 0;
  let leastCosine = Number.POSITIVE_INFINITY;
  let bestCosine = Number.NEGATIVE_INFINITY;
  let hasTurns = false;
  for (const { bm25: words = 0, phrase: pairs = 0, cosine, turn } of candidates) {
    if (words > bestWords) bestWords = words;
    if (pairs > bestPairs) bestPairs = pairs;
    if (turn !== undefined) {
      hasTurns = true;
      if (turn.pooled !== undefined && turn.pooled > bestPooled) bestPooled = turn.pooled;
    }
    if (cosine === undefined) continue;
    if (cosine < leastCosine) leastCosine = cosine;
    if (cosine > bestCosine) bestCosine = cosine;
  }
  const hasVectors = bestCosine !== Number.NEGATIVE_INFINITY;
  const sessions = new Map<number, number>();
  let known: number | undefined;
  const neutral = (): number => {
    known ??= hasVectors ? normalised(medianCosine(candidates), leastCosine, bestCosine) : 0;
    return known;
  };
  const plain: Norms = {
    bestWords,
    bestPairs,
    leastCosine,
    bestCosine,
    neutral,
    hasVectors,
    vectorWeight: hasVectors ? 1 : 0,
    bestPooled: hasVectors ? bestPooled : 0,
    sessions,
    hasTurns,
  };
  const norms = hasVectors ? { ...plain, vectorWeight: vectorWeight(candidates, plain, covered) } : plain;
  if (!hasTurns) return norms;
  for (const candidate of candidates) {
    if (candidate.turn === undefined || candidate.turn.session === 0) continue;
    const key = sessionKey(candidate);
    sessions.set(key, Math.max(sessions.get(key) ?? 0, hybridOf(candidate, norms)));
  }
  return norms;
}

/** A hit that holds the whole question can be overruled by vectors of half the weight; one that holds half, of 7/8. */
const COVERED_DISCOUNT = 0.5;

/**
 * The weight of the vectors. It is 1 if the best hit by words is also the best by words and vectors together. If vectors
 * would put another one before it, they count the less, the more of the question that hit holds.
 */
function vectorWeight<C extends Scorable>(
  candidates: readonly C[],
  norms: Norms,
  covered: (candidate: C) => number,
): number {
  if (norms.bestWords === 0) return 1;
  let bestHybrid = 0;
  let first: C | undefined;
  let firstHybrid = 0;
  for (const candidate of candidates) {
    const hybrid = hybridOf(candidate, norms);
    if (hybrid > bestHybrid) bestHybrid = hybrid;
    if (candidate.bm25 !== norms.bestWords) continue;
    // Of equals by words, vectors choose.
    if (first !== undefined && hybrid <= firstHybrid) continue;
    first = candidate;
    firstHybrid = hybrid;
  }
  return first === undefined || firstHybrid >= bestHybrid ? 1 : 1 - COVERED_DISCOUNT * covered(first) ** 2;
}

/** A key over all partitions: session numbers are below 2^32, so the double is exact. */
function sessionKey({ partition = 0, turn }: Scorable): number {
  return partition * 2 ** 32 + turn!.session; // only turns are asked
}

/** A neighbour outside the filters may score above every candidate; cap it at the best. */
function wordsOf({ bm25: words = 0 }: NeighbourScore, { bestWords }: Norms): number {
  return words <= 0 ? 0 : Math.min(1, words / bestWords);
}

function pooledOf({ pooled: words = 0 }: CandidateTurn, { bestPooled }: Norms): number {
  return bestPooled === 0 || words <= 0 ? 0 : words / bestPooled;
}

function pairsOf({ phrase: pairs = 0 }: Candidate, { bestPairs }: Norms): number {
  return pairs <= 0 ? 0 : pairs / bestPairs;
}

/**
 * Min-max normalisation over the candidates. The best one has 1, even if it is the only one. A candidate without a
 * vector gets the median, because its similarity is unknown. The result has the weight of the vectors.
 */
function cosineOf(
  { cosine }: NeighbourScore,
  { leastCosine, bestCosine, neutral, vectorWeight: weight }: Norms,
): number {
  return weight * (cosine === undefined ? neutral() : normalised(cosine, leastCosine, bestCosine));
}

function normalised(cosine: number, least: number, best: number): number {
  if (cosine >= best) return 1;
  return cosine <= least ? 0 : (cosine - least) / (best - least);
}

/** Requires at least one candidate with a cosine. */
function medianCosine(candidates: readonly Scorable[]): number {
  const cosines = Float64Array.from(candidates.flatMap(({ cosine }) => cosine ?? []));
  cosines.sort();
  return (cosines[(cosines.length - 1) >>> 1]! + cosines[cosines.length >>> 1]!) / 2;
}

/** Words + vector. */
function hybridOf(unit: NeighbourScore | undefined, norms: Norms): number {
  return unit === undefined ? 0 : wordsOf(unit, norms) + cosineOf(unit, norms);
}

/** Keeps documents and beliefs comparable with turns. */
function neutralRole({ hasTurns }: Norms): number {
  return hasTurns ? share(WEIGHTS.role, 1) : 0;
}
