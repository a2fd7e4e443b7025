// Texts that a policy keeps out: a grain is held against them field by field, wherever a text is nested.

import { Float, type Value, type ValueMap } from '../grain/value.ts';
import { GUARDRAIL_WORDS_MAX } from '../limits.ts';
import { toNfkc } from '../nfc.ts';
import type { GuardrailMode } from './policy/rules.ts';

/** What a text and a pattern have in common, of 1, to be one under `fuzzy`. */
const ALIKE = 0.8;

/**
 * The name of the first field with a text that one of `patterns` keeps out, or undefined. Letters' case and width, runs of
 * white space and what is invisible make no difference. `exact`: the whole text is the pattern; `contains`: the pattern is somewhere in it;
 * `fuzzy`: so many words of it as the pattern has are the pattern but for a few letters (Dice's coefficient of their pairs
 * of letters). Of a text GUARDRAIL_WORDS_MAX words are compared under `fuzzy`.
 */
export function matchesGuardrail(
  fields: ValueMap,
  patterns: readonly string[],
  mode: GuardrailMode,
): string | undefined {
  const wanted = patterns.map(plain).filter((pattern) => pattern !== '');
  const matches = MATCHERS[mode];
  for (const [name, value] of Object.entries(fields))
    for (const text of textsOf(value)) {
      const form = plain(text);
      if (wanted.some((pattern) => matches(form, pattern))) return name;
    }
  return undefined;
}

const MATCHERS: Readonly<Record<GuardrailMode, (text: string, pattern: string) => boolean>> = {
  exact: (text, pattern) => text === pattern,
  contains: (text, pattern) => text.includes(pattern),
  fuzzy: isAlikeSomewhere,
};

/** Format characters and fillers: they show nothing, and a pattern could be broken up with them. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

function plain(text: string): string {
  return toNfkc(text).replace(INVISIBLE, '').toLowerCase().replace(/\s+/g, ' ').trim();
}

function* textsOf(value: Value | undefined): Iterable<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item);
  else if (typeof value === 'object' && value !== null && !(value instanceof Float) && !(value instanceof Uint8Array))
    for (const [key, inner] of Object.entries(value)) {
      yield key;
      yield* textsOf(inner);
    }
}

function isAlikeSomewhere(text: string, pattern: string): boolean {
  if (text.includes(pattern)) return true;
  const words = text.split(' ', GUARDRAIL_WORDS_MAX);
  const length = pattern.split(' ').length;
  const pairs = pairsOf(pattern);
  for (let from = 0; from + length <= Math.max(words.length, length); from++)
    if (likeness(pairs, pairsOf(words.slice(from, from + length).join(' '))) >= ALIKE) return true;
  return false;
}

function pairsOf(text: string): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>();
  const padded = ` ${text} `;
  for (let at = 0; at + 1 < padded.length; at++) {
    const pair = padded.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function likeness(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let shared = 0;
  let total = 0;
  for (const [pair, count] of one) {
    shared += Math.min(count, other.get(pair) ?? 0);
    total += count;
  }
  for (const count of other.values()) total += count;
  return total === 0 ? 0 : (2 * shared) / total;
}
