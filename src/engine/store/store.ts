// The store of one shard: finds and opens memories and grains. Plans of writes, recalls and maintenance all read from
// it.

import { assert } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { ShardCounters } from '../base/shard-counters.ts';
import { StageTimes } from '../base/stage-times.ts';
import { open } from '../crypto/envelope.ts';
import type { TrailEnd } from '../govern/trail/audit.ts';
import { addressOf } from '../grain/address.ts';
import { openGrain } from '../grain/codec/blob.ts';
import type { Address } from '../grain/grain.ts';
import type { IndexPart, Keyed, Ordinal } from '../index/parts/part.ts';
import type { ShardIndex } from '../index/shard-index.ts';
import type { VectorIndex } from '../index/vectors/vector-index.ts';
import type { EmbedderStamp } from '../index/vectors/vector-set.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { Log, Sequence } from '../log/log.ts';
import { type GrainHead, nameInHead, peekedHead, peekedName } from '../record/grain-head.ts';
import { grainName } from '../record/grain-name.ts';
import type { GrainRecord, SettingRecord } from '../record/record.ts';
import { decodeRecord } from '../record/record-codec.ts';
import { AddressMemo } from './address-memo.ts';
import { DamageNotes } from './damage-notes.ts';
import { DueGoals } from './due-goals.ts';
import { ErasedAddresses } from './erased-addresses.ts';
import { EventBell } from './event-bell.ts';
import { EventRecords } from './event-records.ts';
import { GrainStatus } from './grain-status.ts';
import type { Memory } from './memory.ts';
import { NameMemo } from './name-memo.ts';
import { NamedKeys } from './named-keys.ts';
import { OpenMemories } from './open-memories.ts';
import type { KeptGrain, OpenedCache } from './opened-cache.ts';
import { NEXT_KEY_STATE, oldBlobKeyState, purgeState } from './state-names.ts';
import { OpenedGrain, type StoredGrain } from './stored-grain.ts';
import { TrailEnds } from './trail-ends.ts';
import type { Uploads } from './uploads.ts';

/** Bad records that health lists. More are only counted. */
const QUARANTINE_NAMES_MAX = 100;

export class Store {
  readonly log: Log;
  readonly keys: KeyStore;
  readonly clock: Clock;
  /** Set once, when the index has been opened, because the index asks this store for keys. */
  index!: ShardIndex;
  /** Set together with `index`. */
  vectors!: VectorIndex;
  /** Set together with `index`, of whose heap budget it takes a part. */
  opened!: OpenedCache;
  /** Set after the index, if the shard is in a database. */
  uploads: Uploads | undefined;
  /** Memories that may hold grains without vectors, in the order in which they were last examined. */
  readonly vectorsBehind = new Set<number>();
  /** Memories among them that were written to since their newest grains were examined. */
  readonly vectorsFresh = new Set<number>();
  /**
   * For each of them, the position up to which grains were handed out in its turn. Earlier grains are being embedded or
   * wait.
   */
  readonly vectorsHandedOut = new Map<number, number>();
  /**
   * The embedders in use, by the names that memories give them ('' for the default). Empty until an embedder is set.
   */
  readonly embedders = new Map<string, EmbedderStamp>();
  /** Records that could not be read: ordinal to reason. */
  readonly quarantine = new Map<Ordinal, string>();
  quarantined = 0;
  readonly damage: DamageNotes;
  /** Hashes of grains that were erased since the process started. */
  readonly erased = new ErasedAddresses();
  /**
   * Memories whose index blocks must be rewritten after an erasure, each with the sequence number that must be sealed
   * first.
   */
  readonly purgePending = new Map<number, Sequence>();
  /** Dropped memories whose unreadable records are still in the log. */
  readonly dropPending = new Set<number>();
  /** Temporary memories, each with the earliest possible sequence number of its records. */
  readonly momentary = new Map<number, Sequence>();
  /** Memories written to since their last statistics point. */
  readonly changedSincePoint = new Set<number>();
  /** Lengths of chains of versions, by the newest version; a cache. */
  readonly chainDepths = new Map<Ordinal, number>();
  /** Memories whose audit chain grew since its head was last noted in the state. */
  readonly auditHeadsUnnoted = new Set<number>();
  /** Counters of the work of the shard since it was opened. */
  readonly counters = new ShardCounters();
  /** The stages of traced calls. */
  readonly stageTimes = new StageTimes();
  /** The records that say what became of a grain. */
  readonly status = new GrainStatus(this);
  /** The keys of users and scopes. */
  readonly namedKeys = new NamedKeys(this);
  /** Finds the audit records that hold events. */
  readonly eventRecords = new EventRecords(this);
  /** Rings when a memory has new events. */
  readonly eventBell = new EventBell();
  readonly dueGoals = new DueGoals();
  readonly #memories: OpenMemories;
  readonly #trailEnds = new TrailEnds(this);
  readonly #addresses = new AddressMemo();
  readonly #names = new NameMemo();

  constructor(log: Log, keys: KeyStore, clock: Clock) {
    this.log = log;
    log.watchSyncs?.((seconds) => this.counters.syncSeconds.observe(seconds));
    this.keys = keys;
    keys.onDestroy = (ids) => this.opened?.endKeys(ids);
    this.clock = clock;
    const nextKey = log.getState(NEXT_KEY_STATE);
    if (nextKey !== undefined) keys.reserve(Buffer.from(nextKey).readUInt32BE(0) - 1);
    this.#memories = new OpenMemories(log, keys);
    this.damage = new DamageNotes(log, (memory) => this.holds(memory));
    for (const [key] of log.scanState('purge/')) this.purgePending.set(Number(key.split('/')[1]), log.nextSequence - 1);
    for (const [key] of log.scanState('drop/')) this.dropPending.add(Number(key.slice('drop/'.length)));
  }

  /** The memory with that number. MEM-E003 when this shard does not hold it. */
  memory(number: number): Memory {
    return this.#memories.get(number);
  }

  /** Memories that did not open at their last use, and why. */
  get unopened(): ReadonlyMap<number, string> {
    return this.#memories.unopened;
  }

  /** The setting record, which names the keys of a memory. MEM-E003, STO-E001. */
  setting(number: number): SettingRecord {
    return this.#memories.setting(number);
  }

  /** True for a memory that exists but cannot be opened, because its token key is missing. */
  isClosed(number: number): boolean {
    return this.holds(number) && this.keys.isGone(this.setting(number).tokenKey);
  }

  holds(number: number): boolean {
    return this.#memories.holds(number);
  }

  memoryNumbers(): IterableIterator<number> {
    return this.#memories.numbers();
  }

  /**
   * Called after a setting record was committed. The next use reads it, unless the open memory was changed in place.
   */
  settingChanged(number: number, sequence: Sequence | undefined, keepOpen = false): void {
    if (!keepOpen) this.#memories.close(number);
    if (sequence === undefined) {
      this.#memories.remove(number);
      this.damage.drop(number);
      this.#trailEnds.forget(number);
      this.eventRecords.forget(number);
      this.eventBell.ring(number);
    } else this.#memories.changed(number, sequence);
  }

  /** Replaced index keys of a memory that are still to be destroyed. */
  notedIndexKeys(memory: number): number[] {
    return [...this.log.scanState(purgeState(memory, 0).slice(0, -1))].map(([key]) => Number(key.split('/')[2]));
  }

  /** Replaced blob keys of a memory. */
  oldBlobKeys(memory: number): number[] {
    return [...this.log.scanState(oldBlobKeyState(memory, 0).slice(0, -1))].map(([key]) => Number(key.split('/')[2]));
  }

  parts(memory: number): readonly IndexPart[] {
    return this.index.memory(memory).parts;
  }

  /** The newest sequence number of a keyed entry, or undefined. */
  newestKeyed(memory: number, kind: Keyed, key: string | number): Sequence | undefined {
    const parts = this.parts(memory);
    for (let i = parts.length - 1; i >= 0; i--) {
      const sequences = parts[i]!.keyed(kind, key);
      if (sequences.length > 0) return sequences[sequences.length - 1];
    }
    return undefined;
  }

  /** All sequence numbers of a kind, ascending. */
  allKeyed(memory: number, kind: Keyed): Sequence[] {
    return this.parts(memory).flatMap((part) => [...part.keyedSequences(kind)]);
  }

  /**
   * The ordinal of the grain with that address, unless it was removed. Without its key, the hash of a grain cannot be
   * verified. The index finds such a grain by the first 8 bytes of the address, and it is returned when no other grain
   * has the address, so that the reader learns why it is gone.
   */
  findOrdinal(memory: number, address: string): Ordinal | undefined {
    const parts = this.parts(memory);
    let untold: Ordinal | undefined;
    for (let i = parts.length - 1; i >= 0; i--) {
      const part = parts[i]!;
      const docs = part.address(address);
      for (let at = 0; at < docs.length; at++) {
        const ordinal = part.ordinals[docs[at]!]!;
        if (this.index.removed.get(ordinal)) continue;
        const bytes = this.#readOrName(ordinal);
        const record = bytes === undefined ? undefined : decodeRecord(bytes);
        if (record?.kind !== 'grain') continue;
        const known = this.addressOf(record);
        if (known === address) return ordinal;
        if (known === undefined) untold ??= ordinal;
      }
    }
    return untold;
  }

  /**
   * True for a grain whose key was destroyed. It occurs when the data is an older copy than the keys and lacks the
   * removal.
   */
  isErasedAt(ordinal: Ordinal): boolean {
    const head = this.#headAt(ordinal);
    return head !== undefined && this.isErased(head);
  }

  /** The address in a grain's record, without opening the grain; undefined once one of its keys is gone. */
  addressOf(head: GrainHead): Address | undefined {
    try {
      return this.memory(head.memory).trail.addressIn(head);
    } catch (error) {
      // The memory does not open, which is reported separately.
      if (error instanceof EngineError) return undefined;
      throw error;
    }
  }

  /** The name of the grain with this record. CRY-E002 when only its hash is known and its key is destroyed. */
  nameOf(head: GrainHead): string {
    const name = nameInHead(head);
    if (name !== undefined) return name;
    return this.nameUnder(this.memory(head.memory), head, Buffer.from(head.bound).toString('hex'));
  }

  /** The name of a grain with this address under these keys. CRY-E002. */
  nameUnder(memory: Memory, { key, scopeKey }: Pick<GrainHead, 'key' | 'scopeKey'>, address: string): string {
    const keys = { user: this.keys.kind(key) === 'user' ? key : 0, scope: scopeKey };
    return grainName({ keys, enciphered: memory.trail.cipher(keys).encipher(address) });
  }

  /** The name of the grain with that address; undefined when the grain is not here. */
  nameOfHash(memory: Memory, address: string): string | undefined {
    const ordinal = this.findOrdinal(memory.number, address);
    return ordinal === undefined ? undefined : this.nameHint(ordinal) || undefined;
  }

  /**
   * The hash of the grain with this name, while the grain is here. Removed grains have no answer, because a hash could
   * confirm a guess.
   */
  hashOfName(memory: Memory, name: string): string | undefined {
    const address = memory.trail.addressNamed(name);
    return address === undefined || this.nameOfHash(memory, address) !== name ? undefined : address;
  }

  /** The address of a grain without opening it, or undefined when its record is gone or unreadable, or it is erased. */
  addressAt(ordinal: Ordinal): Address | undefined {
    const bytes = this.readRecord(ordinal);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    return record?.kind === 'grain' ? this.addressOf(record) : undefined;
  }

  /** The address of a live grain, cached because ties and orders ask for it repeatedly. '' when there is none. */
  addressOfLive(ordinal: Ordinal): string {
    const known = this.#addresses.get(ordinal);
    if (known !== undefined) return known;
    const address = this.addressAt(ordinal);
    if (address === undefined) return '';
    this.#addresses.set(ordinal, address);
    return address;
  }

  /** The name of the grain, unverified: a damaged record may give a wrong name. '' when there is none. */
  nameHint(ordinal: Ordinal): string {
    const known = this.#names.get(ordinal);
    if (known !== undefined) return known;
    const peeked = this.log.peek?.(ordinal, (bytes) => this.#keepName(ordinal, bytes));
    if (peeked !== undefined) return peeked;
    const head = this.#headAt(ordinal);
    if (head === undefined || this.isErased(head)) return '';
    const name = this.nameOf(head);
    this.#names.set(ordinal, name);
    return name;
  }

  /** Writes the bytes of `nameHint` to `into` at `at`. Returns their end, which is `at` when there is no name. */
  writeNameHint(ordinal: Ordinal, into: Buffer, at: number): number {
    const end = this.#names.write(ordinal, into, at);
    if (end !== undefined) return end;
    return this.nameHint(ordinal) === '' ? at : this.#names.write(ordinal, into, at)!; // which cached it
  }

  /** The name in a record, which is cached; '' when it is erased, undefined when the record has none. */
  #keepName(ordinal: Ordinal, record: Buffer): string | undefined {
    const peeked = peekedName(record);
    if (peeked === undefined) return undefined;
    return this.isErased(peeked) ? '' : this.#names.keep(ordinal, peeked);
  }

  #headAt(ordinal: Ordinal): GrainHead | undefined {
    const { log } = this;
    if (log.peek !== undefined) return log.peek(ordinal, peekedHead);
    const bytes = this.readRecord(ordinal);
    return bytes === undefined ? undefined : peekedHead(Buffer.from(bytes));
  }

  /**
   * Opens the grain at `ordinal` and checks its address. Undefined when removed, quarantined or erased. An erased grain
   * occurs when the data is an older copy than the keys: its key is gone, its removal is not recorded.
   */
  readGrain(memory: Memory, ordinal: Ordinal): StoredGrain | undefined {
    return this.#readGrain(memory, ordinal, false);
  }

  /** `readGrain` for an answer: the grain may be asked for again soon. */
  readShown(memory: Memory, ordinal: Ordinal): StoredGrain | undefined {
    return this.#readGrain(memory, ordinal, true);
  }

  #readGrain(memory: Memory, ordinal: Ordinal, isKept: boolean): StoredGrain | undefined {
    if (this.index.removed.get(ordinal)) return undefined;
    const kept = this.opened.get(memory.number, ordinal);
    if (kept !== undefined) return this.#opened(ordinal, kept);
    const bytes = this.readRecord(ordinal);
    if (bytes === undefined) return undefined;
    const record = decodeRecord(bytes);
    assert(record.kind === 'grain' && record.memory === memory.number, 'an ordinal names a grain of its memory');
    try {
      const { blob, address } = this.openRecord(memory, record);
      const kept: KeptGrain = { head: record, address, blob };
      const opened = this.#opened(ordinal, kept);
      if (isKept) this.opened.set(ordinal, kept);
      return opened;
    } catch (error) {
      // A rebuild removes it from the index. There too, the keys take precedence over the log.
      if (error instanceof EngineError && error.code === 'CRY-E002')
        this.damage.note(memory.number, `it holds grains whose key was destroyed, the first at ${ordinal}`);
      else this.quarantineRecord(ordinal, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #opened(ordinal: Ordinal, { head, address, blob }: KeptGrain): OpenedGrain {
    return new OpenedGrain(this, head, { ordinal, address, blob, grain: openGrain(blob) });
  }

  /**
   * The grain at `ordinal`, for a caller that named it. MEM-E001 when it was removed, MEM-E006 when its key was
   * destroyed, STO-E001 when it exists and cannot be read.
   */
  readNamed(memory: Memory, ordinal: Ordinal): StoredGrain {
    const stored = this.readShown(memory, ordinal);
    if (stored !== undefined) return stored;
    if (this.index.removed.get(ordinal)) throw new EngineError('MEM-E001');
    const bytes = this.readRecord(ordinal);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record?.kind === 'grain' && this.isErased(record)) throw new EngineError('MEM-E006');
    throw new EngineError('STO-E001', `the record of this grain is damaged (sequence ${ordinal})`);
  }

  /** True when one of the keys of a grain was destroyed: its user's (or the memory's), or its scope's. */
  isErased({ key, scopeKey }: Pick<GrainRecord, 'key' | 'scopeKey'>): boolean {
    if (this.keys.state(key) === 'destroyed') return true;
    return scopeKey !== 0 && this.keys.state(scopeKey) === 'destroyed';
  }

  /** The plaintext blob of a grain record, checked against its address. CRY-E001, CRY-E002. */
  openBlob(memory: Memory, record: GrainRecord): Buffer {
    return this.openRecord(memory, record).blob;
  }

  openRecord(memory: Memory, record: GrainRecord): { readonly blob: Buffer; readonly address: Address } {
    const blob = open(memory.grainKey(record.key, record.scopeKey), record.sealed, record.bound);
    const address = addressOf(blob);
    if (address !== memory.trail.addressIn(record))
      throw new EngineError('FMT-E003', 'the bytes of the grain do not match its hash: the record is damaged');
    return { blob, address };
  }

  /** The head of the memory's audit chain as committed, and the number of its newest event. */
  auditHead(memory: number): TrailEnd {
    return this.#trailEnds.get(memory);
  }

  /** Called after the audit record at `sequence` was committed, which made `events` events. */
  setAuditHead(memory: number, end: TrailEnd, { sequence, events }: { sequence: Sequence; events: number }): void {
    this.#trailEnds.set(memory, end);
    this.auditHeadsUnnoted.add(memory);
    this.eventRecords.add(memory, sequence);
    if (events > 0) this.eventBell.ring(memory);
  }

  /** The bytes of a record. Undefined when there is none, or when it cannot be read, which quarantines it. */
  readRecord(ordinal: Ordinal): Uint8Array | undefined {
    try {
      return this.#readOrName(ordinal);
    } catch {
      return undefined;
    }
  }

  /** Reads a record. An unreadable record is quarantined and its error thrown. */
  #readOrName(ordinal: Ordinal): Uint8Array | undefined {
    try {
      return this.log.read(ordinal);
    } catch (error) {
      this.quarantineRecord(ordinal, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** True when the memory's index is unreliable until it is rebuilt. */
  isDamaged(memory: number): boolean {
    return this.damage.has(memory) || this.index.isDamaged(memory);
  }

  /** Damaged memories that a rebuild can repair: they open, and their index key is there or gone for good. */
  repairable(): number[] {
    return [...this.damage.memories()].filter((memory) => this.hasIndexKey(memory) !== undefined);
  }

  /** Undefined for a memory that does not open, or whose keys cannot be read at the moment. */
  hasIndexKey(memory: number): boolean | undefined {
    try {
      return !this.keys.isGone(this.memory(memory).keyIds.index);
    } catch (error) {
      if (error instanceof EngineError) return undefined;
      throw error;
    }
  }

  quarantineRecord(ordinal: Ordinal, reason: string): void {
    if (this.quarantine.has(ordinal)) return;
    this.quarantined += 1;
    if (this.quarantine.size < QUARANTINE_NAMES_MAX) this.quarantine.set(ordinal, reason);
  }
}
