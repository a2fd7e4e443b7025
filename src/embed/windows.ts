// Splits a text into windows that an encoder reads whole: sentences gathered until a window is full. A longer sentence
// is split between words, a longer word inside. It is one pass over words: a regular expression for sentences takes
// quadratic time on a text of only dots.
import { EMBED_WINDOW_PIECES_MAX, EMBED_WINDOW_WORDS_MAX, EMBED_WINDOWS_MAX } from '../engine/base/limits.ts';
import { vocabularyPieces } from './builtin/vocabulary.ts';

const WORD = /\S+/gu;
/** A longer word is split without counting: no piece has more characters than this divided by a window's pieces. */
const WORD_CHARS_MAX = 16 * EMBED_WINDOW_PIECES_MAX;
const SENTENCE_MARKS = new Set('.!?…。!?');
const CLOSING_MARKS = new Set('"\'”’»)]}');

interface Word {
  readonly start: number;
  readonly end: number;
  readonly pieces: number;
}

/** All windows of `eachWindow` as an array; about 15 ms for 250 KB. */
export function windowsOf(text: string, pieces?: (word: string) => number): string[] {
  return [...eachWindow(text, pieces)];
}

/**
 * Yields the windows of `text` in order, trimmed: sentences of together at most 100 words and 128 pieces. At most
 * EMBED_WINDOWS_MAX; the rest of the text is dropped. A text whose letters are all capitals becomes lower case, because
 * a model reads capitals as another language. A blank text has no windows. `pieces` counts the pieces of a word; the
 * default is the built-in encoder's vocabulary.
 */
export function* eachWindow(
  text: string,
  pieces: (word: string) => number = vocabularyPieces,
): Generator<string, void, void> {
  const source = lowerCapitals(text);
  const window = new Window(source);
  let given = 0;
  let previousEnd = 0;
  for (const { 0: word, index: start } of source.matchAll(WORD)) {
    if (source.slice(previousEnd, start).includes('\n')) window.endSentence();
    previousEnd = start + word.length;
    const count = word.length > WORD_CHARS_MAX ? Number.POSITIVE_INFINITY : pieces(word);
    const parts: Word[] =
      count <= EMBED_WINDOW_PIECES_MAX
        ? [{ start, end: previousEnd, pieces: count }]
        : Array.from(cuts(word), ([low, high]) => ({ start: start + low, end: start + high, pieces: high - low }));
    for (const part of parts) {
      for (const full of window.makeRoom(part)) {
        yield full;
        if (++given === EMBED_WINDOWS_MAX) return;
      }
      window.add(part);
    }
    if (endsSentence(word)) window.endSentence();
  }
  yield* window.rest();
}

/** Words of the window being filled. */
class Window {
  readonly #source: string;
  #words: Word[] = [];
  #pieces = 0;
  /** Words up to the end of the last complete sentence. */
  #whole = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Removes what must go so that `word` fits: the complete sentences, or everything if that is not enough. */
  makeRoom(word: Word): string[] {
    const taken: string[] = [];
    if (!this.#fits(word) && this.#whole > 0) taken.push(this.#take(this.#whole));
    if (!this.#fits(word) && this.#words.length > 0) taken.push(this.#take(this.#words.length));
    return taken;
  }

  add(word: Word): void {
    this.#words.push(word);
    this.#pieces += word.pieces;
  }

  endSentence(): void {
    this.#whole = this.#words.length;
  }

  rest(): string[] {
    return this.#words.length === 0 ? [] : [this.#take(this.#words.length)];
  }

  #fits(word: Word): boolean {
    return this.#words.length < EMBED_WINDOW_WORDS_MAX && this.#pieces + word.pieces <= EMBED_WINDOW_PIECES_MAX;
  }

  #take(count: number): string {
    const text = this.#source.slice(this.#words[0]!.start, this.#words[count - 1]!.end);
    this.#words = this.#words.slice(count);
    this.#pieces = this.#words.reduce((sum, word) => sum + word.pieces, 0);
    this.#whole = 0;
    return text;
  }
}

/** `text` in lower case if it has letters and all are capitals; otherwise unchanged. */
export function lowerCapitals(text: string): string {
  return /\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text) ? text.toLowerCase() : text;
}

function endsSentence(word: string): boolean {
  let last = word.length - 1;
  while (last > 0 && CLOSING_MARKS.has(word[last]!)) last--;
  return SENTENCE_MARKS.has(word[last]!);
}

/**
 * Splits a word of too many pieces into parts of as many characters as a window has pieces, never inside a surrogate
 * pair.
 */
function* cuts(word: string): Generator<[low: number, high: number]> {
  for (let low = 0; low < word.length; ) {
    let high = Math.min(low + EMBED_WINDOW_PIECES_MAX, word.length);
    const code = word.charCodeAt(high - 1);
    if (high < word.length && code >= 0xd800 && code < 0xdc00) high--;
    yield [low, high];
    low = high;
  }
}
