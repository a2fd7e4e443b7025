// Judges a ranking of described candidates beside that of the formula.
import { generator } from '../lib/random.ts';
import type { DescribedQuestion } from './gather.ts';
import { ndcg } from './trees.ts';

const RESAMPLES = 2_000;

/** Scores a candidate by its features. */
export type Scorer = (features: Float64Array) => number;

/** The formula's score is the first feature. */
export const byFormula: Scorer = (features) => features[0]!;

/** nDCG@10 by units: of a unit with several candidates the best one counts. */
export function ndcgOf({ candidates, gains }: DescribedQuestion, scorer: Scorer): number {
  const order = candidates
    .map(({ unit, gain, features }) => ({ unit, gain, score: scorer(features) }))
    // Stable: of equals, the formula's order.
    .sort((a, b) => b.score - a.score);
  const ranked = new Map<string, number>();
  for (const { unit, gain } of order) if (!ranked.has(unit)) ranked.set(unit, gain);
  return ndcg([...ranked.values()], gains);
}

/** Means, and the bounds within which 95 % of paired resamples of the questions have the mean difference. */
export function compared(formula: readonly number[], learned: readonly number[]): Record<string, number> {
  const ahead = learned.map((value, i) => value - formula[i]!);
  const random = generator(1);
  const means = Array.from({ length: RESAMPLES }, () =>
    meanOf(ahead.map(() => ahead[Math.floor(random() * ahead.length)]!)),
  );
  means.sort((a, b) => a - b);
  return {
    formula_ndcg_at_10_ratio: meanOf(formula),
    learned_ndcg_at_10_ratio: meanOf(learned),
    ahead_ratio: meanOf(ahead),
    ahead_low_ratio: means[Math.floor(RESAMPLES * 0.025)]!,
    ahead_high_ratio: means[Math.floor(RESAMPLES * 0.975)]!,
  };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
