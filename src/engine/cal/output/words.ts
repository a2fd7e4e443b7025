// Words of a grain's text, for telling texts that say the same from texts that do not. Not those of the index: here a few
// hundred texts are compared with one another, whatever their language.
import { trimmedLine } from './clean.ts';
import type { CalGrain } from './grain.ts';
import { project } from './projection.ts';

/** Characters of a text that are looked at. */
const CHARACTERS_MAX = 4_096;
// Scripts without blanks between words: each character is one.
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu;

/** Subject and text of a grain in one line. */
export function plainText(grain: CalGrain): string {
  const { text } = project(grain, { level: 'summary', nowMs: 0, isoTimestamps: false });
  const subject = grain.fields['subject'];
  return trimmedLine(typeof subject === 'string' ? `${subject} ${text}` : text);
}

/** Distinct words in lower case. */
export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, CHARACTERS_MAX).toLowerCase().match(WORD) ?? []);
}

/** The share of the words of both that both have, 0 to 1; 0 where neither has any. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  let shared = 0;
  for (const word of small) if (large.has(word)) shared++;
  const all = one.size + other.size - shared;
  return all === 0 ? 0 : shared / all;
}
