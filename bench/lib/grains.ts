// The grains of the scenarios: beliefs of about 250 bytes with 14 to 26 words, drawn by Zipf's law from 30,000.
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { generator, makeWords, zipf } from './random.ts';

const WORDS = 30_000;
const RELATIONS = 30;
const USERS = 50;
const SUBJECTS = 2_000;

/** One vocabulary for all sources of a process, made with the first one. */
let vocabulary: readonly string[] | undefined;

export interface GrainSource {
  /** The next grains; no two have the same words. */
  take(count: number): AddItem[];
  /** Two to four words of such grains, separated by spaces. */
  question(): string;
  /** A subject of such grains. */
  subject(): string;
}

/** Sources with different seeds give different grains over one vocabulary: made-up words, or the given ones. */
export function grainSource(seed: number, given?: readonly string[]): GrainSource {
  if (given === undefined) vocabulary ??= makeWords(WORDS, generator(7));
  const words = given ?? vocabulary!; // just made
  const random = generator(seed);
  const rank = zipf(words.length, random);
  const below = (bound: number): number => Math.floor(random() * bound);
  const subject = (): string => `customer-${below(SUBJECTS)}`;
  const grain = (): AddItem => {
    const object = Array.from({ length: 14 + below(13) }, () => words[rank()]!).join(' ');
    return {
      grainType: 'belief',
      fields: {
        subject: subject(),
        relation: `relation-${below(RELATIONS)}`,
        object,
        confidence: below(100) / 100,
        user_id: `user-${below(USERS)}`,
      },
    };
  };
  return {
    take: (count) => Array.from({ length: count }, grain),
    question: () => {
      // Words for questions: frequent ones recur, but the most frequent are left out because they select nothing.
      const asked = new Set<string>();
      for (const count = 2 + below(3); asked.size < count; ) asked.add(words[rank()]!);
      return [...asked].join(' ');
    },
    subject,
  };
}
