// Words of a memory that may be meant by a word which it does not hold: slips, spellings by ear, beginnings and endings.
// Only asked for by who asks for expansion, of few words; so nothing is kept, and the memory's words are read through.

import { VOCABULARY_WORDS_MAX } from '../../base/limits.ts';
import type { AlikeWords } from '../../calls/recall.ts';
import type { Analyzer } from '../../index/text/analyze.ts';
import { frequencyAmong } from '../../index/text/search.ts';
import type { SearchPart } from '../../index/text/search-part.ts';
import { Vocabulary } from '../../index/text/vocabulary.ts';

/** Words of a query that are looked for; a query with more of them is not a slip of the keyboard. */
const WORDS_MAX = 4;
const WORD_CHARS_MIN = 3;
/** Words of the memory that spelling decides among, for each one that is looked for: a millisecond. */
const NEAREST_MAX = 48;
/** Letters that one word may have and the other not, and how much longer either may be, to be looked at closer. */
const LETTERS_APART_MAX = 6;
const CHARS_APART_MAX = 6;

/** What the memory's parts say of each word, in the words' order; for a bound caller of what is counted for it alone. */
export function alikeWords(
  parts: readonly SearchPart[],
  analyzer: Analyzer,
  words: readonly string[],
  limit: number,
): AlikeWords {
  const sought = new Map<string, Nearest>();
  const asked = words.map((word) => {
    const { terms } = analyzer.analyze(word);
    const [term] = terms;
    // A stop word says nothing, and what is several terms is no word to have slipped in.
    if (term === undefined || terms.length > 1 || term.length < WORD_CHARS_MIN)
      return { known: false, term: undefined };
    if (parts.some((part) => frequencyIn(part, term) > 0)) return { known: true, term: undefined };
    if (!sought.has(term) && sought.size < WORDS_MAX) sought.set(term, new Nearest(term));
    return { known: false, term };
  });
  const nearest = [...sought.values()];
  if (nearest.length > 0)
    for (const { part, word, frequency } of wordsOf(parts)) {
      const letters = lettersOf(word);
      for (const near of nearest) near.look(word, letters, () => (isBound(part) ? frequencyIn(part, word) : frequency));
    }
  const found = new Map([...sought].map(([term, near]) => [term, near.meant(analyzer, limit)]));
  return {
    words: asked.map(({ known, term }) => ({ known, alike: (term === undefined ? undefined : found.get(term)) ?? [] })),
  };
}

interface Word {
  readonly part: SearchPart;
  readonly word: string;
  /** Documents of the part that hold it, whoever may see them. */
  readonly frequency: number;
}

function* wordsOf(parts: readonly SearchPart[]): Iterable<Word> {
  let read = 0;
  for (const part of parts)
    for (const [word, frequency] of part.text.vocabulary()) {
      if (read++ >= VOCABULARY_WORDS_MAX) return;
      yield { part, word, frequency };
    }
}

function isBound({ counted }: SearchPart): boolean {
  return counted !== undefined;
}

const NONE = new Uint32Array(0);

/** Documents of a part that hold a term; of those that are counted where not all are. */
function frequencyIn(part: SearchPart, term: string): number {
  const postings = part.text.postings(term);
  return postings === undefined ? 0 : frequencyAmong(postings, part, NONE);
}

/** The words that share most letters with one: a rough choice, at some nanoseconds a word. */
class Nearest {
  readonly #term: string;
  readonly #letters: number;
  /** By letters apart. */
  readonly #found: [string, number][][] = Array.from({ length: LETTERS_APART_MAX + 1 }, () => []);

  constructor(term: string) {
    this.#term = term;
    this.#letters = lettersOf(term);
  }

  look(word: string, letters: number, frequencyOf: () => number): void {
    if (Math.abs(word.length - this.#term.length) > CHARS_APART_MAX) return;
    const apart = bitCount(letters ^ this.#letters);
    const among = this.#found[apart];
    if (among === undefined || among.length >= NEAREST_MAX) return;
    const frequency = frequencyOf();
    if (frequency > 0) among.push([word, frequency]);
  }

  meant(analyzer: Analyzer, limit: number): { word: string; similarity: number }[] {
    const nearest = this.#found.flat().slice(0, NEAREST_MAX);
    return Vocabulary.build(nearest)
      .expand(this.#term, limit * 2)
      .flatMap(({ term, similarity }) => {
        const word = spellingOf(term, analyzer);
        return word === undefined ? [] : [{ word, similarity }];
      })
      .slice(0, limit);
  }
}

/** A word whose stem is the term: a stem alone may be stemmed once more. Undefined where no ending gives one. */
function spellingOf(term: string, analyzer: Analyzer): string | undefined {
  return ['', 'e', 's', 'y', 'ing']
    .map((ending) => (ending === 'y' ? term.replace(/i$/, 'y') : term + ending))
    .find((word) => {
      const { terms } = analyzer.analyze(word);
      return terms.length === 1 && terms[0] === term;
    });
}

/** A bit for each letter that is there; letters beyond the alphabet share bits. */
function lettersOf(word: string): number {
  let bits = 0;
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31);
  return bits;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}
