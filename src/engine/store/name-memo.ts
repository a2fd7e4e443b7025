// A cache of grain names by ordinal. Entries never become stale: an ordinal is never given again and its grain keeps
// its name. A new entry replaces the one in its slot.
import { assert } from '../base/assert.ts';
import type { Ordinal } from '../index/parts/part.ts';

/** A power of two. Each entry takes 50 bytes; the memory is allocated at the first use. */
const SLOTS = 65_536;
/** A byte for the length, then the name of a grain in its own partition. */
const ENTRY_BYTES = 46;

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
    if (this.#ordinals === undefined) {
      this.#ordinals = new Uint32Array(SLOTS);
      this.#names = Buffer.alloc(SLOTS * ENTRY_BYTES);
    }
    assert(name.length / 2 < ENTRY_BYTES, 'a name fits its entry');
    const slot = ordinal & (SLOTS - 1);
    const at = slot * ENTRY_BYTES;
    this.#names[at] = this.#names.write(name, at + 1, 'hex');
    this.#ordinals[slot] = ordinal;
  }
}
