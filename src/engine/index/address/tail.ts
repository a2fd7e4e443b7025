// Docs by the first 8 bytes of a hash (content address, identity) in the tails of one shard. One open-addressing table
// serves every memory; an entry is four integers.
import { grow } from '../files/list-table.ts';

/** An entry: owner, two halves of the prefix, doc. */
const ENTRY_INTS = 4;

export const NO_DOCS: readonly number[] = [];

export class PrefixTable {
  #entries = new Int32Array(ENTRY_INTS * 64);
  #count = 0;
  /** Entry number + 1, 0 is free. At most half full. */
  #slots = new Int32Array(128);

  /** Adds a doc under a hash given in hex, of which the first 16 characters count. */
  add(owner: number, hash: string, doc: number): void {
    const entry = this.#count++;
    if (entry * 2 >= this.#slots.length) this.#rehash();
    if ((entry + 1) * ENTRY_INTS > this.#entries.length) this.#entries = grow(this.#entries);
    const base = entry * ENTRY_INTS;
    findPrefix(hash);
    this.#entries[base] = owner;
    this.#entries[base + 1] = prefix[0]!;
    this.#entries[base + 2] = prefix[1]!;
    this.#entries[base + 3] = doc;
    this.#place(entry);
  }

  /** Docs of the owner under that hash, ascending. */
  docs(owner: number, hash: string): readonly number[] {
    findPrefix(hash);
    const high = prefix[0]!;
    const low = prefix[1]!;
    const mask = this.#slots.length - 1;
    let found: number[] | undefined;
    for (let slot = slotOf(owner, high) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot]! - 1;
      if (entry < 0) return found?.sort((a, b) => a - b) ?? NO_DOCS;
      const base = entry * ENTRY_INTS;
      if (this.#entries[base + 1] !== high || this.#entries[base + 2] !== low || this.#entries[base] !== owner)
        continue;
      found ??= [];
      found.push(this.#entries[base + 3]!);
    }
  }

  /** The entries of every owner, in one array of (owner, high, low, doc), in the order of `add`. The halves are signed. Read-only. */
  entries(): Int32Array {
    return this.#entries.subarray(0, this.#count * ENTRY_INTS);
  }

  /**
   * Writes the first 32 bits of the hashes of the owner's docs into `heads` by doc, from entry `from` on. Returns the
   * number of entries, from which the next call continues.
   */
  readHeads(owner: number, heads: Uint32Array, from: number): number {
    for (let base = from * ENTRY_INTS; base < this.#count * ENTRY_INTS; base += ENTRY_INTS)
      if (this.#entries[base] === owner) heads[this.#entries[base + 3]!] = this.#entries[base + 1]!;
    return this.#count;
  }

  #place(entry: number): void {
    const mask = this.#slots.length - 1;
    let slot = slotOf(this.#entries[entry * ENTRY_INTS]!, this.#entries[entry * ENTRY_INTS + 1]!) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = entry + 1;
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let entry = 0; entry < this.#count - 1; entry++) this.#place(entry);
  }
}

/** Prefixes are hashes already, and the owner only shifts them. */
function slotOf(owner: number, high: number): number {
  return high ^ Math.imul(owner, 0x9e37_79b1);
}

/** The value of each hex digit by its character code. */
const DIGITS = new Uint8Array(128);
for (let digit = 0; digit < 16; digit++) DIGITS[digit.toString(16).charCodeAt(0)] = digit;

/** The signed 32-bit number of the eight hex digits (lower case) of `hex` at `at`. */
function hexWord(hex: string, at: number): number {
  let value = 0;
  for (let i = at; i < at + 8; i++) value = (value << 4) | DIGITS[hex.charCodeAt(i) & 127]!;
  return value;
}

/**
 * The first 64 bits of the last hash that `findPrefix` was asked for, in two halves. They are signed, because a number above
 * 2^31 would be an object of its own each time that it is passed on.
 */
export const prefix = new Int32Array(2);
let last = '';

/** Leaves the prefix of a hash in hex in `prefix`. One hash is looked up in every part of a memory in turn. */
export function findPrefix(hash: string): void {
  if (hash === last) return;
  prefix[0] = hexWord(hash, 0);
  prefix[1] = hexWord(hash, 8);
  last = hash;
}
