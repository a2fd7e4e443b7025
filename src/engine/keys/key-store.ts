// A key id, give me its key. Ids are dense numbers from 1, so an id says by arithmetic in which bucket file and slot its
// key lies; no table of keys is held in heap. Keys are wrapped under the master key; a destroyed one leaves a tombstone.
//
// One store belongs to one shard and is used by one thread. Every call is synchronous: writes are small, and what a key
// seals may be committed only after the key is on disk.
import { hash, randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { assert } from '../assert.ts';
import { type Clock, systemClock } from '../clock.ts';
import { KEY_BYTES } from '../crypto/envelope.ts';
import { EngineError } from '../errors.ts';
import { FINDINGS_MAX, KEYS_CACHED_MAX, KEYS_STAGED_MAX } from '../limits.ts';
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
  SLOTS_PER_BUCKET,
  type Slot,
  slotOffset,
  writeDestroyed,
  writeHeader,
  writeLive,
} from './slot.ts';

export type { KeyKind } from './slot.ts';

/** Not a key, and not one that was destroyed: the log names a key that its store does not have. */
export class MissingKey extends EngineError {
  override name = 'MissingKey';
  readonly id: number;
  constructor(id: number, reason: string) {
    super('STO-E001', `key ${id}: ${reason}`);
    this.id = id;
  }
}

/** No key has this id: what is kept of somebody who never had one. */
export const NO_KEY = 0;

/** Stands for the fingerprint of a key that was lost before it was destroyed. */
export const UNKNOWN_FINGERPRINT = '0'.repeat(16);

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
  /** As `fingerprint` has it; '' for one that does not unwrap. */
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

export interface KeyStoreOptions {
  /** Name of the store, part of every key's id text. Default: the folder's name (`shard-3`). */
  readonly name?: string;
  readonly clock?: Clock;
}

interface Staged {
  readonly id: number;
  readonly kind: KeyKind;
  readonly key: Buffer;
  readonly createdMs: number;
}

export class KeyStore {
  readonly #files: BucketFiles;
  readonly #clock: Clock;
  #master: MasterKey;
  /** The next id to give, past everything on disk and staged. */
  #nextId: number;
  readonly #staged = new Map<number, Staged>();
  /** Unwrapped keys, ours: callers get copies, so that these can be overwritten. */
  readonly #unwrapped = new Map<number, Buffer>();
  #liveCount: number | undefined;

  /**
   * The store in `directory`, made when absent. AUT-E003 when its keys were wrapped under a master key that `master`
   * does not have; STO-E001 when the files are another store's or of another format.
   */
  static open(directory: string, master: MasterKey, options: KeyStoreOptions = {}): KeyStore {
    const store = new KeyStore(new BucketFiles(directory, options.name ?? basename(directory)), master, options.clock);
    store.#checkMaster();
    return store;
  }

  private constructor(files: BucketFiles, master: MasterKey, clock: Clock = systemClock) {
    this.#files = files;
    this.#master = master;
    this.#clock = clock;
    this.#nextId = this.#lastWrittenId() + 1;
  }

  /** The newest slot that was written whole. What a crash tore off after it was never used, and is written over. */
  #lastWrittenId(): number {
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

  /** A wrong master key shows in the oldest or newest bucket: a rewrap that was cut off goes from the first to the last. */
  #checkMaster(): void {
    for (const bucket of new Set([0, bucketOf(this.#nextId)])) {
      for (const [, slot] of this.#slots(bucket)) {
        if (slot.state !== 'live') continue;
        if (!this.#master.accepts(slot.masterId)) throw wrongMasterKey(this.#master.ids, [slot.masterId]);
      }
    }
  }

  /** The id that the next `allocate` gives. */
  get nextId(): number {
    return this.#nextId;
  }

  /**
   * A new random key. It is only staged: on disk after `flush`, which must come before anything sealed under it is
   * committed. The returned `key` is a copy, the caller's.
   */
  allocate(kind: KeyKind): { readonly id: number; readonly key: Buffer } {
    assert(this.#staged.size < KEYS_STAGED_MAX, 'staged keys are flushed group by group');
    const id = this.#nextId;
    this.#nextId += 1;
    const key = randomBytes(KEY_BYTES);
    this.#staged.set(id, { id, kind, key, createdMs: this.#clock.nowMs() });
    return { id, key: Buffer.from(key) };
  }

  /** Ids up to `id` are taken: a log may name keys that a restored older store does not have. */
  reserve(id: number): void {
    this.#nextId = Math.max(this.#nextId, id + 1);
  }

  /**
   * Makes every staged key durable: one write and one sync (one more of each where a bucket ends within the group).
   * On STO-E001 no staged key exists any more; their ids may be given again.
   */
  flush(): void {
    if (this.#staged.size === 0) return;
    const staged = [...this.#staged.values()];
    this.#staged.clear();
    try {
      for (let from = 0; from < staged.length; ) {
        const bucket = bucketOf(staged[from]!.id);
        let to = from + 1;
        while (to < staged.length && bucketOf(staged[to]!.id) === bucket) to += 1;
        this.#writeLive(bucket, staged.slice(from, to));
        from = to;
      }
    } catch (error) {
      this.#nextId = staged[0]!.id;
      this.#liveCount = undefined;
      for (const { key } of staged) key.fill(0);
      throw error;
    }
    if (this.#liveCount !== undefined) this.#liveCount += staged.length;
    for (const { id, key } of staged) this.#keep(id, key);
  }

  /** `staged` are of one bucket, ids ascending. */
  #writeLive(bucket: number, staged: readonly Staged[]): void {
    const known = this.#files.read(bucket);
    const bytes = known === undefined ? emptyBucket(bucket, this.#files.name) : Buffer.from(known);
    const masterId = this.#master.id;
    for (const { id, kind, key, createdMs } of staged)
      writeLive(bytes, id, { kind, createdMs, masterId, wrapped: this.#master.wrap(key, this.#idText(id)) });
    const whole = known === undefined || readHeader(known).state === 'damaged' || this.#files.isCutShort(bucket);
    if (whole) {
      writeHeader(bytes, bucket, this.#files.name);
      this.#files.replace(bucket, bytes);
    } else {
      const end = slotOffset(staged[staged.length - 1]!.id) + SLOT_BYTES;
      this.#files.writeRange(bucket, bytes, slotOffset(staged[0]!.id), end);
    }
  }

  /** The key, 32 bytes, a copy. CRY-E002 when it was destroyed, CRY-E001 when it does not unwrap, `MissingKey`. */
  get(id: number): Buffer {
    const known = this.#staged.get(id)?.key ?? this.#unwrapped.get(id);
    if (known !== undefined) return Buffer.from(known);
    const slot = this.#slot(id);
    if (slot.state === 'destroyed') throw new EngineError('CRY-E002');
    if (slot.state !== 'live') throw missing(id, slot);
    const key = this.#unwrap(id, slot);
    this.#keep(id, key);
    return Buffer.from(key);
  }

  /** True when the key is destroyed, missing or damaged: nothing that it sealed is ever read again. */
  isGone(id: number): boolean {
    try {
      this.get(id).fill(0);
      return false;
    } catch (error) {
      if (isLost(error) || (error instanceof EngineError && error.code === 'CRY-E002')) return true;
      throw error;
    }
  }

  state(id: number): 'live' | 'destroyed' | 'missing' {
    if (this.#staged.has(id)) return 'live';
    const { state } = this.#slot(id);
    return state === 'live' || state === 'destroyed' ? state : 'missing';
  }

  /** What a key was made for, also after it was destroyed; undefined when it is missing. */
  kind(id: number): KeyKind | undefined {
    const staged = this.#staged.get(id);
    if (staged !== undefined) return staged.kind;
    const slot = this.#slot(id);
    return slot.state === 'live' || slot.state === 'destroyed' ? slot.kind : undefined;
  }

  /** First 16 hex digits of SHA-256 of the key, live or destroyed. `MissingKey`. */
  fingerprint(id: number): string {
    const tombstone = this.tombstone(id);
    if (tombstone !== undefined) return tombstone.fingerprint;
    const key = this.get(id);
    const print = fingerprintOf(key);
    key.fill(0);
    return print;
  }

  /** The same as a proof that a key is gone: `UNKNOWN_FINGERPRINT` for one that was given and cannot be read any more. */
  proof(id: number): string {
    try {
      return this.fingerprint(id);
    } catch (error) {
      if (id < this.#nextId && isLost(error)) return UNKNOWN_FINGERPRINT;
      throw error;
    }
  }

  /** What is left of a destroyed key; undefined for any other. */
  tombstone(id: number): Tombstone | undefined {
    if (this.#staged.has(id)) return undefined;
    const slot = this.#slot(id);
    return slot.state === 'destroyed' ? toTombstone(id, slot) : undefined;
  }

  /**
   * Destroys keys for good: when this returns, each one's wrapped bytes are gone from the store and its tombstone is
   * durable. A key that is destroyed already keeps its first tombstone; one that was lost before gets one, so that it
   * does not come back with an old file. In the order of `ids`. `MissingKey` for an id that was never given, STO-E001
   * (then some may be destroyed; calling again completes it).
   */
  destroy(ids: readonly number[], nowMs: number): { readonly id: number; readonly fingerprint: string }[] {
    const prints = new Map<number, string>();
    for (const id of ids) {
      assert(!this.#staged.has(id), 'a key is flushed before it is destroyed');
      prints.set(id, this.proof(id));
    }
    for (const [bucket, group] of byBucket([...prints.keys()])) {
      const known = this.#files.read(bucket);
      const bytes = known === undefined ? emptyBucket(bucket, this.#files.name) : Buffer.from(known);
      const left = group
        .map((id) => [id, readSlot(bytes, id)] as const)
        .filter(([, { state }]) => state !== 'destroyed');
      if (left.length === 0) continue;
      for (const [id, slot] of left) {
        const { kind, createdMs } = slot.state === 'live' ? slot : { kind: kindOfDamaged(bytes, id), createdMs: 0 };
        writeDestroyed(bytes, id, { kind, createdMs, fingerprint: prints.get(id)!, destroyedMs: nowMs });
      }
      const destroyed = left.map(([id]) => id);
      if (known === undefined) this.#files.replace(bucket, bytes);
      else this.#files.destroySlots(bucket, bytes, destroyed);
      for (const id of destroyed) this.#forget(id);
      this.#liveCount = undefined;
    }
    return ids.map((id) => ({ id, fingerprint: prints.get(id)! }));
  }

  /** Every tombstone, ids ascending: what a backup of data needs kept to be restored without bringing keys back. */
  *tombstones(): IterableIterator<Tombstone> {
    for (const [id, slot] of this.#allSlots()) if (slot.state === 'destroyed') yield toTombstone(id, slot);
  }

  /**
   * Destroys here what was destroyed elsewhere: after a restore, the buckets of the backup may hold keys that were
   * destroyed since. Keys that this store never had get their tombstone too. Returns how many slots changed.
   */
  applyTombstones(tombstones: Iterable<Tombstone>): number {
    let changed = 0;
    let group: Tombstone[] = [];
    for (const tombstone of tombstones) {
      if (group.length > 0 && bucketOf(group[0]!.id) !== bucketOf(tombstone.id)) {
        changed += this.#applyToBucket(group);
        group = [];
      }
      // A key in a bucket once: a longer group repeats ids, and is written before it grows.
      if (group.length >= SLOTS_PER_BUCKET) {
        changed += this.#applyToBucket(group);
        group = [];
      }
      group.push(tombstone);
    }
    if (group.length > 0) changed += this.#applyToBucket(group);
    return changed;
  }

  #applyToBucket(group: readonly Tombstone[]): number {
    const bucket = bucketOf(group[0]!.id);
    const known = this.#files.read(bucket);
    const bytes = known === undefined ? emptyBucket(bucket, this.#files.name) : Buffer.from(known);
    const fresh = group.filter(({ id }) => readSlot(bytes, id).state !== 'destroyed');
    if (fresh.length === 0) return 0;
    for (const tombstone of fresh) {
      this.#forget(tombstone.id);
      writeDestroyed(bytes, tombstone.id, tombstone);
      this.reserve(tombstone.id);
    }
    if (known === undefined) this.#files.replace(bucket, bytes);
    else this.#files.replaceAndScrub(bucket, bytes);
    this.#liveCount = undefined;
    return fresh.length;
  }

  /** Wraps every key under `next`'s current master key; see `rewrapSlices`. Returns how many were wrapped anew. */
  rewrap(next: MasterKey): number {
    const slices = this.rewrapSlices(next);
    for (;;) {
      const step = slices.next();
      if (step.done) return step.value;
    }
  }

  /**
   * The same in slices of one bucket; other calls may come between. Each bucket is replaced whole, so after a crash it
   * is wrapped under the old or the new master key, and both open the store until this has ended.
   */
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
    const known = this.#files.read(bucket);
    if (known === undefined) return 0;
    const bytes = Buffer.from(known);
    const masterId = this.#master.id;
    let count = 0;
    for (const [id, slot] of this.#slots(bucket)) {
      if (slot.state !== 'live' || slot.masterId === masterId) continue;
      const key = this.#unwrap(id, slot);
      const { kind, createdMs } = slot;
      writeLive(bytes, id, { kind, createdMs, masterId, wrapped: this.#master.wrap(key, this.#idText(id)) });
      key.fill(0);
      count += 1;
    }
    // Scrubbed as well: a master key is most often rotated because the old one may be known.
    if (count > 0) this.#files.replaceAndScrub(bucket, bytes);
    return count;
  }

  /** Keys that are not destroyed, staged ones not counted. The first call reads every bucket. */
  get liveCount(): number {
    if (this.#liveCount === undefined) {
      let count = 0;
      for (const [, slot] of this.#allSlots()) if (slot.state === 'live') count += 1;
      this.#liveCount = count;
    }
    return this.#liveCount;
  }

  /** Unwraps every key and lists what is wrong; at most `FINDINGS_MAX`. */
  verify(): KeyFinding[] {
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
      for (const [id, slot] of this.#slots(bucket)) {
        // Past the last whole slot lies what a crash tore off: never used, so no finding.
        if (slot.state === 'damaged' && id < this.#nextId) report({ bucket, id, problem: 'the slot is damaged' });
        if (slot.state !== 'live') continue;
        try {
          this.#unwrap(id, slot).fill(0);
        } catch (error) {
          report({ bucket, id, problem: error instanceof Error ? error.message : String(error) });
        }
      }
    }
    return findings;
  }

  /** How a live key lies in its file; undefined for one that is not live. What is wrong with it is told, not thrown. */
  inspect(id: number): KeyInspection | undefined {
    if (this.#staged.has(id)) return undefined;
    const bytes = this.#files.read(bucketOf(id));
    const slot = bytes === undefined ? undefined : readSlot(bytes, id);
    if (bytes === undefined || slot?.state !== 'live') return undefined;
    try {
      const key = this.#unwrap(id, slot);
      const inClear = bytes.includes(key);
      const keyBytes = key.length;
      const fingerprint = fingerprintOf(key);
      key.fill(0);
      return { createdMs: slot.createdMs, unwraps: true, keyBytes, fingerprint, inClear };
    } catch {
      return { createdMs: slot.createdMs, unwraps: false, keyBytes: 0, fingerprint: '', inClear: false };
    }
  }

  /** Copies the store's files into `directory`, durably; opened there under the same `name`. Returns how many files. */
  copyTo(directory: string): number {
    assert(this.#staged.size === 0, 'a backup is taken between groups');
    return this.#files.copyTo(directory);
  }

  /** Overwrites the keys held in heap. The store is not used afterwards. */
  close(): void {
    for (const key of this.#unwrapped.values()) key.fill(0);
    for (const { key } of this.#staged.values()) key.fill(0);
    this.#unwrapped.clear();
    this.#staged.clear();
  }

  #slot(id: number): Slot {
    if (id === NO_KEY) return { state: 'unused' };
    assert(Number.isInteger(id) && id > 0, 'a key id is a positive integer');
    const bytes = this.#files.read(bucketOf(id));
    return bytes === undefined ? { state: 'unused' } : readSlot(bytes, id);
  }

  *#slots(bucket: number): IterableIterator<readonly [id: number, slot: Slot]> {
    const bytes = this.#files.read(bucket);
    if (bytes === undefined) return;
    for (let id = firstIdOf(bucket); id < firstIdOf(bucket + 1); id++) yield [id, readSlot(bytes, id)];
  }

  *#allSlots(): IterableIterator<readonly [id: number, slot: Slot]> {
    for (let bucket = 0; bucket <= this.#files.newest; bucket++) yield* this.#slots(bucket);
  }

  #unwrap(id: number, slot: LiveSlot): Buffer {
    return this.#master.unwrap(slot.masterId, slot.wrapped, this.#idText(id));
  }

  /** What a wrapped key is bound to: in another slot or another store it does not open. */
  #idText(id: number): string {
    return `${this.#files.name}/${id}`;
  }

  #keep(id: number, key: Buffer): void {
    if (this.#unwrapped.size >= KEYS_CACHED_MAX) {
      const oldest = this.#unwrapped.keys().next();
      if (!oldest.done) this.#forget(oldest.value);
    }
    this.#unwrapped.set(id, key);
  }

  #forget(id: number): void {
    this.#unwrapped.get(id)?.fill(0);
    this.#unwrapped.delete(id);
  }
}

/** First 16 hex digits of SHA-256 of a key: names it in proofs after it is gone. */
export function fingerprintOf(key: Uint8Array): string {
  return hash('sha256', key, 'hex').slice(0, 16);
}

function toTombstone(id: number, slot: Slot & { state: 'destroyed' }): Tombstone {
  const { kind, createdMs, fingerprint, destroyedMs } = slot;
  return { id, kind, createdMs, fingerprint, destroyedMs };
}

function missing(id: number, slot: Slot): MissingKey {
  return new MissingKey(id, slot.state === 'damaged' ? 'its slot is damaged' : 'was never written');
}

function isLost(error: unknown): boolean {
  return error instanceof MissingKey || (error instanceof EngineError && error.code === 'CRY-E001');
}

function byBucket(ids: readonly number[]): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const id of ids) {
    const group = groups.get(bucketOf(id));
    if (group === undefined) groups.set(bucketOf(id), [id]);
    else group.push(id);
  }
  return groups;
}
