// A cache of grains' addresses by ordinal. Entries never become stale: an ordinal is never given again and its grain
// keeps its address. A new entry replaces the one in its slot.
import type { Ordinal } from '../index/parts/part.ts';

/** A power of two. Each entry takes 36 bytes; the memory is allocated at the first use. */
const SLOTS = 65_536;
const ADDRESS_BYTES = 32;

export class AddressMemo {
  #ordinals: Uint32Array | undefined;
  #addresses = Buffer.alloc(0);

  /** 64 hex digits, or undefined when it is not cached. Ordinals begin at 1. */
  get(ordinal: Ordinal): string | undefined {
    const slot = ordinal & (SLOTS - 1);
    if (this.#ordinals?.[slot] !== ordinal) return undefined;
    return this.#addresses.toString('hex', slot * ADDRESS_BYTES, (slot + 1) * ADDRESS_BYTES);
  }

  /** `address`: 64 hex. */
  set(ordinal: Ordinal, address: string): void {
    if (this.#ordinals === undefined) {
      this.#ordinals = new Uint32Array(SLOTS);
      this.#addresses = Buffer.alloc(SLOTS * ADDRESS_BYTES);
    }
    const slot = ordinal & (SLOTS - 1);
    this.#addresses.write(address, slot * ADDRESS_BYTES, 'hex');
    this.#ordinals[slot] = ordinal;
  }
}
