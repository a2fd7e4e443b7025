// A cache of grain names by ordinal. Entries never become stale: an ordinal is never given again and its grain keeps
// its name. A new entry replaces the one in its slot.
import { assert } from '../base/assert.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { NAME_BYTES_MAX, type PlacedName, writeName } from '../record/grain-name.ts';

/**
 * Powers of two. Each slot takes 50 bytes. There are twice as many when an ordinal beyond them is cached, so that a shard
 * of few grains takes little, and names do not replace one another before there are most of them.
 */
const SLOTS_FIRST = 4_096;
export const NAME_SLOTS_MAX = 131_072;
/** A byte for the length, then the name of a grain in its own partition. */
const ENTRY_BYTES = 46;
assert(NAME_BYTES_MAX < ENTRY_BYTES, 'a name fits its entry');

export class NameMemo {
  /** By slot; 0 where it is empty. */
  #ordinals = new Uint32Array(0);
  #names = Buffer.alloc(0);
  #mask = 0;

  /** The name in hex, or undefined when it is not cached. Ordinals begin at 1. */
  get(ordinal: Ordinal): string | undefined {
    const slot = ordinal & this.#mask;
    if (this.#ordinals[slot] !== ordinal) return undefined;
    const at = slot * ENTRY_BYTES;
    return this.#names.toString('hex', at + 1, at + 1 + this.#names[at]!);
  }

  /** Writes the bytes of the name to `into` at `at`. Returns their end, or undefined when it is not cached. */
  write(ordinal: Ordinal, into: Buffer, at: number): number | undefined {
    const slot = ordinal & this.#mask;
    if (this.#ordinals[slot] !== ordinal) return undefined;
    const names = this.#names;
    const entry = slot * ENTRY_BYTES;
    const length = names[entry]!;
    // A copy of so few bytes costs more than the loop.
    for (let i = 0; i < length; i++) into[at + i] = names[entry + 1 + i]!;
    return at + length;
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
    while (ordinal >= this.#ordinals.length && this.#ordinals.length < NAME_SLOTS_MAX) this.#grow();
    const slot = ordinal & this.#mask;
    this.#ordinals[slot] = ordinal;
    return slot * ENTRY_BYTES;
  }

  /** A slot's ordinals all keep their slot, since none of them reached beyond the slots. */
  #grow(): void {
    const slots = Math.max(SLOTS_FIRST, 2 * this.#ordinals.length);
    const ordinals = new Uint32Array(slots);
    const names = Buffer.alloc(slots * ENTRY_BYTES);
    ordinals.set(this.#ordinals);
    names.set(this.#names);
    this.#ordinals = ordinals;
    this.#names = names;
    this.#mask = slots - 1;
  }
}
