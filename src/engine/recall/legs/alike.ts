// Finds words of a memory that are similar to a word it does not hold: typing errors, phonetic spellings, common
// prefixes and suffixes. Runs only for query expansion and few words, so it scans the vocabulary and caches nothing.

import { VOCABULARY_WORDS_MAX } from '../../base/limits.ts';
import type { AlikeWords } from '../../calls/recall.ts';
import type { Analyzer } from '../../index/text/analyze.ts';
import { frequencyAmong, removedDocsOf } from '../../index/text/search.ts';
import type { SearchPart } from '../../index/text/search-part.ts';
import { Vocabulary } from '../../index/text/vocabulary.ts';

/** Maximum number of unknown words to look up: a query with more of them is not a typing error. */
const WORDS_MAX = 4;
const WORD_CHARS_MIN = 3;
/** Candidates for the exact spelling comparison, for each word; they cost a millisecond. */
const NEAREST_MAX = 48;
/** Maximum number of differing letters, and of difference in length, for a word to be compared in full. */
const LETTERS_APART_MAX = 6;
const CHARS_APART_MAX = 6;

/**
 * Similar words for each word, in input order: words of live grains alone. A bound caller gets only words from grains
 * within its binding.
 */
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
    // Skip stop words and words of several terms.
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
      for (const near of nearest)
        near.look(word, letters, () => (countsAll(part) ? frequency : frequencyIn(part, word)));
    }
  const found = new Map([...sought].map(([term, near]) => [term, near.meant(analyzer, limit)]));
  return {
    words: asked.map(({ known, term }) => ({ known, alike: (term === undefined ? undefined : found.get(term)) ?? [] })),
  };
}

interface Word {
  readonly part: SearchPart;
  readonly word: string;
  /** Number of docs in the part with this word, visible or not, removed or not. */
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

/** True if the caller sees every doc of the part. The words of removed docs stay in it until a merge. */
function countsAll(part: SearchPart): boolean {
  return part.counted === undefined && removedDocsOf(part).length === 0;
}

/** Number of live docs in a part with a term; counts only the caller's docs if it does not see all. */
function frequencyIn(part: SearchPart, term: string): number {
  const postings = part.text.postings(term);
  return postings === undefined ? 0 : frequencyAmong(postings, part, removedDocsOf(part));
}

/** Preselects the words that share most letters with a given one, at a few nanoseconds a word. */
class Nearest {
  readonly #term: string;
  readonly #letters: number;
  /** Words by number of differing letters. */
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

/** A word with this term as its stem, because stemming a stem may change it again. Undefined if no ending works. */
function spellingOf(term: string, analyzer: Analyzer): string | undefined {
  return ['', 'e', 's', 'y', 'ing']
    .map((ending) => (ending === 'y' ? term.replace(/i$/, 'y') : term + ending))
    .find((word) => {
      const { terms } = analyzer.analyze(word);
      return terms.length === 1 && terms[0] === term;
    });
}

/** A bit mask of the letters in a word; other characters share bits. */
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
