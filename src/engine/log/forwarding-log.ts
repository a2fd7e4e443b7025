// Decorator that forwards every call to the inner log. Subclasses override the calls that they change.
import type { Append, CorruptRecord, Log, LogRecord, Sequence } from './log.ts';

export abstract class ForwardingLog implements Log {
  readonly inner: Log;

  constructor(inner: Log) {
    this.inner = inner;
  }

  get nextSequence(): Sequence {
    return this.inner.nextSequence;
  }

  get poisoned(): string | undefined {
    return this.inner.poisoned;
  }

  get refusing(): string | undefined {
    return this.inner.refusing;
  }

  get lapsed(): string | undefined {
    return this.inner.lapsed;
  }

  get damaged(): string | undefined {
    return this.inner.damaged;
  }

  append(append: Append): Promise<Sequence> {
    return this.inner.append(append);
  }

  checkOwner(): void {
    this.inner.checkOwner?.();
  }

  watchSyncs(watch: (seconds: number) => void): void {
    this.inner.watchSyncs?.(watch);
  }

  read(sequence: Sequence): Uint8Array | undefined {
    return this.inner.read(sequence);
  }

  scan(from: Sequence, to?: Sequence): IterableIterator<LogRecord | CorruptRecord> {
    return this.inner.scan(from, to);
  }

  getState(key: string): Uint8Array | undefined {
    return this.inner.getState(key);
  }

  scanState(prefix: string): IterableIterator<readonly [key: string, value: Uint8Array]> {
    return this.inner.scanState(prefix);
  }

  closing(): void {
    this.inner.closing?.();
  }

  bytesOnDisk(): number {
    return this.inner.bytesOnDisk();
  }

  backup(directory: string): Promise<void> {
    return this.inner.backup(directory);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
