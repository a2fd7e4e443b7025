// `WITH summarize`: summarises grains by the text of the most typical one. It uses no model, so the same grains always have
// the same summary.
import type { CalGrain } from './grain.ts';
import { plainText, wordsOf } from './words.ts';

const SUMMARY_CHARACTERS_MAX = 240;
/** Number of first grains that are considered. */
const SUMMARY_GRAINS_MAX = 200;

/**
 * The text of the grain that shares most words with the others, relative to the square root of its own number of words.
 * The first wins a tie. A text of more than 240 characters is cut after a word and ends in an ellipsis. Undefined if all
 * texts are empty.
 */
export function summaryOf(grains: readonly CalGrain[]): string | undefined {
  const texts = grains.slice(0, SUMMARY_GRAINS_MAX).map(plainText);
  const words = texts.map(wordsOf);
  const holders = new Map<string, number>();
  for (const own of words) for (const word of own) holders.set(word, (holders.get(word) ?? 0) + 1);
  let best: { readonly text: string; readonly weight: number } | undefined;
  for (const [i, text] of texts.entries()) {
    const own = words[i]!;
    let shared = 0;
    for (const word of own) shared += holders.get(word)! - 1;
    const weight = own.size === 0 ? -1 : shared / Math.sqrt(own.size);
    if (text !== '' && (best === undefined || weight > best.weight)) best = { text, weight };
  }
  return best === undefined ? undefined : cut(best.text);
}

function cut(text: string): string {
  if (text.length <= SUMMARY_CHARACTERS_MAX) return text;
  const start = text.slice(0, SUMMARY_CHARACTERS_MAX).toWellFormed();
  const blank = start.lastIndexOf(' ');
  return `${start.slice(0, blank > 0 ? blank : start.length)}…`;
}
