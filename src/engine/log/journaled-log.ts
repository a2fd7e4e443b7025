// A log whose appends a journal makes durable, and which follow in LMDB.
//
// An append is durable, and its promise resolves, when the journal has it. It is kept on the heap until LMDB has it too,
// and reads look there first. LMDB sees the appends of a second or so as one transaction with a sync of its own, so its file
// is whole at every moment.
import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { SCAN_PAGE_BYTES, SCAN_PAGE_RECORDS, SEQUENCE_MAX, WAL_PIECE_BYTES, WAL_PIECE_ITEMS } from '../base/limits.ts';
import { checkAppend, isNothing } from './append-check.ts';
import { unframe } from './frame.ts';
import type { CheckpointedLog, Journal } from './journal.ts';
import type { LmdbLog } from './lmdb/lmdb-log.ts';
import type { StatePage } from './lmdb/lmdb-reads.ts';
import { type Append, CorruptRecord, type Log, type LogRecord, type Sequence } from './log.ts';
import { endOf, type NumberedAppend, numberAppend } from './numbered-append.ts';
import { PendingAppends } from './pending.ts';

const PIECE = { items: WAL_PIECE_ITEMS, bytes: WAL_PIECE_BYTES };

export class JournaledLog implements Log, CheckpointedLog {
  readonly shard: number;
  readonly #store: LmdbLog;
  readonly #journal: Journal;
  #watch: ((seconds: number) => void) | undefined;
  readonly #pending = new PendingAppends();
  #next: Sequence;
  #appends: number;
  #inFlight: Promise<void> | undefined;
  #checkpointing: Promise<void> | undefined;
  #closed = false;

  /** `recovered`: appends that the journal has and the store lacks. */
  constructor(store: LmdbLog, journal: Journal, recovered: readonly NumberedAppend[]) {
    this.shard = store.stamp.shard;
    this.#store = store;
    this.#journal = journal;
    this.#next = store.nextSequence;
    this.#appends = store.appends;
    for (const append of recovered) this.durable(append);
    journal.attach(this);
  }

  get nextSequence(): Sequence {
    return this.#next;
  }

  get appends(): number {
    return this.#appends;
  }

  watchSyncs(watch: (seconds: number) => void): void {
    this.#watch = watch;
  }

  synced(seconds: number): void {
    this.#watch?.(seconds);
  }

  get poisoned(): string | undefined {
    return this.#journal.poisoned ?? this.#store.poisoned;
  }

  get refusing(): string | undefined {
    return this.#journal.refusing ?? this.#store.refusing;
  }

  get lapsed(): string | undefined {
    return this.#journal.lapsed;
  }

  get damaged(): string | undefined {
    return this.#store.damaged;
  }

  async append(append: Append): Promise<Sequence> {
    assert(!this.#closed, 'a closed log takes nothing');
    assert(this.#inFlight === undefined, 'one append is in flight at a time');
    const first = this.#next;
    checkAppend(append, first);
    if (this.poisoned !== undefined) throw new EngineError('STO-E001', this.poisoned);
    if (first + append.records.length - 1 > SEQUENCE_MAX)
      throw new EngineError('STO-E001', `the log in ${this.#store.directory} has used all its sequence numbers`);
    if (isNothing(append)) return first;
    const numbered = numberAppend(append, this.#appends + 1, first);
    // LMDB must be able to take it later.
    this.#store.checkRoom(numbered.bytes);
    this.#inFlight = this.#journal.write(this, numbered);
    try {
      await this.#inFlight;
      return first;
    } finally {
      this.#inFlight = undefined;
    }
  }

  durable(append: NumberedAppend): void {
    assert(append.number === this.#appends + 1 && append.first === this.#next, 'an append follows the one before');
    this.#pending.add(append);
    this.#appends = append.number;
    this.#next = endOf(append);
  }

  async checkpoint(): Promise<void> {
    const upTo = this.#appends;
    while (this.#checkpointing !== undefined) await this.#checkpointing.catch(() => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#checkpointing = promise;
    try {
      for (;;) {
        const piece = this.#pending.piece(upTo, PIECE);
        if (piece.length === 0) return;
        await this.#apply(piece);
        this.#pending.drop(piece);
      }
    } finally {
      this.#checkpointing = undefined;
      resolve();
    }
  }

  async #apply(piece: readonly NumberedAppend[]): Promise<void> {
    try {
      await this.#store.apply(piece);
    } catch (error) {
      this.#tellFailure();
      throw error;
    }
  }

  #tellFailure(): void {
    const { poisoned } = this.#store;
    if (poisoned !== undefined) this.#journal.storeFailed?.(poisoned);
  }

  async scrub(): Promise<void> {
    await this.#journal.scrub?.();
  }

  checkOwner(): void {
    this.#journal.checkOwner();
    try {
      this.#store.checkOwner?.();
    } catch (error) {
      this.#tellFailure();
      throw error;
    }
  }

  read(sequence: Sequence): Uint8Array | undefined {
    assert(!this.#closed, 'a closed log gives nothing');
    const framed = this.#pending.record(sequence);
    if (framed === undefined) return this.#store.read(sequence);
    return framed === null ? undefined : unframeRecord(sequence, framed);
  }

  peek<T>(sequence: Sequence, look: (bytes: Buffer) => T): T | undefined {
    const framed = this.#pending.record(sequence);
    if (framed === undefined) return this.#store.peek?.(sequence, look);
    return framed === null ? undefined : look(framed);
  }

  *scan(from: Sequence, to: Sequence = SEQUENCE_MAX + 1): IterableIterator<LogRecord | CorruptRecord> {
    for (let start = Math.max(from, 1); start < to; ) {
      const { records, next } = this.#page(start, to);
      yield* records;
      start = next;
    }
  }

  /** One page of the records from `start`, and where the next one starts. A checkpoint may run between two pages. */
  #page(start: Sequence, to: Sequence): { records: (LogRecord | CorruptRecord)[]; next: Sequence } {
    const firstPending = this.#pending.firstRecord ?? this.#next;
    if (start >= firstPending) return this.#pendingPage(start, Math.min(to, this.#next), to);
    const stored = this.#store.page(start, Math.min(to, firstPending));
    const records = stored.flatMap((record) => this.#asPending(record) ?? []);
    return { records, next: stored.length === 0 ? firstPending : stored[stored.length - 1]!.sequence + 1 };
  }

  #pendingPage(start: Sequence, end: Sequence, to: Sequence) {
    const records: (LogRecord | CorruptRecord)[] = [];
    let bytes = 0;
    let sequence = start;
    for (; sequence < end && records.length < SCAN_PAGE_RECORDS && bytes < SCAN_PAGE_BYTES; sequence++) {
      const framed = this.#pending.record(sequence);
      if (framed === undefined || framed === null) continue;
      bytes += framed.length;
      records.push(asRecord(sequence, framed));
    }
    return { records, next: sequence < end ? sequence : to };
  }

  /** The stored record as the pending appends left it; undefined when they removed it. */
  #asPending(stored: LogRecord | CorruptRecord): LogRecord | CorruptRecord | undefined {
    const framed = this.#pending.record(stored.sequence);
    if (framed === undefined) return stored;
    return framed === null ? undefined : asRecord(stored.sequence, framed);
  }

  getState(key: string): Uint8Array | undefined {
    assert(!this.#closed, 'a closed log gives nothing');
    const framed = this.#pending.stateOf(key);
    if (framed === undefined) return this.#store.getState(key);
    return framed === null ? undefined : this.#unframeState(key, framed);
  }

  *scanState(prefix: string): IterableIterator<readonly [key: string, value: Uint8Array]> {
    assert(!this.#closed, 'a closed log gives nothing');
    for (let after: string | undefined; ; ) {
      const { entries, last } = this.#statePage(prefix, after);
      yield* entries;
      if (last === undefined) return;
      after = last;
    }
  }

  /** The store's page as the pending appends left it. A checkpoint may run between two pages. */
  #statePage(prefix: string, after: string | undefined): StatePage {
    const stored = this.#store.statePage(prefix, after);
    const { last } = stored;
    let found: Map<string, Uint8Array> | undefined;
    for (const [key, framed] of this.#pending.states(prefix)) {
      if ((after !== undefined && key <= after) || (last !== undefined && key > last)) continue;
      found ??= new Map(stored.entries);
      if (framed === null) found.delete(key);
      else found.set(key, this.#unframeState(key, framed));
    }
    return found === undefined ? stored : { entries: [...found].sort(([a], [b]) => (a < b ? -1 : 1)), last };
  }

  #unframeState(key: string, framed: Buffer): Buffer {
    const bytes = unframe(framed, framed.length, 0);
    if (bytes === undefined)
      throw new EngineError('STO-E001', `state "${key}" in ${this.#store.directory}: its checksum is wrong`);
    return bytes;
  }

  *checkFiles(): Generator<void, string | undefined, void> {
    return yield* this.#store.checkFiles?.() ?? [];
  }

  bytesOnDisk(): number {
    return this.#store.bytesOnDisk() + this.#pending.bytes;
  }

  async backup(directory: string): Promise<void> {
    assert(!this.#closed, 'a closed log gives nothing');
    await this.checkpoint();
    await this.#store.backup(directory);
  }

  closing(): void {
    this.#journal.closing?.();
  }

  /** Appends that LMDB refuses stay in the journal, and the next open reads them there. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.closing();
    await this.#inFlight?.catch(() => undefined);
    await this.checkpoint().catch(() => undefined);
    await this.#journal.detach(this, this.#pending.isEmpty);
    await this.#store.close();
  }
}

function asRecord(sequence: Sequence, framed: Buffer): LogRecord | CorruptRecord {
  const bytes = unframe(framed, framed.length, sequence);
  return bytes === undefined ? corrupt(sequence) : { sequence, bytes };
}

function unframeRecord(sequence: Sequence, framed: Buffer): Uint8Array {
  const bytes = unframe(framed, framed.length, sequence);
  if (bytes === undefined) throw corrupt(sequence);
  return bytes;
}

function corrupt(sequence: Sequence): CorruptRecord {
  return new CorruptRecord(sequence, 'its checksum is wrong');
}
