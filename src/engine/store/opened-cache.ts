// A cache of the blobs that answers showed lately, decrypted and checked: a hit saves reading the log, opening the seal and
// hashing. It is one buffer, filled like a ring, because as objects the same grains would take six times the bytes and
// would cost more to collect than to open again. It counts in the heap budget of the indexes.
//
// A grain leaves it before one of its keys is destroyed, and when it is removed; its bytes are overwritten. Everything else
// that decides about a grain (restrictions, consents, expiry, bindings, versions) is asked at each read, of columns and
// settings and not of this cache.
//
//   entry   ordinal u32 | blob bytes u32 | memory u32 | key u32 | scope key u32 | user key u32 | address 32 |
//           enciphered address 32 | blob | zeros to a multiple of 8
//           An ordinal of 0 marks an entry that was dropped, and the gap at the end of the buffer.

import type { OpenedCounts } from '../base/shard-counters.ts';
import type { Address } from '../grain/grain.ts';
import type { HeapBudget } from '../index/heap-budget.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { GrainHead } from '../record/grain-head.ts';

const ADDRESS_AT = 24;
const BOUND_AT = 56;
const BLOB_AT = 88;
const HASH_BYTES = 32;
/** A larger blob is not kept: an answer of a hundred such grains would drop everything else. */
const BLOB_BYTES_MAX = 16_384;
/** Below this, the cache is off. */
const BYTES_MIN = 65_536;
/** There is a slot for so many bytes: about half as many as grains. */
const BYTES_PER_SLOT = 128;
const RESERVED_AT_ONCE = 1_048_576;
/** An entry that is used in the last quarter of the ring is written again at its front. */
const YOUNG_SHARE = 0.75;

/** An opened grain as the cache keeps it. */
export interface KeptGrain {
  /** The head of a grain with an enciphered address. */
  readonly head: GrainHead;
  readonly address: Address;
  readonly blob: Buffer;
}

export class OpenedCache {
  readonly #budget: HeapBudget;
  /** Bytes of the ring; a multiple of 8. 0: nothing is kept. */
  readonly #ringBytes: number;
  readonly #slotMask: number;
  #reserved = 0;
  /** Allocated with the first grain. */
  #ring = Buffer.alloc(0);
  #words = new Uint32Array(0);
  /** By the low bits of an ordinal: two places of entries, each + 1. */
  #places = new Float64Array(0);
  /** Places of the oldest entry and after the newest one. They only grow; the offset in the ring is the remainder. */
  #begin = 0;
  #end = 0;
  #hits = 0;
  #misses = 0;

  /** `bytesMax` 0: nothing is kept. It takes at most half of the budget. */
  constructor(budget: HeapBudget, bytesMax: number) {
    this.#budget = budget;
    const bytes = Math.min(bytesMax, budget.bytesMax / 2);
    const slots = bytes < BYTES_MIN ? 0 : 2 ** Math.floor(Math.log2(bytes / BYTES_PER_SLOT));
    this.#slotMask = slots / 2 - 1;
    this.#ringBytes = Math.floor((slots === 0 ? 0 : bytes - slots * 8) / 8) * 8;
  }

  /** Bytes in use, and the reads for answers since the shard was opened. */
  get counts(): OpenedCounts {
    return { bytes: this.#end - this.#begin, hits: this.#hits, misses: this.#misses };
  }

  /** A copy, which the caller owns. */
  get(memory: number, ordinal: Ordinal): KeptGrain | undefined {
    const place = this.#placeOf(ordinal);
    if (place < 0) return undefined;
    const at = place % this.#ringBytes;
    const word = at >>> 2;
    if (this.#words[word + 2] !== memory) return undefined;
    this.#hits += 1;
    const size = this.#words[word + 1]!;
    const copy = Buffer.allocUnsafe(HASH_BYTES + size);
    this.#ring.copy(copy, 0, at + BOUND_AT, at + BLOB_AT + size);
    const kept: KeptGrain = {
      head: {
        memory,
        key: this.#words[word + 3]!,
        scopeKey: this.#words[word + 4]!,
        userKey: this.#words[word + 5]!,
        bound: copy.subarray(0, HASH_BYTES),
      },
      address: this.#ring.toString('hex', at + ADDRESS_AT, at + BOUND_AT) as Address, // as it was set
      blob: copy.subarray(HASH_BYTES),
    };
    if (this.#end - place > this.#ringBytes * YOUNG_SHARE) {
      this.#drop(place);
      this.#append(ordinal, kept);
    }
    return kept;
  }

  /** Keeps a grain that an answer shows and that was not here. */
  set(ordinal: Ordinal, kept: KeptGrain): void {
    this.#misses += 1;
    if (this.#ringBytes === 0 || kept.blob.length > BLOB_BYTES_MAX || kept.head.userKey === undefined) return;
    this.#append(ordinal, kept);
  }

  /** Drops a grain that was removed. */
  delete(ordinal: Ordinal): void {
    const place = this.#placeOf(ordinal);
    if (place >= 0) this.#drop(place);
  }

  /** Drops the grains under keys that are being destroyed. */
  endKeys(ids: readonly number[]): void {
    const ended = new Set(ids);
    for (let place = this.#begin; place < this.#end; place += this.#bytesAt(place)) {
      const word = (place % this.#ringBytes) >>> 2;
      if (this.#words[word] === 0) continue;
      if (ended.has(this.#words[word + 3]!) || ended.has(this.#words[word + 4]!)) this.#drop(place);
    }
  }

  #placeOf(ordinal: Ordinal): number {
    const slot = (ordinal & this.#slotMask) * 2;
    if (this.#ordinalAt(slot) === ordinal) return this.#places[slot]! - 1;
    return this.#ordinalAt(slot + 1) === ordinal ? this.#places[slot + 1]! - 1 : -1;
  }

  /** The ordinal of a slot's entry; 0 when it has none. */
  #ordinalAt(slot: number): Ordinal {
    const place = (this.#places[slot] ?? 0) - 1;
    return place < this.#begin ? 0 : this.#words[(place % this.#ringBytes) >>> 2]!;
  }

  /** The slot for a new entry: one that is free, or the one with the older entry, which could not be found any more. */
  #takeSlot(ordinal: Ordinal): number {
    const slot = (ordinal & this.#slotMask) * 2;
    if (this.#ordinalAt(slot) === 0) return slot;
    if (this.#ordinalAt(slot + 1) === 0) return slot + 1;
    const older = this.#places[slot]! < this.#places[slot + 1]! ? slot : slot + 1;
    this.#drop(this.#places[older]! - 1);
    return older;
  }

  /** Bytes of the entry or gap at a place. */
  #bytesAt(place: number): number {
    const word = (place % this.#ringBytes) >>> 2;
    const size = this.#words[word + 1]!;
    return this.#words[word] === 0 ? size : entryBytes(size);
  }

  /** Overwrites an entry. Its room is free when it is the oldest. */
  #drop(place: number): void {
    const at = place % this.#ringBytes;
    const bytes = this.#bytesAt(place);
    this.#ring.fill(0, at, at + bytes);
    this.#words[(at >>> 2) + 1] = bytes;
  }

  #append(ordinal: Ordinal, { head, address, blob }: KeptGrain): void {
    if (this.#places.length === 0) this.#allocate();
    this.delete(ordinal);
    const bytes = entryBytes(blob.length);
    const gap = this.#ringBytes - (this.#end % this.#ringBytes);
    if (gap < bytes) {
      this.#makeRoom(gap);
      const word = (this.#end % this.#ringBytes) >>> 2;
      this.#words[word] = 0;
      this.#words[word + 1] = gap;
      this.#end += gap;
    }
    this.#makeRoom(bytes);
    const at = this.#end % this.#ringBytes;
    const words = this.#words.subarray(at >>> 2, (at + ADDRESS_AT) >>> 2);
    words[0] = ordinal;
    words[1] = blob.length;
    words[2] = head.memory;
    words[3] = head.key;
    words[4] = head.scopeKey;
    words[5] = head.userKey ?? 0;
    this.#ring.write(address, at + ADDRESS_AT, HASH_BYTES, 'hex');
    this.#ring.set(head.bound, at + BOUND_AT);
    this.#ring.set(blob, at + BLOB_AT);
    this.#places[this.#takeSlot(ordinal)] = this.#end + 1;
    this.#end += bytes;
    if (this.#reserved < Math.min(this.#end, this.#ringBytes)) {
      this.#reserved += RESERVED_AT_ONCE;
      this.#budget.reserve(RESERVED_AT_ONCE);
    }
  }

  /** Drops the oldest entries until the ring has room for `bytes` at its end. */
  #makeRoom(bytes: number): void {
    while (this.#end + bytes - this.#begin > this.#ringBytes) {
      const oldest = this.#bytesAt(this.#begin);
      this.#drop(this.#begin);
      this.#begin += oldest;
    }
  }

  #allocate(): void {
    this.#ring = Buffer.allocUnsafeSlow(this.#ringBytes);
    this.#words = new Uint32Array(this.#ring.buffer);
    this.#places = new Float64Array((this.#slotMask + 1) * 2);
    this.#budget.reserve(this.#places.byteLength);
  }
}

function entryBytes(blobBytes: number): number {
  return Math.ceil((BLOB_AT + blobBytes) / 8) * 8;
}
