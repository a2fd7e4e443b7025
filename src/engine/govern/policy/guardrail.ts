// Texts that a policy keeps out: a grain is held against them field by field, wherever a text is nested.

import { isUtf8 } from 'node:buffer';
import { GUARDRAIL_WORDS_MAX } from '../../base/limits.ts';
import { isKnownName } from '../../grain/api/fields.ts';
import { fieldByName } from '../../grain/codec/field-map.ts';
import { isCounted, type Kind } from '../../grain/codec/kind.ts';
import type { GrainType } from '../../grain/grain.ts';
import { Float, type Value, type ValueMap } from '../../grain/value.ts';
import { type Form, formOf } from './guardrail-form.ts';
import type { GuardrailMode } from './rules.ts';

/** What a text and a pattern have in common, of 1, to be one under `fuzzy`. */
const ALIKE = 0.8;

/**
 * The name of the first field with a text that one of `patterns` keeps out, or undefined. Texts are values however deep, keys of
 * maps, names of the caller's own fields and numbers of its own. Case, width, accents, white space, what is invisible, and
 * characters that look alike make no difference; punctuation counts as a blank, and inside of a word as nothing. `exact`: the whole text is the
 * pattern; `contains`: the pattern is somewhere in it; `fuzzy`: so many words of it as the pattern has are the pattern but for
 * a few letters (Dice's coefficient of their pairs of letters). Of a text GUARDRAIL_WORDS_MAX words are compared under
 * `fuzzy`. What is made of `patterns` is kept as long as somebody holds them.
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
    // A number of the contract that the format does not know: a time, a ratio.
    if (!isOwn && known === undefined && typeof value === 'number') continue;
    for (const text of textsOf(value, known?.kind)) if (matches(text)) return name;
  }
  return undefined;
}

/** A pattern, as texts are compared with it. */
interface Pattern {
  readonly form: Form;
  /** True when its words say what it says: without its punctuation "c++" would be another pattern. */
  readonly byWords: boolean;
  readonly words: number;
  /** Its pairs of letters by their numbers, each as often as it stands there. */
  readonly pairs: readonly number[];
}

interface Guardrail {
  readonly patterns: readonly Pattern[];
  /** Pairs of letters that stand in any pattern, numbered. */
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

/** As it is written, anywhere; by its words alone where no letter of a word is left out, if it has punctuation of its own. */
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

/** A name as it is and as the words that it is made of. */
function namesOf(name: string): readonly string[] {
  const words = name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' ');
  return words === name ? [name] : [name, words];
}

/** Numbers that the format itself gives a meaning are no texts. */
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
