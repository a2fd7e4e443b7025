// Finds the cues of a text in one pass over its words.
import { CUES, type CueKind } from './cue-table.ts';
import { isAscii } from './view.ts';

export interface Cue {
  readonly kind: CueKind;
  readonly from: number;
  readonly to: number;
}

interface Phrase {
  readonly words: readonly string[];
  readonly kinds: CueKind[];
}

const WORD = /[\p{L}\p{M}\p{N}]+(?:_[\p{L}\p{N}]+)*/gu;
const ASCII_WORD = /[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*/g;
/** Scripts without spaces between words. Their phrases are searched as substrings. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

const SPACED = new Map<string, Phrase[]>();
const UNSPACED_PHRASES: Phrase[] = [];
for (const [kind, phrases] of Object.entries(CUES) as [CueKind, string][]) // Keys of the table are its kinds.
  for (const phrase of phrases.split('|')) addPhrase(phrase, kind);
for (const phrases of SPACED.values()) phrases.sort((a, b) => b.words.length - a.words.length);

function addPhrase(phrase: string, kind: CueKind): void {
  const words = phrase.split(' ');
  const list = UNSPACED.test(phrase) ? UNSPACED_PHRASES : listOf(words[0]!);
  const known = list.find((other) => other.words.join(' ') === phrase);
  if (known === undefined) list.push({ words, kinds: [kind] });
  else if (!known.kinds.includes(kind)) known.kinds.push(kind);
}

function listOf(word: string): Phrase[] {
  const list = SPACED.get(word) ?? [];
  SPACED.set(word, list);
  return list;
}

/**
 * All cues of a normalised text, sorted by `from`; `ascii` says whether it has only ASCII. A phrase that announces
 * several kinds gives one cue for each.
 */
export function cuesOf(text: string, ascii: boolean): readonly Cue[] {
  const cues: Cue[] = [];
  const words: string[] = [];
  const from: number[] = [];
  for (const match of text.matchAll(ascii ? ASCII_WORD : WORD)) {
    words.push(match[0].toLowerCase());
    from.push(match.index);
  }
  for (let index = 0; index < words.length; index++) {
    const phrase = SPACED.get(words[index]!)?.find((candidate) => standsAt(candidate.words, words, index));
    if (phrase === undefined) continue;
    const last = index + phrase.words.length - 1;
    const to = endOfWord(text, from[last]!, words[last]!);
    if (!isJoined(text, from, index, last)) continue;
    for (const kind of phrase.kinds) cues.push({ kind, from: from[index]!, to });
    index = last;
  }
  if (!ascii && UNSPACED.test(text)) addUnspaced(text, cues);
  return cues;
}

/** True when the words contain a cue. */
export function announces(words: string): boolean {
  return cuesOf(words, isAscii(words)).length > 0;
}

function standsAt(phrase: readonly string[], words: readonly string[], index: number): boolean {
  return phrase.every((word, offset) => words[index + offset] === word);
}

/** Little may separate the words of a phrase: `driver's license`, `follow-up`, `T.C. kimlik`. */
function isJoined(text: string, from: readonly number[], first: number, last: number): boolean {
  for (let index = first; index < last; index++) {
    const gap = text.slice(from[index]!, from[index + 1]).replace(/^[\p{L}\p{M}\p{N}_]+/u, '');
    if (!/^[ './-]{1,2}$/.test(gap)) return false;
  }
  return true;
}

// Words whose length changes in lower case are rare; their end is searched again.
function endOfWord(text: string, from: number, word: string): number {
  const end = from + word.length;
  if (text.slice(from, end).toLowerCase() === word) return end;
  WORD.lastIndex = from;
  const match = WORD.exec(text);
  WORD.lastIndex = 0;
  return match === null ? end : from + match[0].length;
}

function addUnspaced(text: string, cues: Cue[]): void {
  for (const { words, kinds } of UNSPACED_PHRASES) {
    const phrase = words.join(' ');
    for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + phrase.length))
      for (const kind of kinds) cues.push({ kind, from: at, to: at + phrase.length });
  }
  cues.sort((a, b) => a.from - b.from);
}
