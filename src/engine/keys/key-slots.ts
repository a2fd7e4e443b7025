// The slots of one key store in its buckets: reads slots by id and unwraps the keys of live ones. The master key,
// under which keys are wrapped, is the only key held here; key-store.ts caches unwrapped keys.
import { hash } from 'node:crypto';
import { FINDINGS_MAX } from '../base/limits.ts';
import type { Buckets } from './buckets.ts';
import { type MasterKey, wrongMasterKey } from './master-key.ts';
import {
  bucketOf,
  emptyBucket,
  firstIdOf,
  type KeyKind,
  kindOfDamaged,
  type LiveSlot,
  readHeader,
  readSlot,
  readState,
  SLOT_BYTES,
  type Slot,
  slotOffset,
  writeDestroyed,
  writeHeader,
  writeLive,
} from './slot.ts';

/** A key that is about to get a slot. */
export interface NewKey {
  readonly id: number;
  readonly kind: KeyKind;
  readonly key: Buffer;
  readonly createdMs: number;
}

export interface Tombstone {
  readonly id: number;
  readonly kind: KeyKind;
  readonly createdMs: number;
  /** 16 hex digits: the first 8 bytes of SHA-256 of the destroyed key. */
  readonly fingerprint: string;
  readonly destroyedMs: number;
}

export interface KeyInspection {
  /** Milliseconds. */
  readonly createdMs: number;
  readonly unwraps: boolean;
  readonly keyBytes: number;
  /** As in a key store's `fingerprint`; '' for a key that does not unwrap. */
  readonly fingerprint: string;
  /** True when the file contains the key's own bytes. */
  readonly inClear: boolean;
}

export interface KeyFinding {
  readonly bucket: number;
  /** Absent when the problem concerns the whole bucket. */
  readonly id?: number | undefined;
  readonly problem: string;
}

export class KeySlots {
  readonly #buckets: Buckets;
  #master: MasterKey;

  constructor(buckets: Buckets, master: MasterKey) {
    this.#buckets = buckets;
    this.#master = master;
  }

  /**
   * AUT-E003 when the oldest or newest bucket has keys under a master key that is not given. These two suffice: a
   * rewrap proceeds from one to the other.
   */
  checkMaster(): void {
    for (const bucket of new Set([0, bucketOf(this.lastWrittenId() + 1)]))
      for (const [, slot] of this.#inBucket(bucket))
        if (slot.state === 'live' && !this.#master.accepts(slot.masterId))
          throw wrongMasterKey(this.#master.ids, [slot.masterId]);
  }

  /**
   * The newest slot that was written completely. Later slots that a crash tore were never used; they are written over.
   */
  lastWrittenId(): number {
    for (let bucket = this.#buckets.newest; bucket >= 0; bucket--) {
      const bytes = this.#buckets.read(bucket);
      if (bytes === undefined) continue;
      for (let id = firstIdOf(bucket + 1) - 1; id >= firstIdOf(bucket); id--) {
        const { state } = readSlot(bytes, id);
        if (state === 'live' || state === 'destroyed') return id;
      }
    }
    return 0;
  }

  slot(id: number): Slot {
    const bytes = this.#buckets.read(bucketOf(id));
    return bytes === undefined ? { state: 'unused' } : readSlot(bytes, id);
  }

  state(id: number): Slot['state'] {
    const bytes = this.#buckets.read(bucketOf(id));
    return bytes === undefined ? 'unused' : readState(bytes, id);
  }

  /** Every slot, ids ascending. */
  *all(): IterableIterator<readonly [id: number, slot: Slot]> {
    for (let bucket = 0; bucket <= this.#buckets.newest; bucket++) yield* this.#inBucket(bucket);
  }

  *#inBucket(bucket: number): IterableIterator<readonly [id: number, slot: Slot]> {
    const bytes = this.#buckets.read(bucket);
    if (bytes === undefined) return;
    for (let id = firstIdOf(bucket); id < firstIdOf(bucket + 1); id++) yield [id, readSlot(bytes, id)];
  }

  /** The key, 32 bytes, owned by the caller. CRY-E001, AUT-E003. */
  unwrap(id: number, slot: LiveSlot): Buffer {
    return this.#master.unwrap(slot.masterId, slot.wrapped, this.#idText(id));
  }

  /** The text that a wrapped key is bound to. In another slot or store it does not open. */
  #idText(id: number): string {
    return `${this.#buckets.name}/${id}`;
  }

  /**
   * Writes keys of ascending ids durably: one write and one sync, and one more of each where a bucket ends. STO-E001.
   */
  write(keys: readonly NewKey[]): void {
    for (let from = 0; from < keys.length; ) {
      const bucket = bucketOf(keys[from]!.id);
      let to = from + 1;
      while (to < keys.length && bucketOf(keys[to]!.id) === bucket) to += 1;
      this.#writeInBucket(bucket, keys.slice(from, to));
      from = to;
    }
  }

  #writeInBucket(bucket: number, keys: readonly NewKey[]): void {
    const { known, bytes } = this.#toChange(bucket);
    const masterId = this.#master.id;
    for (const { id, kind, key, createdMs } of keys)
      writeLive(bytes, id, { kind, createdMs, masterId, wrapped: this.#master.wrap(key, this.#idText(id)) });
    const whole = known === undefined || readHeader(known).state === 'damaged' || this.#buckets.isCutShort(bucket);
    if (whole) {
      writeHeader(bytes, bucket, this.#buckets.name);
      this.#buckets.replace(bucket, bytes);
    } else {
      const end = slotOffset(keys[keys.length - 1]!.id) + SLOT_BYTES;
      this.#buckets.writeRange(bucket, bytes, slotOffset(keys[0]!.id), end);
    }
  }

  /** The bucket as it is, and a copy to change; an empty copy when there is no bucket. */
  #toChange(bucket: number): { readonly known: Buffer | undefined; readonly bytes: Buffer } {
    const known = this.#buckets.read(bucket);
    return { known, bytes: known === undefined ? emptyBucket(bucket, this.#buckets.name) : Buffer.from(known) };
  }

  /**
   * Replaces keys, live or lost, by tombstones. `prints` maps ids to fingerprints. Existing tombstones stay. Yields the
   * ids of each changed bucket once it is durable. STO-E001.
   */
  *destroy(prints: ReadonlyMap<number, string>, nowMs: number): Generator<readonly number[], void, void> {
    for (const [bucket, ids] of Map.groupBy(prints.keys(), bucketOf)) {
      const { known, bytes } = this.#toChange(bucket);
      const destroyed = ids.filter((id) => bury(bytes, id, prints.get(id)!, nowMs));
      if (destroyed.length === 0) continue;
      if (known === undefined) this.#buckets.replace(bucket, bytes);
      else this.#buckets.destroySlots(bucket, bytes, destroyed);
      yield destroyed;
    }
  }

  /** The bytes of the slot that `destroy` would write; undefined for a key that is destroyed already. Changes nothing. */
  tombstoneSlot(id: number, fingerprint: string, nowMs: number): Buffer | undefined {
    const { bytes } = this.#toChange(bucketOf(id));
    if (!bury(bytes, id, fingerprint, nowMs)) return undefined;
    return bytes.subarray(slotOffset(id), slotOffset(id) + SLOT_BYTES);
  }

  /** Takes over tombstones of one bucket unchanged. Returns those that were new. STO-E001. */
  bury(tombstones: readonly Tombstone[]): readonly Tombstone[] {
    const [first] = tombstones;
    if (first === undefined) return [];
    const bucket = bucketOf(first.id);
    const { known, bytes } = this.#toChange(bucket);
    const fresh = tombstones.filter(({ id }) => readSlot(bytes, id).state !== 'destroyed');
    if (fresh.length === 0) return [];
    for (const tombstone of fresh) writeDestroyed(bytes, tombstone.id, tombstone);
    if (known === undefined) this.#buckets.replace(bucket, bytes);
    else this.#buckets.replaceAndScrub(bucket, bytes);
    return fresh;
  }

  /**
   * Wraps every key under `next`'s current master key. Each step replaces one bucket. Returns the number of keys that
   * were wrapped again.
   */
  *rewrapSlices(next: MasterKey): Generator<void, number, void> {
    this.#master = next.accepting(this.#master);
    let rewrapped = 0;
    for (let bucket = 0; bucket <= this.#buckets.newest; bucket++) {
      rewrapped += this.#rewrapBucket(bucket);
      yield;
    }
    this.#master = this.#master.alone();
    return rewrapped;
  }

  #rewrapBucket(bucket: number): number {
    const { known, bytes } = this.#toChange(bucket);
    if (known === undefined) return 0;
    const masterId = this.#master.id;
    let count = 0;
    for (const [id, slot] of this.#inBucket(bucket)) {
      if (slot.state !== 'live' || slot.masterId === masterId) continue;
      const key = this.unwrap(id, slot);
      const { kind, createdMs } = slot;
      writeLive(bytes, id, { kind, createdMs, masterId, wrapped: this.#master.wrap(key, this.#idText(id)) });
      key.fill(0);
      count += 1;
    }
    // Also scrubbed, because master keys are mostly rotated when the old one may be known to others.
    if (count > 0) this.#buckets.replaceAndScrub(bucket, bytes);
    return count;
  }

  /** Unwraps every key and lists problems, at most `FINDINGS_MAX`. Ids from `nextId` on were never used. */
  verify(nextId: number): KeyFinding[] {
    const findings: KeyFinding[] = [];
    const report = (finding: KeyFinding): void => {
      if (findings.length < FINDINGS_MAX) findings.push(finding);
    };
    for (let bucket = 0; bucket <= this.#buckets.newest; bucket++) {
      const bytes = this.#buckets.read(bucket);
      if (bytes === undefined) {
        report({ bucket, problem: 'the file is missing' });
        continue;
      }
      if (this.#buckets.isCutShort(bucket)) report({ bucket, problem: 'the file is cut short' });
      if (readHeader(bytes).state === 'damaged') report({ bucket, problem: 'the header is damaged' });
      for (const [id, slot] of this.#inBucket(bucket)) {
        // A torn slot past the last complete one was never used, so it is not a problem.
        if (slot.state === 'damaged' && id < nextId) report({ bucket, id, problem: 'the slot is damaged' });
        if (slot.state !== 'live') continue;
        try {
          this.unwrap(id, slot).fill(0);
        } catch (error) {
          report({ bucket, id, problem: error instanceof Error ? error.message : String(error) });
        }
      }
    }
    return findings;
  }

  /** Describes how a live key is stored; undefined for a key that is not live. Reports problems and does not throw. */
  inspect(id: number): KeyInspection | undefined {
    const bytes = this.#buckets.read(bucketOf(id));
    const slot = bytes === undefined ? undefined : readSlot(bytes, id);
    if (bytes === undefined || slot?.state !== 'live') return undefined;
    const { createdMs } = slot;
    try {
      const key = this.unwrap(id, slot);
      const inClear = bytes.includes(key);
      const fingerprint = fingerprintOf(key);
      key.fill(0);
      return { createdMs, unwraps: true, keyBytes: key.length, fingerprint, inClear };
    } catch {
      return { createdMs, unwraps: false, keyBytes: 0, fingerprint: '', inClear: false };
    }
  }

  /** Copies the files durably into `directory`. Returns the number of files. */
  copyTo(directory: string): number {
    return this.#buckets.copyTo(directory);
  }
}

/** Writes the tombstone of a live or lost key into its bucket's bytes. False when there is one already. */
function bury(bytes: Buffer, id: number, fingerprint: string, nowMs: number): boolean {
  const slot = readSlot(bytes, id);
  if (slot.state === 'destroyed') return false;
  const { kind, createdMs } = slot.state === 'live' ? slot : { kind: kindOfDamaged(bytes, id), createdMs: 0 };
  writeDestroyed(bytes, id, { kind, createdMs, fingerprint, destroyedMs: nowMs });
  return true;
}

/** First 16 hex digits of SHA-256 of a key. Proofs name the key by it after its destruction. */
export function fingerprintOf(key: Uint8Array): string {
  return hash('sha256', key, 'hex').slice(0, 16);
}
