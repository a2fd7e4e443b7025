// Guardrails: texts that a policy forbids. A grain is checked field by field, at every depth.

import { isUtf8 } from 'node:buffer';
import { GUARDRAIL_WORDS_MAX } from '../../base/limits.ts';
import { isKnownName } from '../../grain/api/fields.ts';
import { fieldByName } from '../../grain/codec/field-map.ts';
import { isCounted, type Kind } from '../../grain/codec/kind.ts';
import type { GrainType } from '../../grain/grain.ts';
import { Float, type Value, type ValueMap } from '../../grain/value.ts';
import { type Form, formOf } from './guardrail-form.ts';
import type { GuardrailMode } from './rules.ts';

/** Dice's coefficient, 0 to 1, from which a run of words matches a pattern in mode `fuzzy`. */
const ALIKE = 0.8;

/**
 * The name of the first field with a text that matches one of `patterns`, or undefined. Texts are the strings in a
 * field at every depth, the caller's own names of fields and map keys, and the numbers to which the format gives no
 * meaning. Case, width, accents, white space, invisible characters and look-alikes make no difference. Punctuation
 * counts as a blank, and inside a word also as nothing.
 * `exact`: the whole text is the pattern. `contains`: the text contains the pattern. `fuzzy`: the text contains the
 * pattern, or a run of as many words as the pattern has resembles it (Dice's coefficient of letter pairs, over the
 * first GUARDRAIL_WORDS_MAX words). The compiled patterns are cached as long as the array `patterns` lives.
 */
export function matchesGuardrail(
  { type, fields }: { readonly type: GrainType; readonly fields: ValueMap },
  patterns: readonly string[],
  mode: GuardrailMode,
): string | undefined {
  const guardrail = guardrailOf(patterns);
  const matches = (text: string): boolean => MATCHERS[mode](formOf(text), guardrail);
  for (const [name, value] of Object.entries(fields)) {
    const isOwn = !isKnownName(type, name);
    if (isOwn && namesOf(name).some(matches)) return name;
    const known = fieldByName(name, type);
    // A number of the contract that the format does not know, such as a time or a ratio.
    if (!isOwn && known === undefined && typeof value === 'number') continue;
    for (const text of textsOf(value, known?.kind)) if (matches(text)) return name;
  }
  return undefined;
}

/** A pattern in the form in which texts are compared with it. */
interface Pattern {
  readonly form: Form;
  /** True if the pattern begins and ends with a word, so that it may match by its words. "c++" may not. */
  readonly byWords: boolean;
  readonly words: number;
  /** The numbers of its letter pairs, with repetitions. */
  readonly pairs: readonly number[];
}

interface Guardrail {
  readonly patterns: readonly Pattern[];
  /** The letter pairs of all patterns, numbered. */
  readonly numbers: ReadonlyMap<number, number>;
}

const KNOWN = new WeakMap<readonly string[], Guardrail>();

function guardrailOf(patterns: readonly string[]): Guardrail {
  const known = KNOWN.get(patterns);
  if (known !== undefined) return known;
  const numbers = new Map<number, number>();
  const numberOf = (pair: number): number => {
    const number = numbers.get(pair) ?? numbers.size;
    numbers.set(pair, number);
    return number;
  };
  const made = patterns
    .map(formOf)
    .filter(({ written }) => written !== '')
    .map((form): Pattern => {
      const text = form.words === '' ? form.written : form.words;
      const byWords =
        form.words !== '' && form.written.startsWith(form.words[0]!) && form.written.endsWith(form.words.at(-1)!);
      return { form, byWords, words: text.split(' ').length, pairs: [...pairsOf(` ${text} `)].map(numberOf) };
    });
  const guardrail = { patterns: made, numbers };
  KNOWN.set(patterns, guardrail);
  return guardrail;
}

const MATCHERS: Readonly<Record<GuardrailMode, (text: Form, guardrail: Guardrail) => boolean>> = {
  exact: (text, { patterns }) => patterns.some((pattern) => isPattern(text, pattern)),
  contains: (text, { patterns }) => patterns.some((pattern) => holds(text, pattern)),
  fuzzy: (text, guardrail) => MATCHERS.contains(text, guardrail) || isAlikeSomewhere(text.words, guardrail),
};

function isPattern(text: Form, { form, byWords }: Pattern): boolean {
  return text.written === form.written || (byWords && (text.words === form.words || text.joined === form.joined));
}

/**
 * True if the text contains the pattern as written, or its words. Punctuation in the text counts as a blank: then a
 * pattern without punctuation may begin and end inside words, and one with punctuation matches whole words only. Or
 * punctuation inside words is removed: then any pattern matches whole words only.
 */
function holds(text: Form, { form, byWords }: Pattern): boolean {
  if (text.written.includes(form.written)) return true;
  if (!byWords) return false;
  const isPlain = form.written === form.words;
  if (isPlain ? text.words.includes(form.words) : hasWords(text.words, form.words)) return true;
  return hasWords(text.joined, form.joined) || (!isPlain && hasWords(text.joined, form.words));
}

function hasWords(text: string, words: string): boolean {
  return ` ${text} `.includes(` ${words} `);
}

/** A name as it is, and as the words that it consists of. */
function namesOf(name: string): readonly string[] {
  const words = name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' ');
  return words === name ? [name] : [name, words];
}

/** The texts in a value. A number is a text unless the format gives it a meaning. */
function* textsOf(value: Value | undefined, kind: Kind | undefined): Iterable<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number' || typeof value === 'bigint') {
    if (!isCounted(kind)) yield String(value);
  } else if (value instanceof Float) {
    if (!isCounted(kind)) yield String(value.value);
  } else if (value instanceof Uint8Array) {
    if (isUtf8(value)) yield Buffer.from(value).toString();
  } else if (Array.isArray(value)) for (const item of value) yield* textsOf(item, kind?.item);
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      const known = kind?.shape?.byName.get(key)?.kind;
      if (known === undefined) yield* namesOf(key);
      yield* textsOf(inner, known ?? kind?.item);
    }
}

/** The pairs of adjacent UTF-16 units, each as one number. */
function* pairsOf(text: string): Iterable<number> {
  for (let at = 0; at + 1 < text.length; at++) yield text.charCodeAt(at) * 0x1_0000 + text.charCodeAt(at + 1);
}

/**
 * True if a run of words resembles a pattern. The pairs of a run are consecutive pairs of the text, so one window for
 * each pattern slides over the pairs, word by word. Each pair that enters or leaves changes the number of shared pairs
 * by at most one. Takes time linear in the text for each pattern.
 */
function isAlikeSomewhere(text: string, { patterns, numbers }: Guardrail): boolean {
  const padded = ` ${text} `;
  const blanks = blanksIn(padded, GUARDRAIL_WORDS_MAX + 1);
  const end = blanks[blanks.length - 1]!;
  const pairs = new Int32Array(end);
  let at = 0;
  for (const pair of pairsOf(padded.slice(0, end + 1))) pairs[at++] = numbers.get(pair) ?? numbers.size;
  // For each pair, how many more the window may share with the pattern. The last entry is for pairs in no pattern. It
  // is never above 0, so these pairs are never shared.
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

/** The positions of the first `max` blanks. */
function blanksIn(text: string, max: number): number[] {
  const blanks: number[] = [];
  for (let at = text.indexOf(' '); at >= 0 && blanks.length < max; at = text.indexOf(' ', at + 1)) blanks.push(at);
  return blanks;
}
