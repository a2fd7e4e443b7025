// `WITH summarize`: what some grains say in one line, which is a line of one of them. No model is asked, so the same grains
// have the same summary.
import type { CalGrain } from './grain.ts';
import { plainText, wordsOf } from './words.ts';

const SUMMARY_CHARACTERS_MAX = 240;
/** Grains that are looked at, from the first on. */
const SUMMARY_GRAINS_MAX = 200;

/**
 * The text of the grain whose words most of the others have too, long texts not preferred; of equal ones the first. Longer
 * than 240 characters, it is cut behind a word and ends in an ellipsis. undefined: no grain says anything.
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
