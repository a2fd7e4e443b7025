// A log that fails on demand, for tests of the code above a log.
import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { ForwardingLog } from './forwarding-log.ts';
import { type Append, CorruptRecord, type LogRecord, type Sequence } from './log.ts';

type ReadFault = { readonly kind: 'corrupt' } | { readonly kind: 'flip'; readonly offset: number };

/** Forwards every call to `inner`, except where a fault was requested. */
export class FaultyLog extends ForwardingLog {
  #appendFault: EngineError | undefined;
  #syncFault: { readonly written: boolean } | undefined;
  #gate: Promise<void> | undefined;
  #poisoned: string | undefined;
  readonly #readFaults = new Map<Sequence, ReadFault>();

  /** The next append is refused as on a full disk: nothing is written, and later appends work. */
  failNextAppend(text = 'no room: the disk is full'): void {
    this.#appendFault = new EngineError('STO-E001', text, { retryable: true });
  }

  /**
   * The next append fails in its sync and poisons the log. `written`: its records reach the disk nevertheless, as can
   * happen.
   */
  failNextSync({ written }: { readonly written: boolean }): void {
    this.#syncFault = { written };
  }

  /** Cancels faults that have not occurred yet. */
  disarm(): void {
    this.#appendFault = undefined;
    this.#syncFault = undefined;
  }

  /** Delays all appends until the returned function is called. */
  holdAppends(): () => void {
    let open = (): void => undefined;
    this.#gate = new Promise((resolve) => {
      open = resolve;
    });
    return () => {
      this.#gate = undefined;
      open();
    };
  }

  /** Makes the record read as one with a wrong checksum. */
  corrupt(sequence: Sequence): void {
    this.#readFaults.set(sequence, { kind: 'corrupt' });
  }

  /**
   * Changes one byte of the record as it is read, unnoticed by the checksum. The seal of its content must notice it.
   */
  flipByte(sequence: Sequence, offset: number): void {
    this.#readFaults.set(sequence, { kind: 'flip', offset });
  }

  /** Ends all read faults. */
  heal(): void {
    this.#readFaults.clear();
  }

  override get poisoned(): string | undefined {
    return this.#poisoned ?? this.inner.poisoned;
  }

  override async append(append: Append): Promise<Sequence> {
    if (this.#poisoned !== undefined) throw new EngineError('STO-E001', this.#poisoned);
    if (this.#gate !== undefined) await this.#gate;
    const refused = this.#appendFault;
    if (refused !== undefined) {
      this.#appendFault = undefined;
      throw refused;
    }
    const unsynced = this.#syncFault;
    if (unsynced !== undefined) {
      this.#syncFault = undefined;
      this.#poisoned = 'a sync failed; the log takes no more until it is opened again';
      if (unsynced.written) await this.inner.append(append);
      throw new EngineError('STO-E001', this.#poisoned);
    }
    return this.inner.append(append);
  }

  override read(sequence: Sequence): Uint8Array | undefined {
    const bytes = this.inner.read(sequence);
    if (bytes === undefined) return undefined;
    const faulted = this.#withFault({ sequence, bytes });
    if (faulted instanceof CorruptRecord) throw faulted;
    return faulted.bytes;
  }

  override *scan(from: Sequence, to?: Sequence): IterableIterator<LogRecord | CorruptRecord> {
    for (const record of this.inner.scan(from, to))
      yield record instanceof CorruptRecord ? record : this.#withFault(record);
  }

  #withFault(record: LogRecord): LogRecord | CorruptRecord {
    const fault = this.#readFaults.get(record.sequence);
    if (fault === undefined) return record;
    if (fault.kind === 'corrupt') return new CorruptRecord(record.sequence, 'its checksum is wrong');
    assert(fault.offset < record.bytes.length, 'a flipped byte lies in its record');
    const bytes = Uint8Array.from(record.bytes);
    bytes[fault.offset]! ^= 0x01;
    return { sequence: record.sequence, bytes };
  }

  *checkFiles(): Generator<void, string | undefined, void> {
    return yield* this.inner.checkFiles?.() ?? [];
  }
}
