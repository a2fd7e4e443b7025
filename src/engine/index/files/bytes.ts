// Byte strings of the sections: big-endian integers, variable-length integers (7 bits a byte, low bits first) and
// zigzag for signed ones. All integers stay below 2^53.
import { assert } from '../../base/assert.ts';

const WRITER_BYTES_FIRST = 256;
/** A variable-length integer below 2^53 takes at most this. */
export const VARINT_BYTES_MAX = 8;

const float = new Float64Array(1);
const floatBytes = new Uint8Array(float.buffer);

/** A buffer that grows. `view` shows what was written; it is valid until the next write. */
export class ByteWriter {
  #bytes = new Uint8Array(WRITER_BYTES_FIRST);
  length = 0;

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    const bytes = this.#bytes;
    const at = this.length;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >>> 16;
    bytes[at + 2] = value >>> 8;
    bytes[at + 3] = value;
    this.length = at + 4;
  }

  /** Big-endian in `width` bytes, at most 6. */
  uint(value: number, width: number): void {
    this.#reserve(width);
    for (let at = this.length + width - 1; at >= this.length; at--) {
      this.#bytes[at] = value;
      value = value < 0x1_0000_0000 ? value >>> 8 : Math.floor(value / 256);
    }
    this.length += width;
  }

  varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    const bytes = this.#bytes;
    let at = this.length;
    while (value >= 0x8000_0000) {
      bytes[at++] = (value % 128) | 0x80;
      value = Math.floor(value / 128);
    }
    while (value >= 0x80) {
      bytes[at++] = (value & 0x7f) | 0x80;
      value >>>= 7;
    }
    bytes[at++] = value;
    this.length = at;
  }

  /** A signed integer whose double stays below 2^53. */
  zigzag(value: number): void {
    this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  float64(value: number): void {
    this.#reserve(8);
    float[0] = value;
    for (let i = 0; i < 8; i++) this.#bytes[this.length++] = floatBytes[i]!;
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Copies `count` bytes of `from`. For a few bytes, a loop is faster than a view and a copy. */
  copy(from: Uint8Array, start: number, count: number): void {
    this.#reserve(count);
    const bytes = this.#bytes;
    const at = this.length;
    for (let i = 0; i < count; i++) bytes[at + i] = from[start + i]!;
    this.length = at + count;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }
}

/** Writers that are reused: the chunk of a small memory would otherwise spend more on buffers than on its bytes. */
const WRITERS_KEPT_MAX = 16;
const kept: ByteWriter[] = [];

/** An empty writer. Return it with `giveWriter` when its view is no longer used; otherwise it becomes garbage. */
export function takeWriter(): ByteWriter {
  return kept.pop() ?? new ByteWriter();
}

export function giveWriter(writer: ByteWriter): void {
  writer.clear();
  if (kept.length < WRITERS_KEPT_MAX) kept.push(writer);
}

/**
 * Reads a byte string from front to back. Reading past its end is a bug of the codec, because the bytes were
 * authenticated.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes;
    this.position = position;
  }

  get left(): number {
    return this.#bytes.length - this.position;
  }

  u8(): number {
    assert(this.position < this.#bytes.length, 'a read stays inside its bytes');
    return this.#bytes[this.position++]!;
  }

  uint(width: number): number {
    assert(this.left >= width, 'a read stays inside its bytes');
    const value = readUint(this.#bytes, this.position, width);
    this.position += width;
    return value;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < VARINT_BYTES_MAX; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw new Error('a variable-length integer ends');
  }

  bytes(count: number): Uint8Array {
    assert(this.left >= count, 'a read stays inside its bytes');
    this.position += count;
    return this.#bytes.subarray(this.position - count, this.position);
  }
}

/** The big-endian integer of `width` bytes (at most 6) at `at`. */
export function readUint(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let i = 0; i < width; i++) value = value * 256 + bytes[at + i]!;
  return value;
}

export function fromZigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

export function readFloat64(bytes: Uint8Array, at: number): number {
  for (let i = 0; i < 8; i++) floatBytes[i] = bytes[at + i]!;
  return float[0]!;
}

/** Bytes that hold every integer up to `value`, at least 1. */
export function widthOf(value: number): number {
  let width = 1;
  while (value >= 256) {
    width += 1;
    value = Math.floor(value / 256);
  }
  return width;
}
