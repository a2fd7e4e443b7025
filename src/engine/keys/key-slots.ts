// The slots of one key store, in its bucket files: an id, give me its slot; a live slot, give me its key. Keys are wrapped
// under the master key, which is all that is held here; whoever keeps unwrapped ones is key-store.ts.
import { hash } from 'node:crypto';
import { FINDINGS_MAX } from '../base/limits.ts';
import { BucketFiles } from './bucket-files.ts';
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
  SLOT_BYTES,
  type Slot,
  slotOffset,
  writeDestroyed,
  writeHeader,
  writeLive,
} from './slot.ts';

/** A key that has a slot from now on. */
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
  /** As a key store's `fingerprint` has it; '' for one that does not unwrap. */
  readonly fingerprint: string;
  /** True when the key's own bytes stand in its file. */
  readonly inClear: boolean;
}

export interface KeyFinding {
  readonly bucket: number;
  /** Absent when the whole bucket is concerned. */
  readonly id?: number;
  readonly problem: string;
}

export class KeySlots {
  readonly #files: BucketFiles;
  #master: MasterKey;

  /** Of the store called `name` in `directory`, which is made when absent. STO-E001. */
  constructor(directory: string, name: string, master: MasterKey) {
    this.#files = new BucketFiles(directory, name);
    this.#master = master;
  }

  /** AUT-E003 where keys lie under a master key that is not here, in the oldest or newest bucket: a rewrap goes from one to the other. */
  checkMaster(): void {
    for (const bucket of new Set([0, bucketOf(this.lastWrittenId() + 1)]))
      for (const [, slot] of this.#inBucket(bucket))
        if (slot.state === 'live' && !this.#master.accepts(slot.masterId))
          throw wrongMasterKey(this.#master.ids, [slot.masterId]);
  }

  /** The newest slot that was written whole. What a crash tore off after it was never used, and is written over. */
  lastWrittenId(): number {
    for (let bucket = this.#files.newest; bucket >= 0; bucket--) {
      const bytes = this.#files.read(bucket);
      if (bytes === undefined) continue;
      for (let id = firstIdOf(bucket + 1) - 1; id >= firstIdOf(bucket); id--) {
        const { state } = readSlot(bytes, id);
        if (state === 'live' || state === 'destroyed') return id;
      }
    }
    return 0;
  }

  slot(id: number): Slot {
    const bytes = this.#files.read(bucketOf(id));
    return bytes === undefined ? { state: 'unused' } : readSlot(bytes, id);
  }

  /** Every slot, ids ascending. */
  *all(): IterableIterator<readonly [id: number, slot: Slot]> {
    for (let bucket = 0; bucket <= this.#files.newest; bucket++) yield* this.#inBucket(bucket);
  }

  *#inBucket(bucket: number): IterableIterator<readonly [id: number, slot: Slot]> {
    const bytes = this.#files.read(bucket);
    if (bytes === undefined) return;
    for (let id = firstIdOf(bucket); id < firstIdOf(bucket + 1); id++) yield [id, readSlot(bytes, id)];
  }

  /** The key, 32 bytes, the caller's. CRY-E001, AUT-E003. */
  unwrap(id: number, slot: LiveSlot): Buffer {
    return this.#master.unwrap(slot.masterId, slot.wrapped, this.#idText(id));
  }

  /** What a wrapped key is bound to: in another slot or another store it does not open. */
  #idText(id: number): string {
    return `${this.#files.name}/${id}`;
  }

  /** Writes keys of ascending ids durably: one write and one sync, and one more of each where a bucket ends. STO-E001. */
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
    const whole = known === undefined || readHeader(known).state === 'damaged' || this.#files.isCutShort(bucket);
    if (whole) {
      writeHeader(bytes, bucket, this.#files.name);
      this.#files.replace(bucket, bytes);
    } else {
      const end = slotOffset(keys[keys.length - 1]!.id) + SLOT_BYTES;
      this.#files.writeRange(bucket, bytes, slotOffset(keys[0]!.id), end);
    }
  }

  /** A bucket as it is, and a copy to be changed, which is an empty one where there is none. */
  #toChange(bucket: number): { readonly known: Buffer | undefined; readonly bytes: Buffer } {
    const known = this.#files.read(bucket);
    return { known, bytes: known === undefined ? emptyBucket(bucket, this.#files.name) : Buffer.from(known) };
  }

  /**
   * Puts tombstones in the place of keys, live or lost; `prints` are their fingerprints by id. Yields the ids of each bucket
   * that changed, once that is durable; slots that have a tombstone keep it. STO-E001.
   */
  *destroy(prints: ReadonlyMap<number, string>, nowMs: number): Generator<readonly number[], void, void> {
    for (const [bucket, ids] of Map.groupBy(prints.keys(), bucketOf)) {
      const { known, bytes } = this.#toChange(bucket);
      const left = ids.map((id) => [id, readSlot(bytes, id)] as const).filter(([, { state }]) => state !== 'destroyed');
      if (left.length === 0) continue;
      for (const [id, slot] of left) {
        const { kind, createdMs } = slot.state === 'live' ? slot : { kind: kindOfDamaged(bytes, id), createdMs: 0 };
        writeDestroyed(bytes, id, { kind, createdMs, fingerprint: prints.get(id)!, destroyedMs: nowMs });
      }
      const destroyed = left.map(([id]) => id);
      if (known === undefined) this.#files.replace(bucket, bytes);
      else this.#files.destroySlots(bucket, bytes, destroyed);
      yield destroyed;
    }
  }

  /** Takes over tombstones of one bucket as they are. Returns those that it had not. STO-E001. */
  bury(tombstones: readonly Tombstone[]): readonly Tombstone[] {
    const [first] = tombstones;
    if (first === undefined) return [];
    const bucket = bucketOf(first.id);
    const { known, bytes } = this.#toChange(bucket);
    const fresh = tombstones.filter(({ id }) => readSlot(bytes, id).state !== 'destroyed');
    if (fresh.length === 0) return [];
    for (const tombstone of fresh) writeDestroyed(bytes, tombstone.id, tombstone);
    if (known === undefined) this.#files.replace(bucket, bytes);
    else this.#files.replaceAndScrub(bucket, bytes);
    return fresh;
  }

  /** Wraps every key under `next`'s current master key; each step is one bucket, replaced whole. How many were wrapped anew. */
  *rewrapSlices(next: MasterKey): Generator<void, number, void> {
    this.#master = next.accepting(this.#master);
    let rewrapped = 0;
    for (let bucket = 0; bucket <= this.#files.newest; bucket++) {
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
    // Scrubbed as well: a master key is most often rotated because the old one may be known.
    if (count > 0) this.#files.replaceAndScrub(bucket, bytes);
    return count;
  }

  /** Unwraps every key and lists what is wrong, `FINDINGS_MAX` at most. From `nextId` on nothing was ever used. */
  verify(nextId: number): KeyFinding[] {
    const findings: KeyFinding[] = [];
    const report = (finding: KeyFinding): void => {
      if (findings.length < FINDINGS_MAX) findings.push(finding);
    };
    for (let bucket = 0; bucket <= this.#files.newest; bucket++) {
      const bytes = this.#files.read(bucket);
      if (bytes === undefined) {
        report({ bucket, problem: 'the file is missing' });
        continue;
      }
      if (this.#files.isCutShort(bucket)) report({ bucket, problem: 'the file is cut short' });
      if (readHeader(bytes).state === 'damaged') report({ bucket, problem: 'the header is damaged' });
      for (const [id, slot] of this.#inBucket(bucket)) {
        // Past the last whole slot lies what a crash tore off: never used, so no finding.
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

  /** How a live key lies in its file; undefined for one that is not live. What is wrong with it is told, not thrown. */
  inspect(id: number): KeyInspection | undefined {
    const bytes = this.#files.read(bucketOf(id));
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

  /** Copies the files into `directory`, durably. Returns how many. */
  copyTo(directory: string): number {
    return this.#files.copyTo(directory);
  }
}

/** First 16 hex digits of SHA-256 of a key: names it in proofs after it is gone. */
export function fingerprintOf(key: Uint8Array): string {
  return hash('sha256', key, 'hex').slice(0, 16);
}
