// Text analysis: terms with their positions (spec: ranking of text, section 1). Lower case, NFKC, without a final 's,
// inner apostrophes joined, Unicode words, without stop words, stemmed. Stop words leave gaps in the positions, so that
// phrases keep their distances. This is the hottest code of ingest. Most text is Latin, so a hand-written scanner reads
// it and looks each word up as it stands; other text goes through the regular expression.
import { TERM_CHARS_MAX, WORD_CACHE_MAX } from '../../base/limits.ts';
import { toNfkc } from '../../base/nfc.ts';
import { type AnalyzedText, NO_NUMBER } from '../parts/part.ts';
import { BIGRAM_CLASS, DICTIONARY_CLASS, eachBigram, eachDictionaryWord } from './cjk.ts';
import { type Language, language, languageCode } from './languages.ts';
import { HASH_START, hashOn, TABLE_WORD_CHARS_MAX, WordTable } from './word-table.ts';

/** Part of the stamp of an index: another version may give other terms for the same text. */
export const ANALYZER_VERSION = 1;

export interface Analyzer {
  /** Code, stemmer and version, as in `en/porter2/1`. Indexes with another name must be rebuilt. */
  readonly name: string;
  /** Terms in reading order, in new arrays. Linear in the text's length; never throws. */
  analyze(text: string): AnalyzedText;
  /** The same in arrays that the next call overwrites: nothing is allocated for a Latin text. */
  scan(text: string): AnalyzedText;
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
  readonly #table = new WordTable();
  readonly #vocabulary: WordCache;
  readonly #apostropheJoins: boolean;

  constructor(spoken: Language) {
    this.name = `${spoken.code}/${spoken.stemmerName}/${ANALYZER_VERSION}`;
    this.#vocabulary = new WordCache(spoken);
    this.#apostropheJoins = spoken.apostropheJoins;
  }

  analyze(text: string): AnalyzedText {
    const found = this.scan(text);
    return found === FOUND ? copyOfFound() : found;
  }

  scan(text: string): AnalyzedText {
    return scanLatin(text, this.#table, this.#vocabulary, this.#apostropheJoins) ? FOUND : this.analyzeAny(text);
  }

  /** The general path. The scanner must agree with it wherever it does not give up; the property test checks that. */
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
    const pattern = this.#apostropheJoins ? JOINED_WORDS : SPLIT_WORDS;
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

/** For the test that compares both paths: the analyser of a language, and the same without its scanner. */
export function bothPaths(languageTag: string): { scanned: Analyzer; general: (text: string) => AnalyzedText } {
  const made = new LanguageAnalyzer(language(languageCode(languageTag)));
  return { scanned: made, general: (text) => made.analyzeAny(text) };
}

const WORD = String.raw`[[\p{L}\p{N}]--${BIGRAM_CLASS}--${DICTIONARY_CLASS}]`;
// Marks continue a word (the vowels of Devanagari are marks) and never begin one.
const WORD_REST = String.raw`[[\p{L}\p{N}\p{M}]--${BIGRAM_CLASS}--${DICTIONARY_CLASS}]`;
const SPLIT = `(${BIGRAM_CLASS}+)|(${DICTIONARY_CLASS}+)|${WORD}${WORD_REST}*`;
const SPLIT_WORDS = new RegExp(SPLIT, 'gv');
const JOINED_WORDS = new RegExp(`${SPLIT}(?:['’]${WORD}${WORD_REST}*)*`, 'gv');

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

const SEPARATOR = 0;
const LETTER = 1;
const APOSTROPHE = 2;
const GIVE_UP = 3;

/**
 * Classes of Latin-1 characters for the scanner. It leaves those that NFKC turns into letters or digits to the general
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

/** A character's class: Latin-1 by table; general punctuation (dashes, curly quotes, spaces) separates. */
function classOf(code: number): number {
  if (code < 256) return LATIN[code]!;
  if (code === 0x2019) return APOSTROPHE;
  return code >= 0x2000 && code < 0x2070 ? SEPARATOR : GIVE_UP;
}

// The scanner's results, reused from text to text: arrays that grow word by word, or are copied, were a tenth of an add's
// allocations.
const foundTerms: string[] = [];
const foundPositions: number[] = [];
const foundNumbers: number[] = [];
const FOUND = { terms: foundTerms, positions: foundPositions, numbers: foundNumbers, count: 0 };
/** After a longer text, the arrays shrink to this. */
const FOUND_KEPT = 4_096;

function copyOfFound(): AnalyzedText {
  const { terms, positions, numbers, count } = FOUND;
  return { terms: terms.slice(0, count), positions: positions.slice(0, count), numbers: numbers.slice(0, count) };
}

/** UTF-16 units of a text that the scanner keeps room for. A longer text gets an array of its own. */
const UNITS_KEPT = 16_384;
const keptUnits = new Uint16Array(UNITS_KEPT);
const keptBytes = bytesOf(keptUnits);

/**
 * The UTF-16 units of a text, from index 0; the array may be longer than the text, and is valid until the next call. One
 * copy costs less than `charCodeAt` for every character: that looks up the kind of the string each time, and the scanner
 * reads a word twice.
 */
function unitsOf(text: string): Uint16Array {
  if (text.length <= UNITS_KEPT) {
    keptBytes.write(text, 'utf16le');
    return keptUnits;
  }
  const units = new Uint16Array(text.length);
  bytesOf(units).write(text, 'utf16le');
  return units;
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint16Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Leaves the terms in FOUND; false when the text is for the general path. */
function scanLatin(text: string, table: WordTable, vocabulary: WordCache, apostropheJoins: boolean): boolean {
  if (foundTerms.length > FOUND_KEPT) for (const kept of [foundTerms, foundPositions, foundNumbers]) kept.length = 0;
  const units = unitsOf(text);
  const length = text.length;
  let count = 0;
  let position = 0;
  let index = 0;
  while (index < length) {
    let code = units[index]!;
    let kind = classOf(code);
    if (kind !== LETTER) {
      if (kind === GIVE_UP) return false;
      index++;
      continue;
    }
    const start = index;
    let hash = HASH_START;
    do {
      hash = hashOn(hash, code);
      if (++index >= length) break;
      code = units[index]!;
      kind = classOf(code);
      if (kind === APOSTROPHE && !(apostropheJoins && letterFollows(units, index, length))) break;
    } while (kind === LETTER || kind === APOSTROPHE);
    let term: string;
    let number = NO_NUMBER;
    if (index - start > TABLE_WORD_CHARS_MAX) {
      term = vocabulary.term(text.slice(start, index));
    } else {
      let entry = table.find(units, start, index, hash);
      if (entry < 0) entry = learn(text.slice(start, index), hash, table, vocabulary);
      term = table.term(entry);
      number = table.number(entry);
    }
    if (term !== '') {
      foundTerms[count] = term;
      foundNumbers[count] = number;
      foundPositions[count++] = position;
    }
    position++;
  }
  FOUND.count = count;
  return true;
}

function letterFollows(units: Uint16Array, index: number, length: number): boolean {
  return index + 1 < length && classOf(units[index + 1]!) === LETTER;
}

function learn(word: string, hash: number, table: WordTable, vocabulary: WordCache): number {
  return table.add(word, hash, vocabulary.term(word));
}
