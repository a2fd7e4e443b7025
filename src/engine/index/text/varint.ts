// Unsigned integers below 2^32 in 1-5 bytes, seven bits each, the low ones first.
import type { SectionSink, SectionSource } from '../files/section.ts';

const BUFFER_BYTES = 32_768;
const COPIED_BY_LOOP_MAX = 48;
/** Buffers that are reused: new ones would cost a small memory's chunk more than its content. */
const BUFFERS_KEPT_MAX = 8;
const kept: Buffer[] = [];

/** Collects what is appended to a section, so that the sink is not called for every byte. */
export class VarintWriter {
  readonly #sink: SectionSink;
  readonly #buffer = kept.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;
  #flushed = 0;

  constructor(sink: SectionSink) {
    this.#sink = sink;
  }

  /** Bytes appended so far. */
  get position(): number {
    return this.#flushed + this.#used;
  }

  varint(value: number): void {
    if (this.#used + 5 > this.#buffer.length) this.#flush();
    const buffer = this.#buffer;
    let at = this.#used;
    while (value > 127) {
      buffer[at++] = (value & 127) | 128;
      value >>>= 7;
    }
    buffer[at++] = value;
    this.#used = at;
  }

  bytes(bytes: Uint8Array): void {
    if (this.#used + bytes.length > this.#buffer.length) this.#flush();
    if (bytes.length > this.#buffer.length) {
      this.#sink.write(bytes);
      this.#flushed += bytes.length;
      return;
    }
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  /** Copies `count` bytes of `from` from `start` on. For a few bytes, a loop is faster than a view and a copy. */
  copy(from: Uint8Array, start: number, count: number): void {
    if (count > COPIED_BY_LOOP_MAX) {
      this.bytes(from.subarray(start, start + count));
      return;
    }
    if (this.#used + count > this.#buffer.length) this.#flush();
    const buffer = this.#buffer;
    const used = this.#used;
    for (let i = 0; i < count; i++) buffer[used + i] = from[start + i]!;
    this.#used = used + count;
  }

  /** A text: the number of its UTF-8 bytes, then the bytes. */
  text(text: string): void {
    const { length } = text;
    const buffer = this.#buffer;
    const start = this.#used + 1;
    let written = 0;
    if (length < 128 && start + length < buffer.length) {
      for (; written < length; written++) {
        const code = text.charCodeAt(written);
        if (code > 127) break;
        buffer[start + written] = code;
      }
    }
    if (written < length) {
      this.#longText(text);
      return;
    }
    buffer[start - 1] = length;
    this.#used = start + length;
  }

  #longText(text: string): void {
    const bytes = Buffer.from(text, 'utf8');
    this.varint(bytes.length);
    this.bytes(bytes);
  }

  /** Writes the remaining bytes to the section. Nothing can be appended after that. */
  end(): void {
    this.#flush();
    if (kept.length < BUFFERS_KEPT_MAX) kept.push(this.#buffer);
  }

  #flush(): void {
    if (this.#used === 0) return;
    this.#sink.write(this.#buffer.subarray(0, this.#used));
    this.#flushed += this.#used;
    this.#used = 0;
  }
}

/** Reads varints from the front of a byte string. */
export class VarintReader {
  readonly #bytes: Uint8Array;
  /** Offset of the next byte. */
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  varint(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; byte >= 128 && shift < 35; shift += 7) {
      byte = bytes[this.at++]!;
      value |= (byte & 127) << shift;
    }
    return value >>> 0;
  }

  skip(count: number): void {
    while (count > 0) if (this.#bytes[this.at++]! < 128) count--;
  }
}

const WINDOW_BYTES = 16_384;
const VARINT_BYTES_MAX = 5;

/** Reads a section from front to back through a window: the section of a large memory need not fit in the heap. */
export class SectionReader {
  readonly #source: SectionSource;
  #window: Uint8Array = new Uint8Array(0);
  #at = 0;
  #windowEnd = 0;

  constructor(source: SectionSource) {
    this.#source = source;
  }

  varint(): number {
    if (this.#at + VARINT_BYTES_MAX > this.#window.length) this.#fill(1);
    const window = this.#window;
    let byte = window[this.#at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let shift = 7; byte > 127 && shift < 35; shift += 7) {
      byte = window[this.#at++]!;
      value |= (byte & 127) << shift;
    }
    return value >>> 0;
  }

  /** Copies the next `count` bytes to `writer`. */
  copyTo(writer: VarintWriter, count: number): void {
    if (this.#at + count > this.#window.length) this.#fill(count);
    writer.copy(this.#window, this.#at, count);
    this.#at += count;
  }

  /** Copies the next `count` varints to `writer`, or skips them without one. */
  takeVarints(count: number, writer?: VarintWriter): void {
    for (; count > 0; count--) {
      if (this.#at + VARINT_BYTES_MAX > this.#window.length) this.#fill(1);
      const start = this.#at;
      while (this.#window[this.#at++]! > 127);
      writer?.copy(this.#window, start, this.#at - start);
    }
  }

  /** The next `count` bytes; valid until the next read. */
  bytes(count: number): Uint8Array {
    if (this.#at + count > this.#window.length) this.#fill(count);
    this.#at += count;
    return this.#window.subarray(this.#at - count, this.#at);
  }

  text(count: number): string {
    const bytes = this.bytes(count);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  }

  #fill(count: number): void {
    const start = this.#windowEnd - (this.#window.length - this.#at);
    const end = Math.min(this.#source.length, start + Math.max(count, WINDOW_BYTES));
    this.#window = this.#source.bytes(start, end);
    this.#windowEnd = end;
    this.#at = 0;
  }
}
