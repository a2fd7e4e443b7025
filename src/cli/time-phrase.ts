// Splits a question that ends with a time phrase into words and time span.
import { readPhrase, type TimeSpan, UNIT, WEEKDAYS } from '../server/operations/recall/time-phrase.ts';

/** Time phrases allowed at the end of a question. A bare year is not one: it is more often a word of the question. */
const TRAILING = new RegExp(
  `^(?:today|yesterday|(?:this|last) (?:week|month|year)|(?:last|past) \\d+ ${UNIT}|\\d+ ${UNIT} ago|` +
    `last (?:${WEEKDAYS.join('|')})|since .+|between .+ and .+)$`,
);
const PREPOSITION = /^(?:in|from|during|within|over)(?: the)? |^the /;
const TRAILING_WORDS_MAX = 9;

/** The question without its final time phrase, the phrase, and its span. Undefined when there is no such phrase. */
export function trailingPhrase(
  question: string,
  nowSeconds: number,
): { readonly rest: string; readonly phrase: string; readonly span: TimeSpan } | undefined {
  const words = question
    .trim()
    .replace(/[?.!]+$/, '')
    .split(/\s+/);
  for (let at = Math.max(0, words.length - TRAILING_WORDS_MAX); at < words.length; at += 1) {
    const phrase = words.slice(at).join(' ').replace(PREPOSITION, '').toLowerCase();
    if (!TRAILING.test(phrase)) continue;
    const span = readPhrase(phrase, nowSeconds);
    if (span !== undefined) return { rest: words.slice(0, at).join(' '), phrase, span };
  }
  return undefined;
}
