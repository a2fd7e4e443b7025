// Bytes that are written, hashed and then overwritten by the next ones. A view costs more garbage than most hashes, so
// views of the first bytes are kept by their length.

/** Longer views are made anew. */
const VIEWS_MAX = 1_024;

export class PassingBytes {
  readonly bytes: Buffer;
  readonly #views: (Uint8Array | undefined)[] = new Array<Uint8Array | undefined>(VIEWS_MAX).fill(undefined);

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  /** The first `length` bytes. The next caller overwrites them. */
  view(length: number): Uint8Array {
    if (length >= VIEWS_MAX) return this.bytes.subarray(0, length);
    const view = this.#views[length] ?? this.bytes.subarray(0, length);
    this.#views[length] = view;
    return view;
  }
}
