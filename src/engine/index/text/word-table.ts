// Latin words, as they stand in a text, to their terms: a hash table over characters, so that the scanner finds the
// term of a word without cutting a string out of the text. Half of what analysing costs otherwise is making and hashing
// those strings.
import { WORD_CACHE_MAX } from '../../base/limits.ts';

const SLOTS = WORD_CACHE_MAX * 2;
/** Slots looked at for a word; one that finds no room in them is not kept. */
const PROBES_MAX = 32;
/** Longer words are rare, and not kept here. */
export const TABLE_WORD_CHARS_MAX = 24;

/**
 * What the hash of a word starts with, and how a character goes into it (FNV-1a); the scanner hashes while it reads. The
 * start is another one in every process, so that nobody can choose words that all fall into one slot.
 */
export const HASH_START = Math.floor(Math.random() * 2 ** 32) | 0;
export function hashOn(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

export class WordTable {
  /** By slot: the entry plus one, or 0. */
  #slots = new Int32Array(1_024);
  /** By entry: where its characters begin; its length; its hash. */
  #starts = new Int32Array(512);
  #hashes = new Int32Array(512);
  #characters = new Uint16Array(8_192);
  #used = 0;
  #terms: string[] = [];
  #numbers: number[] = [];

  /** The entry of the word at `start`..`end` of `text`, or -1 when it is not in the table. Entries last until `add`. */
  find(text: string, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = spread(hash) & mask;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const entry = slots[slot]! - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] === hash && this.#is(entry, text, start, end)) return entry;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  term(entry: number): string {
    return this.#terms[entry]!;
  }

  /** The number of the entry's term: see `AnalyzedText`. */
  number(entry: number): number {
    return this.#numbers[entry]!;
  }

  /**
   * Puts in a word that is not there, and returns its entry. When the table is full it is emptied first: what is in use comes
   * back soon.
   */
  add(word: string, hash: number, term: string): number {
    if (this.#terms.length >= WORD_CACHE_MAX) this.#clear();
    const entry = this.#terms.length;
    if ((entry + 1) * 2 > this.#slots.length) this.#widen();
    if (entry + 1 >= this.#starts.length) {
      this.#starts = copied(this.#starts, new Int32Array(this.#starts.length * 2));
      this.#hashes = copied(this.#hashes, new Int32Array(this.#hashes.length * 2));
    }
    if (this.#used + word.length > this.#characters.length) {
      this.#characters = copied(this.#characters, new Uint16Array(this.#characters.length * 2));
    }
    for (let i = 0; i < word.length; i++) this.#characters[this.#used++] = word.charCodeAt(i);
    this.#starts[entry + 1] = this.#used;
    this.#hashes[entry] = hash;
    this.#terms.push(term);
    this.#numbers.push(numberOf(term));
    this.#place(entry);
    return entry;
  }

  #is(entry: number, text: string, start: number, end: number): boolean {
    const from = this.#starts[entry]!;
    if (this.#starts[entry + 1]! - from !== end - start) return false;
    const characters = this.#characters;
    for (let i = start, at = from; i < end; i++, at++) if (text.charCodeAt(i) !== characters[at]) return false;
    return true;
  }

  #place(entry: number): void {
    const mask = this.#slots.length - 1;
    let slot = spread(this.#hashes[entry]!) & mask;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      if (this.#slots[slot] === 0) {
        this.#slots[slot] = entry + 1;
        return;
      }
      slot = (slot + 1) & mask;
    }
  }

  #widen(): void {
    this.#slots = new Int32Array(Math.min(this.#slots.length * 4, SLOTS));
    for (let entry = 0; entry < this.#terms.length; entry++) this.#place(entry);
  }

  #clear(): void {
    this.#slots.fill(0);
    this.#used = 0;
    this.#terms = [];
    this.#numbers = [];
  }
}

/** Numbers of terms, of all tables. When there are too many the terms get new ones: no number ever names another term. */
const numbers = new Map<string, number>();
let nextNumber = 0;

function numberOf(term: string): number {
  const known = numbers.get(term);
  if (known !== undefined) return known;
  if (numbers.size >= WORD_CACHE_MAX) numbers.clear();
  numbers.set(term, nextNumber);
  return nextNumber++;
}

/** Brings the high bits down: the slot is the low ones. */
function spread(hash: number): number {
  return hash ^ (hash >>> 15);
}

function copied<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
