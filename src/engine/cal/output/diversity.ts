// `WITH diversity`: the same grains in another order, in which what was said already comes later.
import type { CalGrain } from './grain.ts';
import { likeness, plainText, wordsOf } from './words.ts';

export type Diversity =
  | { readonly by: 'mmr'; readonly lambda?: number | undefined }
  | { readonly by: 'threshold'; readonly threshold: number };

const LAMBDA_DEFAULT = 0.5;
/** Grains that are compared with one another; those behind them keep their places. */
export const DIVERSITY_GRAINS_MAX = 200;

/**
 * The grains, best first, put in another order. By maximal marginal relevance (Carbonell and Goldstein 1998): each next is
 * the best of `lambda` times its share of the best score less the rest times its likeness to what stands before it. By
 * threshold: what is more alike to one before it than that goes behind all others. Ties keep their order.
 */
export function diversified(grains: readonly CalGrain[], diversity: Diversity): CalGrain[] {
  const head = grains.slice(0, DIVERSITY_GRAINS_MAX);
  const words = head.map((grain) => wordsOf(plainText(grain)));
  const order =
    diversity.by === 'mmr'
      ? byRelevance(head, words, diversity.lambda ?? LAMBDA_DEFAULT)
      : byThreshold(words, diversity.threshold);
  return [...order.map((i) => head[i]!), ...grains.slice(DIVERSITY_GRAINS_MAX)];
}

function byRelevance(grains: readonly CalGrain[], words: readonly ReadonlySet<string>[], lambda: number): number[] {
  const best = Math.max(0, ...grains.map(({ score }) => score));
  const left = grains.map(({ score }, i) => ({ i, relevance: best === 0 ? 1 : score / best, alike: 0 }));
  const order: number[] = [];
  while (left.length > 0) {
    let place = 0;
    for (let i = 1; i < left.length; i++) if (worth(left[i]!, lambda) > worth(left[place]!, lambda)) place = i;
    const [{ i: next }] = left.splice(place, 1) as [(typeof left)[number]]; // `place` is within `left`
    order.push(next);
    for (const one of left) one.alike = Math.max(one.alike, likeness(words[one.i]!, words[next]!));
  }
  return order;
}

function worth({ relevance, alike }: { readonly relevance: number; readonly alike: number }, lambda: number): number {
  return lambda * relevance - (1 - lambda) * alike;
}

function byThreshold(words: readonly ReadonlySet<string>[], threshold: number): number[] {
  const kept: number[] = [];
  const behind: number[] = [];
  for (const [i, own] of words.entries()) {
    const isRepeat = kept.some((other) => likeness(own, words[other]!) > threshold);
    (isRepeat ? behind : kept).push(i);
  }
  return [...kept, ...behind];
}
