// The key store: returns keys by id. Ids are dense numbers from 1, so arithmetic gives the bucket file and slot of an
// id, and no table of keys is held in heap. Keys are wrapped under the master key; a destroyed key leaves a tombstone.
// A store belongs to one shard, and one thread uses it. Every call is synchronous: writes are small, and data sealed
// under a key may be committed only after the key is on disk.
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { assert } from '../base/assert.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { KEYS_CACHED_MAX, KEYS_STAGED_MAX } from '../base/limits.ts';
import { KEY_BYTES } from '../crypto/envelope.ts';
import { BucketFiles } from './bucket-files.ts';
import type { Buckets, SlotChange } from './buckets.ts';
import {
  fingerprintOf,
  type KeyFinding,
  type KeyInspection,
  KeySlots,
  type NewKey,
  type Tombstone,
} from './key-slots.ts';
import type { MasterKey } from './master-key.ts';
import { bucketOf, type KeyKind, SLOTS_PER_BUCKET, type Slot } from './slot.ts';

export type { KeyKind } from './slot.ts';

/** The log names a key that its store does not have: neither a live nor a destroyed one. */
export class MissingKey extends EngineError {
  override name = 'MissingKey';
  readonly id: number;
  constructor(id: number, reason: string) {
    super('STO-E001', `key ${id}: ${reason}`);
    this.id = id;
  }
}

/** No key has this id. Used for a person who never had a key. */
export const NO_KEY = 0;

/** Replaces the fingerprint of a key that was lost before it was destroyed. */
export const UNKNOWN_FINGERPRINT = '0'.repeat(16);

export interface KeyStoreOptions {
  /** Name of the store, part of every key's id text. Default: the folder's name (`shard-3`). */
  readonly name?: string | undefined;
  readonly clock?: Clock | undefined;
}

export class KeyStore {
  readonly #slots: KeySlots;
  readonly #buckets: Buckets;
  readonly #clock: Clock;
  /** The next id to give, past everything on disk and staged. */
  #nextId: number;
  readonly #staged = new Map<number, NewKey>();
  /** Unwrapped keys. Callers get copies, so that these buffers can be overwritten. */
  readonly #unwrapped = new Map<number, Buffer>();
  #liveCount: number | undefined;
  /** Called with keys before they are destroyed, to drop what was opened with them. Nothing runs in between. */
  onDestroy: ((ids: readonly number[]) => void) | undefined = undefined;

  /**
   * Opens the store in `directory`, or creates it. AUT-E003 when `master` lacks a master key that wraps its keys;
   * STO-E001 when the files belong to another store or format.
   */
  static open(directory: string, master: MasterKey, options: KeyStoreOptions = {}): KeyStore {
    return KeyStore.over(new BucketFiles(directory, options.name ?? basename(directory)), master, options.clock);
  }

  /** Opens the store whose slots are in `buckets`. AUT-E003. */
  static over(buckets: Buckets, master: MasterKey, clock?: Clock): KeyStore {
    const slots = new KeySlots(buckets, master);
    const store = new KeyStore(slots, buckets, clock);
    slots.checkMaster();
    return store;
  }

  private constructor(slots: KeySlots, buckets: Buckets, clock: Clock = systemClock) {
    this.#slots = slots;
    this.#buckets = buckets;
    this.#clock = clock;
    this.#nextId = slots.lastWrittenId() + 1;
  }

  /** The id that the next `allocate` gives. */
  get nextId(): number {
    return this.#nextId;
  }

  /**
   * A new random key, which is staged until `flush`. Call `flush` before committing anything sealed under the key. The
   * caller owns the returned copy.
   */
  allocate(kind: KeyKind): { readonly id: number; readonly key: Buffer } {
    assert(this.#staged.size < KEYS_STAGED_MAX, 'staged keys are flushed group by group');
    const id = this.#nextId;
    this.#nextId += 1;
    const key = randomBytes(KEY_BYTES);
    this.#staged.set(id, { id, kind, key, createdMs: this.#clock.nowMs() });
    return { id, key: Buffer.from(key) };
  }

  /** Reserves the ids up to `id`: a log may name keys that a restored older store does not have. */
  reserve(id: number): void {
    this.#nextId = Math.max(this.#nextId, id + 1);
  }

  /**
   * Makes every staged key durable: one write and one sync, and one more of each where a bucket ends within the group; or
   * leaves them to the next append, where the log keeps the slots (`slotsToAppend`).
   * After STO-E001 no staged key exists any more, and its id may be given again.
   */
  flush(): void {
    if (this.#staged.size === 0) return;
    const staged = [...this.#staged.values()];
    this.#staged.clear();
    try {
      this.#slots.write(staged);
    } catch (error) {
      this.#nextId = staged[0]!.id;
      this.#liveCount = undefined;
      for (const { key } of staged) key.fill(0);
      throw error;
    }
    if (this.#liveCount !== undefined) this.#liveCount += staged.length;
    for (const { id, key } of staged) this.#keep(id, key);
  }

  /** A copy of the key, 32 bytes. CRY-E002 when it was destroyed, CRY-E001 when it does not unwrap, `MissingKey`. */
  get(id: number): Buffer {
    const known = this.#staged.get(id)?.key ?? this.#unwrapped.get(id);
    if (known !== undefined) return Buffer.from(known);
    const slot = this.#slot(id);
    if (slot.state === 'destroyed') throw new EngineError('CRY-E002');
    if (slot.state !== 'live') throw missing(id, slot);
    const key = this.#slots.unwrap(id, slot);
    this.#keep(id, key);
    return Buffer.from(key);
  }

  /** True when the key is destroyed, missing or damaged: data sealed under it can never be read again. */
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
    const state = this.#isSlot(id) ? this.#slots.state(id) : 'unused';
    return state === 'live' || state === 'destroyed' ? state : 'missing';
  }

  /** The kind of a key, also after its destruction; undefined when the key is missing. */
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

  /**
   * The fingerprint as a proof that a key is gone: `UNKNOWN_FINGERPRINT` for an existing key that cannot be read any
   * more.
   */
  proof(id: number): string {
    try {
      return this.fingerprint(id);
    } catch (error) {
      if (id < this.#nextId && isLost(error)) return UNKNOWN_FINGERPRINT;
      throw error;
    }
  }

  /** The tombstone of a destroyed key; undefined for any other. */
  tombstone(id: number): Tombstone | undefined {
    if (this.#staged.has(id)) return undefined;
    const slot = this.#slot(id);
    return slot.state === 'destroyed' ? toTombstone(id, slot) : undefined;
  }

  /**
   * Destroys keys for good. On return, each one's wrapped bytes are gone from the store and its tombstone is durable; where
   * the log keeps the slots, it is with the append that takes it (`slotsToAppend`). A destroyed key keeps its first tombstone. A lost key gets one, so that an old file cannot bring it back. Results are
   * in the order of `ids`. `MissingKey` for an id that was never given. After STO-E001 some keys may be destroyed; call
   * again to complete it.
   */
  destroy(ids: readonly number[], nowMs: number): { readonly id: number; readonly fingerprint: string }[] {
    this.onDestroy?.(ids);
    const prints = new Map<number, string>();
    for (const id of ids) {
      assert(!this.#staged.has(id), 'a key is flushed before it is destroyed');
      prints.set(id, this.proof(id));
    }
    for (const destroyed of this.#slots.destroy(prints, nowMs)) {
      for (const id of destroyed) this.#forget(id);
      this.#liveCount = undefined;
    }
    return ids.map((id) => ({ id, fingerprint: prints.get(id)! }));
  }

  /**
   * Slots that the next append must write, where the log keeps them: those changed since the last one, and the tombstones of
   * `ids`, which `destroy` at the same time makes after the append. Undefined where slots are durable by themselves.
   */
  slotsToAppend(ids: readonly number[], nowMs: number): readonly SlotChange[] | undefined {
    const { staged } = this.#buckets;
    if (staged === undefined) return undefined;
    const slots = new Map(staged);
    for (const id of ids) {
      const tombstone = this.#slots.tombstoneSlot(id, this.proof(id), nowMs);
      if (tombstone !== undefined) slots.set(id, tombstone);
    }
    return [...slots];
  }

  /** The append that took these slots is durable. */
  slotsAppended(slots: readonly SlotChange[]): void {
    this.#buckets.written?.(slots);
  }

  /** How many changed slots wait for an append. 0 where slots are durable by themselves. */
  get slotsWaiting(): number {
    return this.#buckets.staged?.size ?? 0;
  }

  /** Every tombstone, ids ascending. Keep them with a backup, so that restoring it does not bring keys back. */
  *tombstones(): IterableIterator<Tombstone> {
    for (const [id, slot] of this.#slots.all()) if (slot.state === 'destroyed') yield toTombstone(id, slot);
  }

  /**
   * Destroys keys that were destroyed elsewhere: after a restore, the backup's buckets may hold keys that were
   * destroyed since. Keys that this store never had get a tombstone too. Returns the number of changed slots.
   */
  applyTombstones(tombstones: Iterable<Tombstone>): number {
    let changed = 0;
    let group: Tombstone[] = [];
    for (const tombstone of tombstones) {
      if (group.length > 0 && bucketOf(group[0]!.id) !== bucketOf(tombstone.id)) {
        changed += this.#applyToBucket(group);
        group = [];
      }
      // A group holds each key of a bucket once. A longer one repeats ids, so it is written before it grows.
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
    this.onDestroy?.(group.map(({ id }) => id));
    const fresh = this.#slots.bury(group);
    for (const { id } of fresh) {
      this.#forget(id);
      this.reserve(id);
    }
    if (fresh.length > 0) this.#liveCount = undefined;
    return fresh.length;
  }

  /**
   * Wraps every key under `next`'s current master key; see `rewrapSlices`. Returns the number of keys wrapped again.
   */
  rewrap(next: MasterKey): number {
    const slices = this.rewrapSlices(next);
    for (;;) {
      const step = slices.next();
      if (step.done) return step.value;
    }
  }

  /**
   * The same in slices of one bucket, between which other calls may run. Each bucket is replaced whole: after a crash
   * it is wrapped under the old or the new master key. Until the end, opening the store needs both.
   */
  rewrapSlices(next: MasterKey): Generator<void, number, void> {
    return this.#slots.rewrapSlices(next);
  }

  /** The number of keys that are not destroyed, without staged ones. The first call reads every bucket. */
  get liveCount(): number {
    if (this.#liveCount === undefined) {
      let count = 0;
      for (const [, slot] of this.#slots.all()) if (slot.state === 'live') count += 1;
      this.#liveCount = count;
    }
    return this.#liveCount;
  }

  /** Unwraps every key and lists problems, at most `FINDINGS_MAX`. */
  verify(): KeyFinding[] {
    return this.#slots.verify(this.#nextId);
  }

  /** Describes how a live key is stored; undefined for a key that is not live. Reports problems and does not throw. */
  inspect(id: number): KeyInspection | undefined {
    return this.#staged.has(id) ? undefined : this.#slots.inspect(id);
  }

  /**
   * Copies the store's files durably into `directory`, where they open under the same `name`. Returns the number of
   * files.
   */
  copyTo(directory: string): number {
    assert(this.#staged.size === 0, 'a backup is taken between groups');
    return this.#slots.copyTo(directory);
  }

  /** Overwrites the keys held in heap. The store cannot be used afterwards. */
  close(): void {
    for (const key of this.#unwrapped.values()) key.fill(0);
    for (const { key } of this.#staged.values()) key.fill(0);
    this.#unwrapped.clear();
    this.#staged.clear();
  }

  #slot(id: number): Slot {
    return this.#isSlot(id) ? this.#slots.slot(id) : { state: 'unused' };
  }

  #isSlot(id: number): boolean {
    if (id === NO_KEY) return false;
    assert(Number.isInteger(id) && id > 0, 'a key id is a positive integer');
    return true;
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

function toTombstone(id: number, slot: Slot & { state: 'destroyed' }): Tombstone {
  const { kind, createdMs, fingerprint, destroyedMs } = slot;
  return { id, kind, createdMs, fingerprint, destroyedMs };
}

function missing(id: number, slot: Slot): MissingKey {
  return new MissingKey(id, slot.state === 'damaged' ? 'its slot is damaged' : 'it was never written');
}

function isLost(error: unknown): boolean {
  return error instanceof MissingKey || (error instanceof EngineError && error.code === 'CRY-E001');
}
