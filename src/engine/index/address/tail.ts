// Docs by the first 8 bytes of a hash (content address, identity) in the tails of one shard. One open-addressing table
// serves every memory; an entry is four integers.
import { grow } from '../list-table.ts';

/** An entry: owner, two halves of the prefix, doc. */
const ENTRY_INTS = 4;

export class PrefixTable {
  #entries = new Uint32Array(ENTRY_INTS * 64);
  #count = 0;
  /** Entry number + 1, 0 is free. At most half full. */
  #slots = new Int32Array(128);

  /** Adds a doc under a hash given in hex, of which the first 16 characters count. */
  add(owner: number, hash: string, doc: number): void {
    const entry = this.#count++;
    if (entry * 2 >= this.#slots.length) this.#rehash();
    if ((entry + 1) * ENTRY_INTS > this.#entries.length) this.#entries = grow(this.#entries);
    const base = entry * ENTRY_INTS;
    this.#entries[base] = owner;
    this.#entries[base + 1] = hexWord(hash, 0);
    this.#entries[base + 2] = hexWord(hash, 8);
    this.#entries[base + 3] = doc;
    this.#place(entry);
  }

  /** Docs of the owner under that hash, ascending. */
  docs(owner: number, hash: string): number[] {
    const high = hexWord(hash, 0);
    const low = hexWord(hash, 8);
    const mask = this.#slots.length - 1;
    const found: number[] = [];
    for (let slot = slotOf(owner, high) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot]! - 1;
      if (entry < 0) return found.length > 1 ? found.sort((a, b) => a - b) : found;
      const base = entry * ENTRY_INTS;
      if (this.#entries[base] === owner && this.#entries[base + 1] === high && this.#entries[base + 2] === low)
        found.push(this.#entries[base + 3]!);
    }
  }

  /** The entries of every owner, in one array of (owner, high, low, doc), in the order of `add`. Read-only. */
  entries(): Uint32Array {
    return this.#entries.subarray(0, this.#count * ENTRY_INTS);
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

/** Prefixes are hashes already; the owner only moves them. */
function slotOf(owner: number, high: number): number {
  return high ^ Math.imul(owner, 0x9e37_79b1);
}

/** The 32-bit number of eight hex characters. */
export function hexWord(hex: string, at: number): number {
  return Number.parseInt(hex.slice(at, at + 8), 16);
}
