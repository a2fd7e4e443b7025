// A log whose process can die: what is in flight then is on disk or is not, and nobody is told.
import type { Append, CorruptRecord, Log, LogRecord, Sequence } from '../../src/engine/log/log.ts';

const NEVER = new Promise<never>(() => undefined);

export class CrashLog implements Log {
  readonly #inner: Log;
  readonly #onCrash: () => void;
  #appendsLeft = Number.POSITIVE_INFINITY;
  #written = false;
  #dead = false;

  constructor(inner: Log, onCrash: () => void) {
    this.#inner = inner;
    this.#onCrash = onCrash;
  }

  /** The process dies in the append after the next `appends` ones. `written`: that append reached the disk. */
  crashAfter(appends: number, written: boolean): void {
    this.#appendsLeft = appends;
    this.#written = written;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  disarm(): void {
    this.#appendsLeft = Number.POSITIVE_INFINITY;
  }

  /** From now on nothing is answered or written. */
  kill(): void {
    this.#dead = true;
  }

  async append(append: Append): Promise<Sequence> {
    if (this.#dead) return NEVER;
    if (this.#appendsLeft === 0) {
      this.#dead = true;
      if (this.#written) await this.#inner.append(append);
      this.#onCrash();
      return NEVER;
    }
    this.#appendsLeft -= 1;
    const first = await this.#inner.append(append);
    return this.#dead ? NEVER : first;
  }

  get nextSequence(): Sequence {
    return this.#inner.nextSequence;
  }

  get poisoned(): string | undefined {
    return this.#inner.poisoned;
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
