// The arithmetic of BM25 (spec: ranking of text, section 1). Lengths below the floor count as the floor, also in the
// mean: a turn of three words does not say three times as much about each of them.

const K1 = 1.2;
const B = 0.75;
const LENGTH_FLOOR = 16;

/** Weight of a term that `documentFrequency` of `docs` documents contain. Positive even for a term in all of them. */
export function inverseDocumentFrequency(docs: number, documentFrequency: number): number {
  return Math.log(1 + (docs - documentFrequency + 0.5) / (documentFrequency + 0.5));
}

/** The length's contribution to the denominator. `meanLength` is over counted lengths (see `countedLength`). */
export function lengthNorm(length: number, meanLength: number): number {
  return K1 * (1 - B + (B * countedLength(length)) / meanLength);
}

export function countedLength(length: number): number {
  return Math.max(length, LENGTH_FLOOR);
}

// Scores are rounded to multiples of 2^-40, so that sums are exact and equal in every order: a score must not depend on
// the part of its document, nor on the order of the terms. Adding and subtracting 1.5 × 2^12 drops the bits below
// 2^-40, the last bit of that sum. Scores are far below 2^11.
const GRID = 1.5 * 2 ** 12;
/** The smallest difference between two scores. */
export const SCORE_STEP = 2 ** -40;

/**
 * One term's contribution to a document's score. It grows with the frequency and falls with the norm, rounding
 * included, so a list's largest frequency and smallest norm give an upper bound.
 */
export function termScore(inverseFrequency: number, frequency: number, norm: number): number {
  return (inverseFrequency * frequency * (K1 + 1)) / (frequency + norm) + GRID - GRID;
}

const TABLE_LENGTH = 512;

let latest: LengthNorms | undefined;

/** The norms for a mean length. One recall asks for the same ones several times. */
export function lengthNorms(meanLength: number): LengthNorms {
  if (latest?.meanLength !== meanLength) latest = new LengthNorms(meanLength);
  return latest;
}

/** `lengthNorm` of all lengths for one mean, so that a search divides only once a document. */
export class LengthNorms {
  readonly #table = new Float64Array(TABLE_LENGTH);
  readonly meanLength: number;

  constructor(meanLength: number) {
    this.meanLength = meanLength;
    for (let length = 0; length < TABLE_LENGTH; length++) this.#table[length] = lengthNorm(length, meanLength);
  }

  of(length: number): number {
    return length < TABLE_LENGTH ? this.#table[length]! : lengthNorm(length, this.meanLength);
  }
}
