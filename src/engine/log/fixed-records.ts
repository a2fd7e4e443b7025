// A log of which some records never change: what would put another in the place of one of those is refused, whoever
// asks. Everything else passes on to the log behind it.
import { assert } from '../assert.ts';
import type { Append, CorruptRecord, Log, LogRecord, Sequence } from './log.ts';

export class FixedRecordsLog implements Log {
  readonly #inner: Log;
  readonly #isFixed: (bytes: Uint8Array) => boolean;
  readonly peek?: Log['peek'] & {};
  readonly checkFiles?: Log['checkFiles'] & {};

  /** `isFixed` goes by the first byte of a record: what stands behind the record may be anything. */
  constructor(inner: Log, isFixed: (bytes: Uint8Array) => boolean) {
    this.#inner = inner;
    this.#isFixed = isFixed;
    if (inner.peek !== undefined) this.peek = inner.peek.bind(inner);
    if (inner.checkFiles !== undefined) this.checkFiles = inner.checkFiles.bind(inner);
  }

  get nextSequence(): Sequence {
    return this.#inner.nextSequence;
  }

  get poisoned(): string | undefined {
    return this.#inner.poisoned;
  }

  async append(append: Append): Promise<Sequence> {
    for (const [sequence] of append.replacements ?? [])
      assert(this.mayReplace(sequence), 'a replacement is of a record that is there and may change');
    return this.#inner.append(append);
  }

  mayReplace(sequence: Sequence): boolean {
    return this.#isFixedAt(sequence) === false;
  }

  /** Undefined where there is no record. */
  #isFixedAt(sequence: Sequence): boolean | undefined {
    if (this.#inner.peek !== undefined) return this.#inner.peek(sequence, this.#isFixed);
    const bytes = this.#inner.read(sequence);
    return bytes === undefined ? undefined : this.#isFixed(bytes);
  }

  read(sequence: Sequence): Uint8Array | undefined {
    return this.#inner.read(sequence);
  }

  scan(from: Sequence, to?: Sequence): IterableIterator<LogRecord | CorruptRecord> {
    return this.#inner.scan(from, to);
  }

  getState(key: string): Uint8Array | undefined {
    return this.#inner.getState(key);
  }

  scanState(prefix: string): IterableIterator<readonly [key: string, value: Uint8Array]> {
    return this.#inner.scanState(prefix);
  }

  bytesOnDisk(): number {
    return this.#inner.bytesOnDisk();
  }

  backup(directory: string): Promise<void> {
    return this.#inner.backup(directory);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
