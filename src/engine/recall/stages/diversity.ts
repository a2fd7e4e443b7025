// Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): a hit similar to a selected one loses value.
import { type StageHit, textOf } from './hit.ts';

/** Maximum number of top hits to select from. */
export const DIVERSITY_HITS_MAX = 400;
/** Maximum number of words of a grain to compare. */
const WORDS_MAX = 64;

/** Similarity of two grains, 0 to 1; undefined if one of them has no vector. */
export type Likeness = (a: StageHit, b: StageHit) => number | undefined;

/** Similarity by cosine; undefined if there are no vectors at all. */
export function likenessOf(vectors: ReadonlyMap<string, Float32Array>): Likeness | undefined {
  if (vectors.size === 0) return undefined;
  return (a, b) => {
    const one = vectors.get(a.grain.hash);
    const other = vectors.get(b.grain.hash);
    if (one === undefined || other === undefined || one.length !== other.length) return undefined;
    let sum = 0;
    for (let i = 0; i < one.length; i++) sum += one[i]! * other[i]!;
    return sum;
  };
}

/**
 * The `limit` hits with the best trade-off of relevance and diversity, then the rest in their order. `lambda`: 1 is
 * relevance only, 0 is diversity only. Pairs without vectors are compared by their common words (Jaccard).
 */
export function diversify(hits: readonly StageHit[], lambda: number, limit: number, likeness?: Likeness): StageHit[] {
  const pool = hits.slice(0, DIVERSITY_HITS_MAX);
  if (lambda >= 1 || pool.length <= 1) return [...hits];
  const best = Math.max(...pool.map(({ score }) => score));
  const relevance = pool.map(({ score }) => (best > 0 ? Math.max(0, score / best) : 0));
  const words = wordNumbers(pool);
  const nearest = new Float64Array(pool.length);
  const left = new Set(pool.keys());
  const chosen: number[] = [];
  while (chosen.length < limit && left.size > 0) {
    let next = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (const at of left) {
      const worth = lambda * relevance[at]! - (1 - lambda) * nearest[at]!;
      // In a tie the first hit wins.
      if (worth > most) {
        most = worth;
        next = at;
      }
    }
    left.delete(next);
    chosen.push(next);
    for (const at of left) {
      const alike = likeness?.(pool[at]!, pool[next]!) ?? overlap(words[at]!, words[next]!);
      if (alike > nearest[at]!) nearest[at] = alike;
    }
  }
  return [...chosen.map((at) => pool[at]!), ...[...left].map((at) => pool[at]!), ...hits.slice(pool.length)];
}

/** The words of each hit as ascending numbers, so that two lists can be compared in one pass. */
function wordNumbers(pool: readonly StageHit[]): Int32Array[] {
  const numbers = new Map<string, number>();
  return pool.map(({ grain }) => {
    const words = new Set<number>();
    for (const [word] of textOf(grain)
      .slice(0, WORDS_MAX * 16)
      .toLowerCase()
      .matchAll(/[\p{L}\p{N}]+/gu)) {
      if (words.size >= WORDS_MAX) break;
      const number = numbers.get(word) ?? numbers.size;
      numbers.set(word, number);
      words.add(number);
    }
    return Int32Array.from(words).sort();
  });
}

/** Jaccard similarity: common words divided by all words. */
function overlap(a: Int32Array, b: Int32Array): number {
  let common = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const difference = a[i]! - b[j]!;
    if (difference === 0) common++;
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
  const either = a.length + b.length - common;
  return either === 0 ? 0 : common / either;
}
