// Texts that a policy keeps out: a grain is held against them field by field, wherever a text is nested.

import { Float, type Value, type ValueMap } from '../grain/value.ts';
import { GUARDRAIL_WORDS_MAX } from '../limits.ts';
import { toNfkc } from '../nfc.ts';
import type { GuardrailMode } from './policy/rules.ts';

/** What a text and a pattern have in common, of 1, to be one under `fuzzy`. */
const ALIKE = 0.8;

/**
 * The name of the first field with a text that one of `patterns` keeps out, or undefined. Letters' case and width, runs of
 * white space and what is invisible make no difference. `exact`: the whole text is the pattern; `contains`: the pattern is
 * somewhere in it; `fuzzy`: so many words of it as the pattern has are the pattern but for a few letters (Dice's coefficient
 * of their pairs of letters). Of a text GUARDRAIL_WORDS_MAX words are compared under `fuzzy`. What is made of `patterns` is
 * kept as long as somebody holds them.
 */
export function matchesGuardrail(
  fields: ValueMap,
  patterns: readonly string[],
  mode: GuardrailMode,
): string | undefined {
  const guardrail = guardrailOf(patterns);
  const matches = MATCHERS[mode];
  for (const [name, value] of Object.entries(fields))
    for (const text of textsOf(value)) if (matches(plain(text), guardrail)) return name;
  return undefined;
}

/** A pattern, as texts are compared with it. */
interface Pattern {
  readonly words: number;
  /** Its pairs of letters by their numbers, each as often as it stands there. */
  readonly pairs: readonly number[];
}

interface Guardrail {
  readonly texts: readonly string[];
  readonly patterns: readonly Pattern[];
  /** Pairs of letters that stand in any pattern, numbered. */
  readonly numbers: ReadonlyMap<number, number>;
}

const KNOWN = new WeakMap<readonly string[], Guardrail>();

function guardrailOf(patterns: readonly string[]): Guardrail {
  const known = KNOWN.get(patterns);
  if (known !== undefined) return known;
  const texts = patterns.map(plain).filter((pattern) => pattern !== '');
  const numbers = new Map<number, number>();
  const numberOf = (pair: number): number => {
    const number = numbers.get(pair) ?? numbers.size;
    numbers.set(pair, number);
    return number;
  };
  const made = texts.map((text) => ({ words: text.split(' ').length, pairs: [...pairsOf(` ${text} `)].map(numberOf) }));
  const guardrail = { texts, patterns: made, numbers };
  KNOWN.set(patterns, guardrail);
  return guardrail;
}

const MATCHERS: Readonly<Record<GuardrailMode, (text: string, guardrail: Guardrail) => boolean>> = {
  exact: (text, { texts }) => texts.includes(text),
  contains: (text, { texts }) => texts.some((pattern) => text.includes(pattern)),
  fuzzy: (text, guardrail) => MATCHERS.contains(text, guardrail) || isAlikeSomewhere(text, guardrail),
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

/** The pairs of neighbouring UTF-16 units, each as one number. */
function* pairsOf(text: string): Iterable<number> {
  for (let at = 0; at + 1 < text.length; at++) yield text.charCodeAt(at) * 0x1_0000 + text.charCodeAt(at + 1);
}

/**
 * A run of words with the blanks around it is a stretch of the text, so its pairs are too: for each pattern one window slides
 * over them, and what enters or leaves it changes by one what the two have in common. Linear in the text for each pattern.
 */
function isAlikeSomewhere(text: string, { patterns, numbers }: Guardrail): boolean {
  const padded = ` ${text} `;
  const blanks = blanksIn(padded, GUARDRAIL_WORDS_MAX + 1);
  const end = blanks[blanks.length - 1]!;
  const pairs = new Int32Array(end);
  let at = 0;
  for (const pair of pairsOf(padded.slice(0, end + 1))) pairs[at++] = numbers.get(pair) ?? numbers.size;
  // Of each pair, how many more the window may have in common with the pattern; of those in none (the last), none.
  const left = new Int32Array(numbers.size + 1);
  return patterns.some((pattern) => {
    left.fill(0);
    for (const pair of pattern.pairs) left[pair]! += 1;
    return slidesOver(pairs, blanks, pattern, left);
  });
}

function slidesOver(
  pairs: Int32Array,
  blanks: readonly number[],
  { words, pairs: own }: Pattern,
  left: Int32Array,
): boolean {
  let shared = 0;
  let from = 0;
  let to = 0;
  for (let word = 0; word === 0 || word + words < blanks.length; word++) {
    const end = blanks[Math.min(word + words, blanks.length - 1)]!;
    for (; to < end; to++) if (left[pairs[to]!]!-- > 0) shared += 1;
    for (const start = blanks[word]!; from < start; from++) if (++left[pairs[from]!]! > 0) shared -= 1;
    if (2 * shared >= ALIKE * (own.length + to - from)) return true;
  }
  return false;
}

/** Where blanks are, the first `max` of them. */
function blanksIn(text: string, max: number): number[] {
  const blanks: number[] = [];
  for (let at = text.indexOf(' '); at >= 0 && blanks.length < max; at = text.indexOf(' ', at + 1)) blanks.push(at);
  return blanks;
}
