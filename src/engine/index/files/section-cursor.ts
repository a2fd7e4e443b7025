// Reads a section from front to back through a window, so that a long section is never in the heap as a whole.
import { readFloat64, readUint, VARINT_BYTES_MAX } from './bytes.ts';
import { CorruptBlock, type SectionSource } from './section.ts';

const WINDOW_BYTES = 8_192;
const NO_BYTES = new Uint8Array(0);

export class SectionCursor {
  readonly #source: SectionSource;
  readonly #end: number;
  #window: Uint8Array = NO_BYTES;
  /** Position of the window's first byte in the section. */
  #start: number;
  #at = 0;

  /** Reads from `start` to `end` (default: the section's end). */
  constructor(source: SectionSource, start = 0, end = source.length) {
    this.#source = source;
    this.#start = start;
    this.#end = end;
  }

  /** Position of the next byte in the section. */
  get position(): number {
    return this.#start + this.#at;
  }

  get done(): boolean {
    return this.position >= this.#end;
  }

  u8(): number {
    if (this.#at >= this.#window.length) this.#fill(1);
    return this.#window[this.#at++]!;
  }

  uint(width: number): number {
    if (this.#at + width > this.#window.length) this.#fill(width);
    this.#at += width;
    return readUint(this.#window, this.#at - width, width);
  }

  float64(): number {
    if (this.#at + 8 > this.#window.length) this.#fill(8);
    this.#at += 8;
    return readFloat64(this.#window, this.#at - 8);
  }

  varint(): number {
    if (this.#at + VARINT_BYTES_MAX > this.#window.length) this.#fill(1);
    const window = this.#window;
    let at = this.#at;
    let value = 0;
    // The first four bytes fit integer arithmetic; longer values are rare.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = window[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.#at = at;
        return value;
      }
    }
    let scale = 0x1000_0000;
    for (let i = 4; i < VARINT_BYTES_MAX; i++) {
      const byte = window[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.#at = at;
        return value;
      }
      scale *= 128;
    }
    throw new CorruptBlock('section', this.position, 'a variable-length integer does not end');
  }

  /** The next `count` bytes, read-only and valid indefinitely. */
  bytes(count: number): Uint8Array {
    if (this.#at + count > this.#window.length) this.#fill(count);
    this.#at += count;
    return this.#window.subarray(this.#at - count, this.#at);
  }

  skip(count: number): void {
    this.#start = this.position + count;
    this.#window = NO_BYTES;
    this.#at = 0;
  }

  /** Moves the window so that it begins at the next byte and holds at least `needed` bytes. */
  #fill(needed: number): void {
    const from = this.position;
    if (from + needed > this.#end) throw new CorruptBlock('section', from, 'ends before its content does');
    this.#window = this.#source.bytes(from, Math.min(this.#end, from + Math.max(needed, WINDOW_BYTES)));
    this.#start = from;
    this.#at = 0;
  }
}
