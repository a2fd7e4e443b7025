// Decorator of a log in which some records are immutable: it refuses to replace them for every caller, and forwards all
// other calls to the inner log.
import { assert } from '../base/assert.ts';
import { ForwardingLog } from './forwarding-log.ts';
import type { Append, Log, Sequence } from './log.ts';

export class FixedRecordsLog extends ForwardingLog {
  readonly #isFixed: (bytes: Uint8Array) => boolean;
  readonly peek?: Log['peek'] & {};
  readonly checkFiles?: Log['checkFiles'] & {};
  readonly scrub?: Log['scrub'] & {};

  /** `isFixed` judges by the first byte of a record; the bytes behind the record are undefined. */
  constructor(inner: Log, isFixed: (bytes: Uint8Array) => boolean) {
    super(inner);
    this.#isFixed = isFixed;
    if (inner.peek !== undefined) this.peek = inner.peek.bind(inner);
    if (inner.checkFiles !== undefined) this.checkFiles = inner.checkFiles.bind(inner);
    if (inner.scrub !== undefined) this.scrub = inner.scrub.bind(inner);
  }

  override async append(append: Append): Promise<Sequence> {
    for (const [sequence] of append.replacements ?? [])
      assert(this.mayReplace(sequence), 'a replaced record exists and is not fixed');
    return this.inner.append(append);
  }

  mayReplace(sequence: Sequence): boolean {
    return this.#isFixedAt(sequence) === false;
  }

  /** Undefined when there is no record. */
  #isFixedAt(sequence: Sequence): boolean | undefined {
    if (this.inner.peek !== undefined) return this.inner.peek(sequence, this.#isFixed);
    const bytes = this.inner.read(sequence);
    return bytes === undefined ? undefined : this.#isFixed(bytes);
  }
}
