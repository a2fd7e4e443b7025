// `WITH diversity`: reorders the grains so that repetitions come later.
import type { CalGrain } from './grain.ts';
import { likeness, plainText, wordsOf } from './words.ts';

export type Diversity =
  | { readonly by: 'mmr'; readonly lambda?: number | undefined }
  | { readonly by: 'threshold'; readonly threshold: number };

const LAMBDA_DEFAULT = 0.5;
/** Number of first grains that are compared and reordered. The grains after them keep their places. */
export const DIVERSITY_GRAINS_MAX = 200;

/**
 * Reorders grains that come best first. Maximal marginal relevance (Carbonell and Goldstein 1998) repeatedly picks the
 * grain with the largest `lambda * score / bestScore - (1 - lambda) * likeness`, where `likeness` is the largest one to a
 * grain picked before. A threshold moves each grain that is more alike than that to an earlier kept grain behind all kept
 * grains. Ties keep their order.
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
