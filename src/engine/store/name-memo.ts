// A cache of grain names by ordinal. Entries never become stale: an ordinal is never given again and its grain keeps
// its name. A new entry replaces the one in its slot.
import { assert } from '../base/assert.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { NAME_BYTES_MAX, type PlacedName, writeName } from '../record/grain-name.ts';

/** A power of two. Each entry takes 50 bytes; the memory is allocated at the first use. */
const SLOTS = 65_536;
/** A byte for the length, then the name of a grain in its own partition. */
const ENTRY_BYTES = 46;
assert(NAME_BYTES_MAX < ENTRY_BYTES, 'a name fits its entry');

export class NameMemo {
  #ordinals: Uint32Array | undefined;
  #names = Buffer.alloc(0);

  /** The name in hex, or undefined when it is not cached. Ordinals begin at 1. */
  get(ordinal: Ordinal): string | undefined {
    const slot = ordinal & (SLOTS - 1);
    if (this.#ordinals?.[slot] !== ordinal) return undefined;
    const at = slot * ENTRY_BYTES;
    return this.#names.toString('hex', at + 1, at + 1 + this.#names[at]!);
  }

  set(ordinal: Ordinal, name: string): void {
    assert(name.length / 2 < ENTRY_BYTES, 'a name fits its entry');
    const at = this.#entryOf(ordinal);
    this.#names[at] = this.#names.write(name, at + 1, 'hex');
  }

  /** Caches the name and returns it in hex. */
  keep(ordinal: Ordinal, name: PlacedName): string {
    const at = this.#entryOf(ordinal);
    const end = writeName(this.#names, at + 1, name);
    this.#names[at] = end - at - 1;
    return this.#names.toString('hex', at + 1, end);
  }

  /** Gives the ordinal its slot. Returns where the entry begins. */
  #entryOf(ordinal: Ordinal): number {
    if (this.#ordinals === undefined) {
      this.#ordinals = new Uint32Array(SLOTS);
      this.#names = Buffer.alloc(SLOTS * ENTRY_BYTES);
    }
    const slot = ordinal & (SLOTS - 1);
    this.#ordinals[slot] = ordinal;
    return slot * ENTRY_BYTES;
  }
}
