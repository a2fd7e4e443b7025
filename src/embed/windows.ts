// Cuts a text into windows that an embedder reads whole: sentences gathered until a window is full. The built-in
// encoder reads 128 pieces; a sentence that is longer is cut between words, a word that is longer inside.
import { EMBED_WINDOW_PIECES_MAX, EMBED_WINDOW_WORDS_MAX, EMBED_WINDOWS_MAX } from '../engine/limits.ts';

/** A sentence ends after its mark and the quotes or brackets that close with it, before white space; or at a line's end. */
const SENTENCE = /[^.!?…。!?\n]*(?:[.!?…]+["'”’)\]]*(?=\s)|[。!?]+|\n|[.!?…]|$)/gu;
const WORD = /\S+/gu;

/**
 * The windows of `text` in order, at most EMBED_WINDOWS_MAX of them (the rest of the text is left out): sentences of
 * at most 100 words and 128 pieces together, without white space at their ends. `pieces` says how many pieces a run
 * of words is, and may say too many. A text in capitals alone comes back in small letters, since a model reads
 * shouting as another language. None for a blank text.
 */
export function windowsOf(text: string, pieces: (words: string) => number = estimatePieces): string[] {
  const windows: string[] = [];
  let start = -1;
  let end = 0;
  let words = 0;
  let size = 0;
  const source = lowerCapitals(text);
  const flush = (): void => {
    if (start >= 0) windows.push(source.slice(start, end));
    start = -1;
    words = 0;
    size = 0;
  };
  const add = (from: number, to: number, count: number, cost: number): void => {
    if (words + count > EMBED_WINDOW_WORDS_MAX || size + cost > EMBED_WINDOW_PIECES_MAX) flush();
    if (start < 0) start = from;
    end = to;
    words += count;
    size += cost;
  };
  for (const { 0: sentence, index } of source.matchAll(SENTENCE)) {
    if (windows.length >= EMBED_WINDOWS_MAX) break;
    const found = [...sentence.matchAll(WORD)];
    if (found.length === 0) continue;
    const from = index + found[0]!.index;
    const to = index + found.at(-1)!.index + found.at(-1)![0].length;
    const costs = found.map(({ 0: word }) => pieces(word));
    const cost = costs.reduce((sum, each) => sum + each, 0);
    if (found.length <= EMBED_WINDOW_WORDS_MAX && cost <= EMBED_WINDOW_PIECES_MAX) {
      add(from, to, found.length, cost);
      continue;
    }
    flush();
    for (const [i, { 0: word, index: at }] of found.entries()) {
      if (windows.length >= EMBED_WINDOWS_MAX) break;
      if (costs[i]! <= EMBED_WINDOW_PIECES_MAX) add(index + at, index + at + word.length, 1, costs[i]!);
      else for (const [low, high] of cutWord(word)) add(index + at + low, index + at + high, 1, high - low);
    }
    flush();
  }
  flush();
  return windows.slice(0, EMBED_WINDOWS_MAX);
}

/** Without a vocabulary: English pieces are some four letters long, and what is no letter is mostly one of its own. */
function estimatePieces(word: string): number {
  return Math.ceil(word.length / 3);
}

/** A word of too many pieces in cuts of as many characters, never within a surrogate pair. */
function* cutWord(word: string): Generator<[low: number, high: number]> {
  for (let low = 0; low < word.length; ) {
    let high = Math.min(low + EMBED_WINDOW_PIECES_MAX, word.length);
    const code = word.charCodeAt(high - 1);
    if (high < word.length && code >= 0xd800 && code < 0xdc00) high--;
    yield [low, high];
    low = high;
  }
}

/** `text` in small letters if all its letters are capitals, else itself. */
export function lowerCapitals(text: string): string {
  return /\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text) ? text.toLowerCase() : text;
}
