// Names and addresses of grains that were looked up lately, by ordinal, and ordinals by address. An ordinal is never given
// again and its grain keeps its address, so nothing here grows stale but by an erasure, which `clear` is for; what shares a
// slot takes the place of what was there.
import type { Ordinal } from '../index/part.ts';

/** A power of two. An entry takes 84 bytes, and a shard takes all of them when one is first looked up. */
const SLOTS = 32_768;
const HASH_BYTES = 32;
/** The enciphered hash, then the hash. */
const ENTRY_BYTES = 2 * HASH_BYTES;
/** The memory and the ids of two keys. */
const NUMBERS = 3;

/** What is known of one grain. */
export interface KnownAddress {
  readonly memory: number;
  readonly userKey: number;
  readonly scopeKey: number;
  readonly enciphered: Uint8Array;
  /** 64 hex. */
  readonly address: string;
}

export class AddressMemo {
  #ordinals: Uint32Array | undefined;
  #byAddress = new Uint32Array(0);
  #numbers = new Uint32Array(0);
  #entries = Buffer.alloc(0);

  /** 64 hex, or undefined where none is kept. Ordinals begin at 1. */
  address(ordinal: Ordinal): string | undefined {
    const slot = ordinal & (SLOTS - 1);
    if (this.#ordinals?.[slot] !== ordinal) return undefined;
    return this.#entries.toString('hex', slot * ENTRY_BYTES + HASH_BYTES, (slot + 1) * ENTRY_BYTES);
  }

  /** The grain with that address, where it is kept. */
  find(address: string): (KnownAddress & { readonly ordinal: Ordinal }) | undefined {
    const ordinal = this.#byAddress[slotOf(address)] ?? 0;
    if (ordinal === 0 || this.address(ordinal) !== address) return undefined;
    const slot = ordinal & (SLOTS - 1);
    const at = slot * ENTRY_BYTES;
    return {
      ordinal,
      memory: this.#numbers[slot * NUMBERS]!,
      userKey: this.#numbers[slot * NUMBERS + 1]!,
      scopeKey: this.#numbers[slot * NUMBERS + 2]!,
      enciphered: this.#entries.subarray(at, at + HASH_BYTES),
      address,
    };
  }

  set(ordinal: Ordinal, { memory, userKey, scopeKey, enciphered, address }: KnownAddress): void {
    if (this.#ordinals === undefined) {
      this.#ordinals = new Uint32Array(SLOTS);
      this.#byAddress = new Uint32Array(SLOTS);
      this.#numbers = new Uint32Array(SLOTS * NUMBERS);
      this.#entries = Buffer.alloc(SLOTS * ENTRY_BYTES);
    }
    const slot = ordinal & (SLOTS - 1);
    this.#entries.set(enciphered, slot * ENTRY_BYTES);
    this.#entries.write(address, slot * ENTRY_BYTES + HASH_BYTES, 'hex');
    this.#numbers.set([memory, userKey, scopeKey], slot * NUMBERS);
    this.#ordinals[slot] = ordinal;
    this.#byAddress[slotOf(address)] = ordinal;
  }

  /** Forgets everything. */
  clear(): void {
    this.#ordinals = undefined;
    this.#byAddress = new Uint32Array(0);
    this.#numbers = new Uint32Array(0);
    this.#entries = Buffer.alloc(0);
  }
}

function slotOf(address: string): number {
  return Number.parseInt(address.slice(0, 4), 16) & (SLOTS - 1);
}
