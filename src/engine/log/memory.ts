// The log in heap, for the simulator and for tests of the code above a log. It keeps every promise of log.ts except
// durability.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { assert } from '../base/assert.ts';
import { SEQUENCE_MAX } from '../base/limits.ts';
import { frame, unframe } from './frame.ts';
import { type Append, CorruptRecord, type Log, type LogRecord, type Sequence } from './log.ts';

const BACKUP_FILE = 'log.bin';

/** The content that remains when a log is closed or its process dies. A new `MemoryLog` can open it. */
export class MemoryLogStore {
  readonly records = new Map<Sequence, Buffer>();
  readonly state = new Map<string, Uint8Array>();
  next: Sequence = 1;

  /** An independent store with the same content. */
  clone(): MemoryLogStore {
    const copy = new MemoryLogStore();
    for (const [sequence, framed] of this.records) copy.records.set(sequence, framed);
    for (const [key, value] of this.state) copy.state.set(key, value);
    copy.next = this.next;
    return copy;
  }

  /** The store that `backup` wrote. */
  static restore(directory: string): MemoryLogStore {
    // Written by `backup` below, with serialize.
    const saved = deserialize(readFileSync(join(directory, BACKUP_FILE))) as ReturnType<typeof toPlain>;
    const store = new MemoryLogStore();
    for (const [sequence, framed] of saved.records) store.records.set(sequence, framed);
    for (const [key, value] of saved.state) store.state.set(key, value);
    store.next = saved.next;
    return store;
  }
}

function toPlain({ records, state, next }: MemoryLogStore) {
  return { records: [...records], state: [...state], next };
}

export interface MemoryLogOptions {
  /** Awaited in each append before it commits, so that a simulator can advance its clock. Default: one microtask. */
  readonly commitDelay?: (() => Promise<void>) | undefined;
}

export class MemoryLog implements Log {
  readonly poisoned = undefined;
  readonly #store: MemoryLogStore;
  readonly #commitDelay: () => Promise<void>;
  #inFlight: Promise<void> | undefined;
  #closed = false;

  constructor(store: MemoryLogStore = new MemoryLogStore(), options: MemoryLogOptions = {}) {
    this.#store = store;
    this.#commitDelay = options.commitDelay ?? (() => Promise.resolve());
  }

  get nextSequence(): Sequence {
    return this.#store.next;
  }

  async append({ records, replacements = [], removals = [], state = [], keySlots }: Append): Promise<Sequence> {
    assert(keySlots === undefined, 'a log in heap keeps no keys');
    assert(!this.#closed, 'a closed log takes nothing');
    assert(this.#inFlight === undefined, 'one append is in flight at a time');
    const store = this.#store;
    const first = store.next;
    assert(first + records.length - 1 <= SEQUENCE_MAX, 'a log in heap does not run out of sequences');
    for (const sequence of removals)
      assert(Number.isInteger(sequence) && sequence > 0 && sequence < first, 'a removed record was written');
    for (const [sequence] of replacements) assert(store.records.has(sequence), 'a replaced record exists');
    const frames = records.map((record, i) => frame(record, first + i));
    const replaced = replacements.map(([sequence, bytes]) => [sequence, frame(bytes, sequence)] as const);
    const changes = state.map(([key, value]) => [key, value === null ? null : Uint8Array.from(value)] as const);
    this.#inFlight = this.#commitDelay();
    try {
      await this.#inFlight;
    } finally {
      this.#inFlight = undefined;
    }
    for (let i = 0; i < frames.length; i++) store.records.set(first + i, frames[i]!);
    for (const [sequence, framed] of replaced) store.records.set(sequence, framed);
    for (const sequence of removals) store.records.delete(sequence);
    for (const [key, value] of changes) {
      if (value === null) store.state.delete(key);
      else store.state.set(key, value);
    }
    store.next = first + records.length;
    return first;
  }

  read(sequence: Sequence): Uint8Array | undefined {
    assert(!this.#closed, 'a closed log gives nothing');
    const framed = this.#store.records.get(sequence);
    if (framed === undefined) return undefined;
    const bytes = unframe(framed, framed.length, sequence);
    if (bytes === undefined) throw new CorruptRecord(sequence, 'its checksum is wrong');
    return bytes;
  }

  *scan(from: Sequence, to: Sequence = SEQUENCE_MAX + 1): IterableIterator<LogRecord | CorruptRecord> {
    for (let sequence = Math.max(from, 1); sequence < to && sequence < this.#store.next; sequence++) {
      try {
        const bytes = this.read(sequence);
        if (bytes !== undefined) yield { sequence, bytes };
      } catch (error) {
        if (!(error instanceof CorruptRecord)) throw error;
        yield error;
      }
    }
  }

  getState(key: string): Uint8Array | undefined {
    assert(!this.#closed, 'a closed log gives nothing');
    const value = this.#store.state.get(key);
    return value === undefined ? undefined : Uint8Array.from(value);
  }

  *scanState(prefix: string): IterableIterator<readonly [key: string, value: Uint8Array]> {
    const keys = [...this.#store.state.keys()].filter((key) => key.startsWith(prefix)).sort();
    for (const key of keys) {
      const value = this.getState(key);
      if (value !== undefined) yield [key, value];
    }
  }

  bytesOnDisk(): number {
    let bytes = 0;
    for (const framed of this.#store.records.values()) bytes += framed.length;
    for (const value of this.#store.state.values()) bytes += value.length;
    return bytes;
  }

  async backup(directory: string): Promise<void> {
    await writeFile(join(directory, BACKUP_FILE), serialize(toPlain(this.#store)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#inFlight;
  }
}
