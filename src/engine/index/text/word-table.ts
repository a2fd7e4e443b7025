// Maps Latin words, as they stand in a text, to their terms: a hash table over characters, so that the scanner finds a
// word's term without cutting a string out of the text. Creating and hashing those strings would be half of the cost of
// analysing.
import { WORD_CACHE_MAX } from '../../base/limits.ts';

const SLOTS = WORD_CACHE_MAX * 2;
/** Slots that are probed for a word. A word that finds no free slot there is not stored. */
const PROBES_MAX = 32;
/** Longer words are rare and are not stored. */
export const TABLE_WORD_CHARS_MAX = 24;

/**
 * The initial hash value, and the step for a character (FNV-1a); the scanner hashes while it reads. The initial value
 * is random in every process, so that nobody can choose words that collide.
 */
export const HASH_START = Math.floor(Math.random() * 2 ** 32) | 0;
export function hashOn(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

export class WordTable {
  /** By slot: the entry plus one, or 0. */
  #slots = new Int32Array(1_024);
  /** By entry: the start of its characters; its length; its hash. */
  #starts = new Int32Array(512);
  #hashes = new Int32Array(512);
  #characters = new Uint16Array(8_192);
  #used = 0;
  #terms: string[] = [];
  #numbers: number[] = [];

  /**
   * The entry of the word at `start`..`end - 1` of `units` (UTF-16), or -1 when it is not in the table. Entries last
   * until `add`.
   */
  find(units: Uint16Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = spread(hash) & mask;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const entry = slots[slot]! - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] === hash && this.#is(entry, units, start, end)) return entry;
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

  /** Adds a missing word and returns its entry. A full table is emptied first; words in use soon return. */
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

  #is(entry: number, units: Uint16Array, start: number, end: number): boolean {
    const from = this.#starts[entry]!;
    if (this.#starts[entry + 1]! - from !== end - start) return false;
    const characters = this.#characters;
    for (let i = start, at = from; i < end; i++, at++) if (units[i] !== characters[at]) return false;
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

/**
 * Numbers of terms, shared by all tables. When there are too many, terms get new numbers; a number never identifies
 * another term.
 */
const numbers = new Map<string, number>();
let nextNumber = 0;

function numberOf(term: string): number {
  const known = numbers.get(term);
  if (known !== undefined) return known;
  if (numbers.size >= WORD_CACHE_MAX) numbers.clear();
  numbers.set(term, nextNumber);
  return nextNumber++;
}

/** Mixes the high bits into the low ones, which select the slot. */
function spread(hash: number): number {
  return hash ^ (hash >>> 15);
}

function copied<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
