// Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): a hit that says what a chosen one says is worth less.
import { type StageHit, textOf } from './hit.ts';

/** Hits among which is chosen; what ranks behind them is not looked at. */
export const DIVERSITY_HITS_MAX = 400;
/** Words of a grain that are compared. */
const WORDS_MAX = 64;

/** How alike two grains are, 0 to 1; undefined where one of them has no vector. */
export type Likeness = (a: StageHit, b: StageHit) => number | undefined;

/** The cosine of their vectors. Undefined without any vectors. */
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
 * The `limit` hits that together say most, then the rest in their order. `lambda` 1 is relevance alone, 0 difference
 * alone. Without a likeness of meaning the share of common words counts (Jaccard).
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
      // Among equals the first: hits come in their order.
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

/** The words of each hit as numbers, ascending: two such lists are compared in one walk. */
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

/** Words in both over words in either. */
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
