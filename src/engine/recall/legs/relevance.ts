// The relevance of a hit: the probability that it bears on the question. A score cannot say that, because it is
// normalised by the best hit. The relevance is known × place:
//
//   known   how far the memory knows the question's subject at all, from what is absolute: the share of the question's
//           idf that the best hit by words holds, and the best cosine. Each becomes a number from 0 to 1 on a ramp.
//   place   how likely the hit bears on a question whose subject is known: from its lead over the tenth candidate, its
//           rank, and its cosine.
//
// A relevance means the same with and without vectors, so place has constants for both cases: with vectors, the scores of
// candidates are closer together, and a lead tells more. The numbers were fitted to the chats of `npm run bench -- calibration` and
// rounded; that command prints how well they hold.

export const RELEVANCE = {
  /** Shares of the question's idf: a fifth is chance, half of it is a known subject. */
  wordsNone: 0.2,
  wordsAll: 0.5,
  /** Cosines of the built-in encoder. */
  cosineNone: 0.45,
  cosineAll: 0.65,
  /** The log odds of a hit are base + lead × its lead − rank × ln its rank, and with vectors + cosine × its cosine. */
  byWords: { base: -2.2, lead: 10, background: 0.3 },
  withVectors: { base: -4, lead: 14, cosine: 2.7, background: 0.38 },
  rank: 0.45,
  /** Of a hit without a vector, among others with theirs. */
  unknownCosine: 0.63,
  /**
   * The lead is measured over the candidate of this rank, or over the background if that is higher. For nine of ten questions
   * to a chat the tenth candidate is higher. Without the background, the lead in a small memory would show how small it is.
   */
  leadOver: 10,
} as const;

/** Below this, the memory counts as knowing nothing of the question. */
export const KNOWN_MIN = 0.2;

export interface QuestionEvidence {
  /** The share of the question's idf that the best hit by words holds. */
  readonly words: number;
  /** The best cosine; undefined without vectors. */
  readonly cosine: number | undefined;
}

/** How far the subject of a question is known, 0 to 1. */
export function knownOf({ words, cosine }: QuestionEvidence): number {
  const byWords = ramp(words, RELEVANCE.wordsNone, RELEVANCE.wordsAll);
  return cosine === undefined ? byWords : (byWords + ramp(cosine, RELEVANCE.cosineNone, RELEVANCE.cosineAll)) / 2;
}

export interface Place {
  /** From 1. */
  readonly rank: number;
  /** From `leadOf`. */
  readonly lead: number;
  /** Undefined without vectors. */
  readonly cosine: number | undefined;
}

/** By how much a hit's share of the highest possible score exceeds that of the tenth candidate, or the background if that is higher. */
export function leadOf(share: number, tenth: number | undefined, hasVectors: boolean): number {
  const { background } = hasVectors ? RELEVANCE.withVectors : RELEVANCE.byWords;
  return Math.max(0, Math.min(1, share) - Math.max(tenth ?? 0, background));
}

/** How likely a hit bears on a question whose subject is known, 0 to 1. */
export function placeOf({ rank, lead, cosine }: Place): number {
  const { byWords, withVectors } = RELEVANCE;
  const own =
    cosine === undefined
      ? byWords.base + byWords.lead * lead
      : withVectors.base + withVectors.lead * lead + withVectors.cosine * cosine;
  return 1 / (1 + Math.exp(RELEVANCE.rank * Math.log(rank) - own));
}

function ramp(value: number, none: number, all: number): number {
  return Math.min(1, Math.max(0, (value - none) / (all - none)));
}
