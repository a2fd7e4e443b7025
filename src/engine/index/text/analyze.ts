// Text analysis: terms with their positions (spec: ranking of text, section 1). Lower case, NFKC, without a final 's,
// inner apostrophes joined, Unicode words, without stop words, stemmed. Stop words leave gaps in the positions, so that
// phrases keep their distances. This is the hottest code of ingest. Most text is Latin, so a WebAssembly kernel reads it
// and looks each word up as it stands (word-kernel.ts); other text goes through the regular expression.
import { TERM_CHARS_MAX, WORD_CACHE_MAX } from '../../base/limits.ts';
import { toNfkc } from '../../base/nfc.ts';
import type { AnalyzedText, NumberedText } from '../parts/part.ts';
import { BIGRAM_CLASS, DICTIONARY_CLASS, eachBigram, eachDictionaryWord } from './cjk.ts';
import { type Language, language, languageCode } from './languages.ts';
import { numbered, termNumbers, textOf } from './term-numbers.ts';
import { APOSTROPHE, GIVE_UP, LETTER, SEPARATOR } from './word-kernel.ts';
import { WordTable } from './word-table.ts';

/** Part of the stamp of an index: another version may give other terms for the same text. */
export const ANALYZER_VERSION = 1;

export interface Analyzer {
  /** Code, stemmer and version, as in `en/porter2/1`. Indexes with another name must be rebuilt. */
  readonly name: string;
  /** Terms in reading order, in new arrays. Linear in the text's length; never throws. */
  analyze(text: string): AnalyzedText;
  /** The same with the terms' numbers. The next call overwrites them: nothing is allocated for a Latin text. */
  scan(text: string): NumberedText;
  /** `scan` of three texts with a space between them. */
  scanThree(first: string, second: string, third: string): NumberedText;
}

const analyzers = new Map<string, Analyzer>();

/**
 * The analyser of a language tag (`en`, `pt-BR`). For an unknown language, words are indexed as they are, stop words
 * included.
 */
export function analyzer(languageTag: string): Analyzer {
  const code = languageCode(languageTag);
  let found = analyzers.get(code);
  if (found === undefined) {
    found = new LanguageAnalyzer(language(code));
    // Limits what callers can make the process keep: there are fewer than two hundred ISO 639-1 codes.
    if (analyzers.size < 256) analyzers.set(code, found);
  }
  return found;
}

class LanguageAnalyzer implements Analyzer {
  readonly name: string;
  readonly #vocabulary: WordCache;
  readonly #table: WordTable;
  readonly #apostropheJoins: boolean;

  constructor(spoken: Language) {
    this.name = `${spoken.code}/${spoken.stemmerName}/${ANALYZER_VERSION}`;
    const vocabulary = new WordCache(spoken);
    this.#vocabulary = vocabulary;
    this.#apostropheJoins = spoken.apostropheJoins;
    this.#table = new WordTable(kindOf, spoken.apostropheJoins, (word) => vocabulary.term(word));
  }

  analyze(text: string): AnalyzedText {
    termNumbers.beforeText();
    return this.#table.scan(text, FOUND) ? textOf(FOUND) : this.analyzeAny(text);
  }

  scan(text: string): NumberedText {
    termNumbers.beforeText();
    return this.#table.scan(text, FOUND) ? FOUND : numbered(this.analyzeAny(text));
  }

  scanThree(first: string, second: string, third: string): NumberedText {
    termNumbers.beforeText();
    if (this.#table.scanThree(first, second, third, FOUND)) return FOUND;
    return numbered(this.analyzeAny(`${first} ${second} ${third}`));
  }

  /** The general path. The kernel must agree with it wherever it does not give up; the property test checks that. */
  analyzeAny(text: string): AnalyzedText {
    const terms: string[] = [];
    const positions: number[] = [];
    let position = 0;
    const vocabulary = this.#vocabulary;
    const emitWord = (word: string): void => {
      const term = vocabulary.term(word);
      if (term !== '') {
        terms.push(term);
        positions.push(position);
      }
      position++;
    };
    const emitBigram = (bigram: string): void => {
      terms.push(detached(bigram));
      positions.push(position++);
    };
    // Lower-casing the Turkish capital I leaves a dot above, which nobody types in a query.
    const plain = toNfkc(text).toLowerCase().replaceAll('i\u0307', 'i');
    const pattern = wordPattern(this.#apostropheJoins);
    pattern.lastIndex = 0;
    for (let match = pattern.exec(plain); match !== null; match = pattern.exec(plain)) {
      const [run, bigrams, dictionary] = match;
      if (bigrams !== undefined) eachBigram(bigrams, emitBigram);
      else if (dictionary !== undefined) eachDictionaryWord(dictionary, emitWord);
      else emitWord(run);
    }
    return { terms, positions };
  }
}

/** For the test that compares both paths: the analyser of a language, and the same without its kernel. */
export function bothPaths(languageTag: string): { scanned: Analyzer; general: (text: string) => AnalyzedText } {
  const made = new LanguageAnalyzer(language(languageCode(languageTag)));
  return { scanned: made, general: (text) => made.analyzeAny(text) };
}

const WORD = String.raw`[[\p{L}\p{N}]--${BIGRAM_CLASS}--${DICTIONARY_CLASS}]`;
// Marks continue a word (the vowels of Devanagari are marks) and never begin one.
const WORD_REST = String.raw`[[\p{L}\p{N}\p{M}]--${BIGRAM_CLASS}--${DICTIONARY_CLASS}]`;
const SPLIT = `(${BIGRAM_CLASS}+)|(${DICTIONARY_CLASS}+)|${WORD}${WORD_REST}*`;
let splitWords: RegExp | undefined;
let joinedWords: RegExp | undefined;

/** Made when a text needs it: the classes cost a thread milliseconds, and the kernel scans most texts without them. */
function wordPattern(apostropheJoins: boolean): RegExp {
  if (apostropheJoins) {
    joinedWords ??= new RegExp(`${SPLIT}(?:['’]${WORD}${WORD_REST}*)*`, 'gv');
    return joinedWords;
  }
  splitWords ??= new RegExp(SPLIT, 'gv');
  return splitWords;
}

/**
 * Maps words as they stand in texts to their terms, '' for stop words. Two generations: when the young one is full it
 * becomes the old one, and words still in use move back. A warm look-up costs some 30 ns, a stem 2 µs.
 */
class WordCache {
  readonly #language: Language;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(spoken: Language) {
    this.#language = spoken;
  }

  /** The term of a word that may still have capitals and inner apostrophes (only where those join). */
  term(word: string): string {
    const known = this.#young.get(word);
    if (known !== undefined) return known;
    if (word.length > TERM_CHARS_MAX) return makeTerm(detached(word.slice(0, TERM_CHARS_MAX)), this.#language);
    // A slice keeps its whole text alive, so the stored key must be a copy.
    const own = detached(word);
    const term = this.#old.get(own) ?? makeTerm(own, this.#language);
    if (this.#young.size >= WORD_CACHE_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(own, term);
    return term;
  }
}

function detached(word: string): string {
  return Buffer.from(word, 'utf16le').toString('utf16le');
}

function makeTerm(word: string, spoken: Language): string {
  let plain = word.toLowerCase();
  if (plain.includes("'") || plain.includes('’')) {
    plain = plain.replaceAll('’', "'");
    if (spoken.stopWords.has(plain)) return '';
    if (plain.endsWith("'s")) plain = plain.slice(0, -2);
    plain = plain.replaceAll("'", '');
  }
  // The cut after TERM_CHARS_MAX may have split a surrogate pair.
  if (/[\ud800-\udbff]$/.test(plain)) plain = plain.slice(0, -1);
  if (plain === '' || spoken.stopWords.has(plain)) return '';
  // Stemmers are for words: Porter2 would turn 2023 into 202y, and very long strings are keys, not words.
  if (/\p{N}/u.test(plain) || plain.length > STEMMED_CHARS_MAX) return plain;
  return spoken.stem(plain) || plain;
}

const STEMMED_CHARS_MAX = 32;

/**
 * Kinds of Latin-1 characters for the kernel. It leaves those that NFKC turns into letters or digits to the general
 * path.
 */
const LATIN = new Uint8Array(256);
for (let code = 0; code < 256; code++) {
  const letter = String.fromCharCode(code);
  const stable = letter.normalize('NFKC') === letter;
  if (/[\p{L}\p{N}]/u.test(letter)) LATIN[code] = stable ? LETTER : GIVE_UP;
  else if (/[\p{L}\p{N}]/u.test(letter.normalize('NFKC'))) LATIN[code] = GIVE_UP;
}
LATIN["'".charCodeAt(0)] = APOSTROPHE;

/** A character's kind: Latin-1 by table; general punctuation (dashes, curly quotes, spaces) separates. */
function kindOf(code: number): number {
  if (code < 256) return LATIN[code]!;
  if (code === 0x2019) return APOSTROPHE;
  return code >= 0x2000 && code < 0x2070 ? SEPARATOR : GIVE_UP;
}

/** The result of a scan, reused from text to text. */
const FOUND = { pairs: new Int32Array(0), start: 0, count: 0 };
