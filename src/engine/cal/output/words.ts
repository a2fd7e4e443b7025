// Splits a grain's text into words to measure how alike texts are. Unlike the index it has no analysis by language, because
// it only compares a few hundred texts with one another.
import { trimmedLine } from './clean.ts';
import type { CalGrain } from './grain.ts';
import { project } from './projection.ts';

/** Number of first characters of a text that are used. */
const CHARACTERS_MAX = 4_096;
// In scripts without blanks between words, each character counts as a word.
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu;

/** A grain's subject and text in one line. */
export function plainText(grain: CalGrain): string {
  const { text } = project(grain, { level: 'summary', nowMs: 0, isoTimestamps: false });
  const subject = grain.fields['subject'];
  return trimmedLine(typeof subject === 'string' ? `${subject} ${text}` : text);
}

/** Distinct words in lower case. */
export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, CHARACTERS_MAX).toLowerCase().match(WORD) ?? []);
}

/** The Jaccard index: shared words by all words of both, 0 to 1. It is 0 if both are empty. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  let shared = 0;
  for (const word of small) if (large.has(word)) shared++;
  const all = one.size + other.size - shared;
  return all === 0 ? 0 : shared / all;
}
