// Cuts a text into windows that an encoder reads whole: sentences gathered until a window is full. A sentence that is
// longer is cut between words, a word that is longer inside. Written as one walk over words, not as a pattern for
// sentences: a pattern that looks for the end of a run of marks takes quadratic time on a text of nothing but dots.
import { EMBED_WINDOW_PIECES_MAX, EMBED_WINDOW_WORDS_MAX, EMBED_WINDOWS_MAX } from '../engine/limits.ts';
import { vocabularyPieces } from './builtin/vocabulary.ts';

const WORD = /\S+/gu;
/** A longer word is cut without counting: no piece has more characters than this divided by a window's pieces. */
const WORD_CHARS_MAX = 16 * EMBED_WINDOW_PIECES_MAX;
const SENTENCE_MARKS = new Set('.!?…。!?');
const CLOSING_MARKS = new Set('"\'”’»)]}');

interface Word {
  readonly start: number;
  readonly end: number;
  readonly pieces: number;
}

/**
 * The windows of `text` in order, without white space at their ends: sentences of at most 100 words and 128 pieces
 * together. At most EMBED_WINDOWS_MAX of them; the rest of the text is left out. A text all of whose letters are
 * capitals comes back in small letters, since a model reads shouting as another language. None for a blank text.
 * `pieces` says how many pieces a word is; by default the built-in encoder's vocabulary is asked.
 */
export function windowsOf(text: string, pieces: (word: string) => number = vocabularyPieces): string[] {
  const source = lowerCapitals(text);
  const windows: string[] = [];
  let window: Word[] = [];
  let size = 0;
  /** Words of the window up to the end of its last whole sentence. */
  let whole = 0;

  const close = (count: number): void => {
    windows.push(source.slice(window[0]!.start, window[count - 1]!.end));
    window = window.slice(count);
    size = window.reduce((sum, word) => sum + word.pieces, 0);
    whole = 0;
  };
  const add = (word: Word): void => {
    const fits = (): boolean => window.length < EMBED_WINDOW_WORDS_MAX && size + word.pieces <= EMBED_WINDOW_PIECES_MAX;
    if (!fits() && whole > 0) close(whole);
    if (!fits() && window.length > 0) close(window.length);
    window.push(word);
    size += word.pieces;
  };

  let previousEnd = 0;
  for (const { 0: word, index: start } of source.matchAll(WORD)) {
    if (windows.length >= EMBED_WINDOWS_MAX) break;
    if (source.slice(previousEnd, start).includes('\n')) whole = window.length;
    previousEnd = start + word.length;
    const count = word.length > WORD_CHARS_MAX ? Number.POSITIVE_INFINITY : pieces(word);
    if (count <= EMBED_WINDOW_PIECES_MAX) add({ start, end: previousEnd, pieces: count });
    else for (const [low, high] of cuts(word)) add({ start: start + low, end: start + high, pieces: high - low });
    if (endsSentence(word)) whole = window.length;
  }
  if (window.length > 0) close(window.length);
  return windows.slice(0, EMBED_WINDOWS_MAX);
}

/** `text` in small letters if it has letters and all of them are capitals, else itself. */
export function lowerCapitals(text: string): string {
  return /\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text) ? text.toLowerCase() : text;
}

function endsSentence(word: string): boolean {
  let last = word.length - 1;
  while (last > 0 && CLOSING_MARKS.has(word[last]!)) last--;
  return SENTENCE_MARKS.has(word[last]!);
}

/** A word of too many pieces in cuts of as many characters as a window has pieces, never within a surrogate pair. */
function* cuts(word: string): Generator<[low: number, high: number]> {
  for (let low = 0; low < word.length; ) {
    let high = Math.min(low + EMBED_WINDOW_PIECES_MAX, word.length);
    const code = word.charCodeAt(high - 1);
    if (high < word.length && code >= 0xd800 && code < 0xdc00) high--;
    yield [low, high];
    low = high;
  }
}
