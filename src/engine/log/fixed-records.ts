// A log of which some records never change: what would put another in the place of one of those is refused, whoever
// asks. Everything else passes on to the log behind it.
import { assert } from '../base/assert.ts';
import { ForwardingLog } from './forwarding-log.ts';
import type { Append, Log, Sequence } from './log.ts';

export class FixedRecordsLog extends ForwardingLog {
  readonly #isFixed: (bytes: Uint8Array) => boolean;
  readonly peek?: Log['peek'] & {};
  readonly checkFiles?: Log['checkFiles'] & {};

  /** `isFixed` goes by the first byte of a record: what stands behind the record may be anything. */
  constructor(inner: Log, isFixed: (bytes: Uint8Array) => boolean) {
    super(inner);
    this.#isFixed = isFixed;
    if (inner.peek !== undefined) this.peek = inner.peek.bind(inner);
    if (inner.checkFiles !== undefined) this.checkFiles = inner.checkFiles.bind(inner);
  }

  override async append(append: Append): Promise<Sequence> {
    for (const [sequence] of append.replacements ?? [])
      assert(this.mayReplace(sequence), 'a replacement is of a record that is there and may change');
    return this.inner.append(append);
  }

  mayReplace(sequence: Sequence): boolean {
    return this.#isFixedAt(sequence) === false;
  }

  /** Undefined where there is no record. */
  #isFixedAt(sequence: Sequence): boolean | undefined {
    if (this.inner.peek !== undefined) return this.inner.peek(sequence, this.#isFixed);
    const bytes = this.inner.read(sequence);
    return bytes === undefined ? undefined : this.#isFixed(bytes);
  }
}
