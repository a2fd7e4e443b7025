// A log that fails when it is told to: what stands on a log is tested with it.
import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { ForwardingLog } from './forwarding-log.ts';
import { type Append, CorruptRecord, type LogRecord, type Sequence } from './log.ts';

type ReadFault = { readonly kind: 'corrupt' } | { readonly kind: 'flip'; readonly offset: number };

/** Passes every call on to `inner`, but for the faults that were asked for. */
export class FaultyLog extends ForwardingLog {
  #appendFault: EngineError | undefined;
  #syncFault: { readonly written: boolean } | undefined;
  #gate: Promise<void> | undefined;
  #poisoned: string | undefined;
  readonly #readFaults = new Map<Sequence, ReadFault>();

  /** The next append is refused as a full disk would refuse it: nothing is written, the one after it works. */
  failNextAppend(text = 'no room: the disk is full'): void {
    this.#appendFault = new EngineError('STO-E001', text, { retryable: true });
  }

  /** The next append fails in its sync and poisons the log. `written`: it is on disk all the same, as may happen. */
  failNextSync({ written }: { readonly written: boolean }): void {
    this.#syncFault = { written };
  }

  /** Appends that were to fail and have not come yet will work. */
  disarm(): void {
    this.#appendFault = undefined;
    this.#syncFault = undefined;
  }

  /** Appends wait from now on until the returned function is called. */
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

  /** The record reads as one whose checksum is wrong. */
  corrupt(sequence: Sequence): void {
    this.#readFaults.set(sequence, { kind: 'corrupt' });
  }

  /** The record reads with one byte changed that no checksum noticed; what sealed it must. */
  flipByte(sequence: Sequence, offset: number): void {
    this.#readFaults.set(sequence, { kind: 'flip', offset });
  }

  /** Every record reads as it is again. */
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
    if (fault.kind === 'corrupt') return new CorruptRecord(record.sequence, 'its checksum is not right');
    assert(fault.offset < record.bytes.length, 'a flipped byte lies in its record');
    const bytes = Uint8Array.from(record.bytes);
    bytes[fault.offset]! ^= 0x01;
    return { sequence: record.sequence, bytes };
  }

  *checkFiles(): Generator<void, string | undefined, void> {
    return yield* this.inner.checkFiles?.() ?? [];
  }
}
