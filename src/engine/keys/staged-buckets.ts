// Buckets on the heap, of a key store whose slots are in the database that holds the log. Nothing here writes: changed slots
// wait until an append takes them, so that keys and what is sealed under them are committed together.

import { copyBuckets } from './bucket-files.ts';
import type { Buckets, SlotChange } from './buckets.ts';
import { BUCKET_BYTES, bucketOf, emptyBucket, firstIdOf, SLOT_BYTES, SLOTS_PER_BUCKET, slotOffset } from './slot.ts';

export class StagedBuckets implements Buckets {
  readonly name: string;
  newest = -1;
  readonly #buckets = new Map<number, Buffer>();
  /** Slots that no append has taken yet. */
  readonly #staged = new Map<number, Buffer>();

  /** `slots`: what the database has, in any order. */
  constructor(name: string, slots: Iterable<SlotChange>) {
    this.name = name;
    for (const [id, slot] of slots) {
      const bucket = bucketOf(id);
      const bytes = this.#buckets.get(bucket) ?? emptyBucket(bucket, name);
      bytes.set(slot.subarray(0, SLOT_BYTES), slotOffset(id));
      this.#buckets.set(bucket, bytes);
      this.newest = Math.max(this.newest, bucket);
    }
  }

  get staged(): ReadonlyMap<number, Buffer> {
    return this.#staged;
  }

  written(slots: readonly SlotChange[]): void {
    for (const [id, slot] of slots) if (this.#staged.get(id)?.equals(slot) === true) this.#staged.delete(id);
  }

  read(bucket: number): Buffer | undefined {
    return this.#buckets.get(bucket);
  }

  isCutShort(): boolean {
    return false;
  }

  replace(bucket: number, bytes: Buffer): void {
    const old = this.#buckets.get(bucket) ?? EMPTY;
    for (let id = firstIdOf(bucket); id < firstIdOf(bucket) + SLOTS_PER_BUCKET; id++) {
      const at = slotOffset(id);
      if (bytes.compare(old, at, at + SLOT_BYTES, at, at + SLOT_BYTES) !== 0)
        this.#staged.set(id, Buffer.from(bytes.subarray(at, at + SLOT_BYTES)));
    }
    this.#buckets.set(bucket, bytes);
    this.newest = Math.max(this.newest, bucket);
    old.fill(0);
  }

  writeRange(bucket: number, bytes: Buffer): void {
    this.replace(bucket, bytes);
  }

  replaceAndScrub(bucket: number, bytes: Buffer): void {
    this.replace(bucket, bytes);
  }

  destroySlots(bucket: number, bytes: Buffer): void {
    this.replace(bucket, bytes);
  }

  copyTo(directory: string): number {
    return copyBuckets(this, directory);
  }
}

const EMPTY = Buffer.alloc(BUCKET_BYTES);
