// Finds the words of Latin texts and the numbers of their terms: the word kernel with its table, which this file fills.
import { Buffer } from 'node:buffer';
import { WORD_TABLE_MAX } from '../../base/limits.ts';
import { wasm } from '../../base/wasm.ts';
import { termNumbers } from './term-numbers.ts';
import {
  DONE,
  ENTRY_BYTES,
  ENTRY_HASH,
  ENTRY_WORD,
  FOUND_AT,
  FOUND_BYTES,
  GAVE_UP,
  makeWordKernel,
  NUMBER_TAG,
  PROBES_MAX,
  STATE_AT,
  STOP_TAG,
  TABLE_AT,
  TABLE_WORD_BYTES_MAX,
  TEXT_AT,
  TEXT_UNITS_MAX,
  type WordKernel,
} from './word-kernel.ts';

const PAGE_BYTES = 65_536;
/** Half of the entries stay free. */
const ENTRIES_MAX = WORD_TABLE_MAX * 2;
const ENTRIES_FIRST = PAGE_BYTES / ENTRY_BYTES;
/** Numbers of a found word: its term's number, its position. */
const FOUND_INTS = FOUND_BYTES / 4;
/** After a longer text, the array of found words shrinks to this. */
const FOUND_KEPT = 4_096 * FOUND_INTS;

/** Found words of a text: (number, position)*. They are overwritten by those of the next text. */
export interface FoundWords {
  pairs: Int32Array;
  /** Index of the first pair in `pairs`. */
  start: number;
  count: number;
}

export class WordTable {
  readonly #memory = new wasm.Memory({
    initial: (TABLE_AT + ENTRIES_FIRST * ENTRY_BYTES) / PAGE_BYTES,
    maximum: (TABLE_AT + ENTRIES_MAX * ENTRY_BYTES) / PAGE_BYTES,
  });
  readonly #kernel: WordKernel;
  readonly #joins: number;
  /** The term of a word as it stands in a text, '' for a stop word. */
  readonly #term: (word: string) => string;
  #epoch = termNumbers.epoch;
  #entries = ENTRIES_FIRST;
  #used = 0;
  // Views of the memory, which must be created again when it grows.
  #ints = new Int32Array(this.#memory.buffer);
  #bytes = Buffer.from(this.#memory.buffer);
  #text = Buffer.from(this.#memory.buffer, TEXT_AT, TEXT_UNITS_MAX * 3);
  /** Collects the words of a text that takes several calls of the kernel. */
  #collected = new Int32Array(FOUND_KEPT);

  /** `kindOf` tells the kind of a character; `joins`: inner apostrophes join. */
  constructor(kindOf: (code: number) => number, joins: boolean, term: (word: string) => string) {
    this.#kernel = makeWordKernel(this.#memory, kindOf);
    this.#joins = joins ? 1 : 0;
    this.#term = term;
  }

  /** Leaves the words of `text` in `found`; false when the text is not for the kernel. */
  scan(text: string, found: FoundWords): boolean {
    if (this.#epoch !== termNumbers.epoch) this.#clear();
    if (text.length > TEXT_UNITS_MAX) return this.#scanPieces(text, found);
    return this.#leave(this.#scanPiece(text, 0), found);
  }

  /** The same for three texts with a space between them, which are not joined to a string first. */
  scanThree(first: string, second: string, third: string, found: FoundWords): boolean {
    if (first.length + second.length + third.length + 2 > TEXT_UNITS_MAX)
      return this.scan(`${first} ${second} ${third}`, found);
    if (this.#epoch !== termNumbers.epoch) this.#clear();
    const text = this.#text;
    let end = text.write(first, 0, 'utf8');
    text[end++] = SPACE;
    end += text.write(second, end, 'utf8');
    text[end++] = SPACE;
    end += text.write(third, end, 'utf8');
    return this.#leave(this.#scanWritten(end, 0), found);
  }

  #leave(count: number, found: FoundWords): boolean {
    found.pairs = this.#ints;
    found.start = FOUND_AT / 4;
    found.count = count;
    return count >= 0;
  }

  /** A long text is cut at spaces, where no word and no composed character is split. */
  #scanPieces(text: string, found: FoundWords): boolean {
    if (this.#collected.length > FOUND_KEPT) this.#collected = new Int32Array(FOUND_KEPT);
    let collected = 0;
    for (let from = 0; from < text.length; ) {
      const to = pieceEnd(text, from);
      if (to < 0) return false;
      const position = collected === 0 && from === 0 ? 0 : this.#position;
      const count = this.#scanPiece(text.slice(from, to), position);
      if (count < 0) return false;
      const end = (collected + count) * FOUND_INTS;
      if (end > this.#collected.length) {
        const longer = new Int32Array(Math.max(end, this.#collected.length * 2));
        longer.set(this.#collected.subarray(0, collected * FOUND_INTS));
        this.#collected = longer;
      }
      const start = FOUND_AT / 4;
      this.#collected.set(this.#ints.subarray(start, start + count * FOUND_INTS), collected * FOUND_INTS);
      collected += count;
      from = to;
    }
    found.pairs = this.#collected;
    found.start = 0;
    found.count = collected;
    return true;
  }

  /** The position after the last call of the kernel. */
  get #position(): number {
    return this.#ints[STATE_AT / 4 + 3]!;
  }

  /** The number of found words, or -1. */
  #scanPiece(text: string, position: number): number {
    return this.#scanWritten(this.#text.write(text, 'utf8'), position);
  }

  /** The same for a text of that many bytes, which is in the memory. */
  #scanWritten(textBytes: number, position: number): number {
    const end = TEXT_AT + textBytes;
    let at = TEXT_AT;
    let out = FOUND_AT;
    for (;;) {
      const result = this.#kernel(at, end, position, out, this.#joins, this.#entries - 1);
      if (result === GAVE_UP) return -1;
      const state = STATE_AT / 4;
      out = this.#ints[state + 4]!;
      if (result === DONE) return (out - FOUND_AT) / FOUND_BYTES;
      at = this.#ints[state + 1]!;
      position = this.#ints[state + 3]!;
      const number = this.#learn(this.#ints[state]!, at, this.#ints[state + 2]!);
      if (number >= 0) {
        this.#ints[out / 4] = number;
        this.#ints[out / 4 + 1] = position;
        out += FOUND_BYTES;
      }
      position += 1;
    }
  }

  /** The number of the term of the word at `start`..`end - 1` of the memory, or -1 for a stop word. */
  #learn(start: number, end: number, hash: number): number {
    const term = this.#term(this.#bytes.toString('utf8', start, end));
    const number = term === '' ? -1 : termNumbers.number(term);
    if (end - start > TABLE_WORD_BYTES_MAX) return number;
    if (this.#used >= WORD_TABLE_MAX) this.#clear();
    if (this.#used * 2 >= this.#entries) this.#widen();
    const entry = this.#freeEntry(hash);
    if (entry < 0) return number;
    this.#ints[entry / 4] = number < 0 ? STOP_TAG : number + NUMBER_TAG;
    this.#ints[(entry + ENTRY_HASH) / 4] = hash;
    this.#bytes.copyWithin(entry + ENTRY_WORD, start, end);
    this.#used += 1;
    return number;
  }

  /** The place of a free entry for a word with that hash, or -1. */
  #freeEntry(hash: number): number {
    const mask = this.#entries - 1;
    let slot = hash & mask;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const entry = TABLE_AT + slot * ENTRY_BYTES;
      if (this.#ints[entry / 4] === 0) return entry;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  /** Words in use soon return. */
  #clear(): void {
    this.#bytes.fill(0, TABLE_AT);
    this.#used = 0;
    this.#epoch = termNumbers.epoch;
  }

  #widen(): void {
    const old = Buffer.from(this.#bytes.subarray(TABLE_AT, TABLE_AT + this.#entries * ENTRY_BYTES));
    this.#memory.grow((this.#entries * ENTRY_BYTES) / PAGE_BYTES);
    this.#ints = new Int32Array(this.#memory.buffer);
    this.#bytes = Buffer.from(this.#memory.buffer);
    this.#text = Buffer.from(this.#memory.buffer, TEXT_AT, TEXT_UNITS_MAX * 3);
    this.#entries *= 2;
    this.#bytes.fill(0, TABLE_AT);
    this.#used = 0;
    for (let at = 0; at < old.length; at += ENTRY_BYTES) {
      if (old.readInt32LE(at) === 0) continue;
      const entry = this.#freeEntry(old.readInt32LE(at + ENTRY_HASH));
      if (entry < 0) continue;
      old.copy(this.#bytes, entry, at, at + ENTRY_BYTES);
      this.#used += 1;
    }
  }
}

const SPACE = 0x20;

/** The end of the piece of a long text that begins at `from`: the text's end, or behind a space. -1 without one. */
function pieceEnd(text: string, from: number): number {
  if (text.length - from <= TEXT_UNITS_MAX) return text.length;
  for (let to = from + TEXT_UNITS_MAX; to > from; to--) if (text.charCodeAt(to - 1) <= SPACE) return to;
  return -1;
}
