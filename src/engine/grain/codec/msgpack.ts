// MessagePack bytes: writes each value in its shortest form into one reusable buffer, and skips values without decoding
// them. The rules of canonical form are in canonical.ts (writing) and strict.ts (reading).
import { BLOB_BYTES_CEILING, BLOB_BYTES_MAX } from '../../base/limits.ts';
import { refuse } from '../error.ts';
import { canonicalText } from '../text.ts';

const SCRATCH_BYTES = 64 * 1024;
/** Bytes that one `reserve` may request beyond the size limit: the estimate for short text is three times its length. */
const RESERVE_SLACK = 1_024;
/** Up to this length a loop over the characters is faster than two native calls. */
const SHORT_TEXT = 48;

let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
let capacity = SCRATCH_BYTES;
let position = 0;
let sizeMax = BLOB_BYTES_MAX;

const floatBox = new Float64Array(1);
const floatBytes = new Uint8Array(floatBox.buffer);
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Starts a new output of at most `bytesMax` bytes; more cause ERR_TOO_LARGE. Only one output exists at a time. */
export function startOutput(bytesMax: number = BLOB_BYTES_MAX): void {
  position = 0;
  sizeMax = bytesMax;
}

/** Returns a copy of the output. Throws ERR_TOO_LARGE. */
export function takeOutput(): Buffer {
  if (position > sizeMax) refuse('ERR_TOO_LARGE');
  const result = Buffer.allocUnsafe(position);
  scratch.copy(result, 0, 0, position);
  return result;
}

function reserve(bytes: number): void {
  if (position + bytes > capacity) grow(bytes);
}

function grow(bytes: number): void {
  const needed = position + bytes;
  if (needed > sizeMax + RESERVE_SLACK) refuse('ERR_TOO_LARGE');
  const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(capacity * 2, needed), BLOB_BYTES_CEILING + RESERVE_SLACK));
  larger.set(scratch.subarray(0, position), 0);
  scratch = larger;
  capacity = larger.length;
}

/** Writes the nine header bytes before a payload. */
export function writeHeaderBytes(flags: number, typeByte: number, namespaceHash: number, seconds: number): void {
  reserve(9);
  const at = position;
  scratch[at] = 1;
  scratch[at + 1] = flags;
  scratch[at + 2] = typeByte;
  scratch[at + 3] = namespaceHash >>> 8;
  scratch[at + 4] = namespaceHash;
  writeUint32(at + 5, seconds);
  position = at + 9;
}

function writeUint32(at: number, value: number): void {
  scratch[at] = value >>> 24;
  scratch[at + 1] = value >>> 16;
  scratch[at + 2] = value >>> 8;
  scratch[at + 3] = value;
}

/** Writes encoded bytes, such as a key with its head. */
export function writeRaw(bytes: Uint8Array): void {
  const length = bytes.length;
  reserve(length);
  let at = position;
  if (length < 32) for (let i = 0; i < length; i++) scratch[at++] = bytes[i]!;
  else {
    scratch.set(bytes, at);
    at += length;
  }
  position = at;
}

export function writeNil(): void {
  reserve(1);
  scratch[position++] = 0xc0;
}

export function writeBoolean(value: boolean): void {
  reserve(1);
  scratch[position++] = value ? 0xc3 : 0xc2;
}

/** Writes the head of a map of `count` entries. */
export function writeMapHead(count: number): void {
  writeCollectionHead(count, 0x80, 0xde);
}

/** Writes the head of an array of `count` elements. */
export function writeArrayHead(count: number): void {
  writeCollectionHead(count, 0x90, 0xdc);
}

function writeCollectionHead(count: number, fixed: number, long: number): void {
  reserve(5);
  if (count < 16) scratch[position++] = fixed | count;
  else if (count < 0x10000) {
    scratch[position] = long;
    scratch[position + 1] = count >>> 8;
    scratch[position + 2] = count;
    position += 3;
  } else {
    scratch[position] = long + 1;
    writeUint32(position + 1, count);
    position += 5;
  }
}

/** Writes an integer with |value| <= 2^53. */
export function writeInteger(value: number): void {
  reserve(9);
  const at = position;
  if (value >= 0) {
    if (value < 0x80) {
      scratch[at] = value;
      position = at + 1;
    } else if (value < 0x100) {
      scratch[at] = 0xcc;
      scratch[at + 1] = value;
      position = at + 2;
    } else if (value < 0x10000) {
      scratch[at] = 0xcd;
      scratch[at + 1] = value >>> 8;
      scratch[at + 2] = value;
      position = at + 3;
    } else if (value < 0x100000000) {
      scratch[at] = 0xce;
      writeUint32(at + 1, value);
      position = at + 5;
    } else {
      scratch[at] = 0xcf;
      writeUint64(at + 1, value);
      position = at + 9;
    }
  } else if (value >= -0x20) {
    scratch[at] = value;
    position = at + 1;
  } else if (value >= -0x80) {
    scratch[at] = 0xd0;
    scratch[at + 1] = value;
    position = at + 2;
  } else if (value >= -0x8000) {
    scratch[at] = 0xd1;
    scratch[at + 1] = value >> 8;
    scratch[at + 2] = value;
    position = at + 3;
  } else if (value >= -0x80000000) {
    scratch[at] = 0xd2;
    writeUint32(at + 1, value);
    position = at + 5;
  } else {
    scratch[at] = 0xd3;
    writeUint64(at + 1, value);
    position = at + 9;
  }
}

/** Writes the low 64 bits of an exact integer in two's complement. */
function writeUint64(at: number, value: number): void {
  const high = Math.floor(value / 0x100000000);
  writeUint32(at, high);
  writeUint32(at + 4, value - high * 0x100000000);
}

/** Writes an integer of up to 64 bits. Throws ERR_RANGE beyond. */
export function writeBigInteger(value: bigint): void {
  if (value >= -0x1fffffffffffffn && value <= 0x1fffffffffffffn) {
    writeInteger(Number(value));
    return;
  }
  if (value < -0x8000000000000000n || value > 0xffffffffffffffffn) refuse('ERR_RANGE', 'integer of more than 64 bits');
  reserve(9);
  scratch[position] = value >= 0n ? 0xcf : 0xd3;
  scratch.writeBigUInt64BE(BigInt.asUintN(64, value), position + 1);
  position += 9;
}

/** Writes a float64. Throws ERR_FLOAT_INVALID if it is not finite. The caller normalises minus zero. */
export function writeFloat(value: number): void {
  if (!Number.isFinite(value)) refuse('ERR_FLOAT_INVALID');
  reserve(9);
  let at = position;
  scratch[at++] = 0xcb;
  floatBox[0] = value;
  if (LITTLE_ENDIAN) for (let i = 7; i >= 0; i--) scratch[at++] = floatBytes[i]!;
  else for (let i = 0; i < 8; i++) scratch[at++] = floatBytes[i]!;
  position = at;
}

export function writeBinary(bytes: Uint8Array): void {
  const length = bytes.length;
  if (length > sizeMax) refuse('ERR_TOO_LARGE');
  reserve(5 + length);
  if (length < 0x100) {
    scratch[position] = 0xc4;
    scratch[position + 1] = length;
    position += 2;
  } else if (length < 0x10000) {
    scratch[position] = 0xc5;
    scratch[position + 1] = length >>> 8;
    scratch[position + 2] = length;
    position += 3;
  } else {
    scratch[position] = 0xc6;
    writeUint32(position + 1, length);
    position += 5;
  }
  scratch.set(bytes, position);
  position += length;
}

/** Writes a string in NFC. Throws ERR_CORRUPT for a byte order mark or an unpaired surrogate. */
export function writeText(text: string): void {
  const length = text.length;
  if (length > SHORT_TEXT) {
    writeLongText(text);
    return;
  }
  reserve(2 + length);
  let at = position + (length < 32 ? 1 : 2);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) {
      writeLongText(text);
      return;
    }
    scratch[at++] = unit;
  }
  if (length < 32) scratch[position] = 0xa0 | length;
  else {
    scratch[position] = 0xd9;
    scratch[position + 1] = length;
  }
  position = at;
}

/** Writes the text whose UTF-8, in NFC, are the bytes from `start` to `end - 1`. */
export function writeUtf8(bytes: Buffer, start: number, end: number): void {
  const length = end - start;
  reserve(5 + length);
  writeTextHead(length);
  let at = position;
  if (length > SHORT_TEXT) bytes.copy(scratch, at, start, end);
  else for (let i = start; i < end; i++) scratch[at++] = bytes[i]!;
  position += length;
}

function writeLongText(text: string): void {
  // Refuse before normalising. Each byte of NFC text comes from at most four UTF-16 units.
  if (text.length > sizeMax * 4) refuse('ERR_TOO_LARGE');
  let bytes = Buffer.byteLength(text);
  if (bytes !== text.length) {
    text = canonicalText(text);
    bytes = Buffer.byteLength(text);
  }
  reserve(5 + bytes);
  writeTextHead(bytes);
  scratch.write(text, position, bytes === text.length ? 'latin1' : 'utf8');
  position += bytes;
}

/** Writes the head of a text of that many bytes, for which there is room. */
function writeTextHead(bytes: number): void {
  if (bytes < 32) scratch[position++] = 0xa0 | bytes;
  else if (bytes < 0x100) {
    scratch[position] = 0xd9;
    scratch[position + 1] = bytes;
    position += 2;
  } else if (bytes < 0x10000) {
    scratch[position] = 0xda;
    scratch[position + 1] = bytes >>> 8;
    scratch[position + 2] = bytes;
    position += 3;
  } else {
    scratch[position] = 0xdb;
    writeUint32(position + 1, bytes);
    position += 5;
  }
}

/**
 * End of the value at `start`, or -1 if it is malformed, does not end by `end`, or is nested deeper than `depthMax` (a
 * collection at the top has depth 1). Accepts any MessagePack, canonical or not. Allocates no values and never recurses.
 */
export function endOfValue(bytes: Uint8Array, start: number, end: number, depthMax: number): number {
  let at = start;
  const left: number[] = [1]; // remaining values at each level
  while (left.length > 0) {
    const level = left.length - 1;
    if (left[level] === 0) {
      left.pop();
      continue;
    }
    left[level]!--;
    if (at >= end) return -1;
    const head = bytes[at++]!;
    let inside = 0;
    if (head < 0x80 || head >= 0xe0) continue;
    if (head < 0x90) inside = (head & 0x0f) * 2;
    else if (head < 0xa0) inside = head & 0x0f;
    else if (head < 0xc0) at += head & 0x1f;
    else {
      const size = SIZES[head - 0xc0]!;
      if (size === -1) return -1;
      const lengthBytes = size >> 8;
      if (at + lengthBytes > end) return -1;
      let length = 0;
      for (let i = 0; i < lengthBytes; i++) length = length * 256 + bytes[at++]!;
      if (head === 0xdc || head === 0xdd) inside = length;
      else if (head === 0xde || head === 0xdf) inside = length * 2;
      else at += length + (size & 0xff);
      if (inside === 0 && head >= 0xdc) continue;
    }
    if (at > end || inside > end - at) return -1;
    if (inside > 0 || isCollection(head)) {
      if (left.length > depthMax) return -1;
      if (inside > 0) left.push(inside);
    }
  }
  return at <= end ? at : -1;
}

function isCollection(head: number): boolean {
  return head < 0xa0;
}

/** For each head byte from 0xc0: 256 × size of the length field + size of the value, in bytes; -1 for the unused byte. */
const SIZES: readonly number[] = [
  0, // nil
  -1,
  0, // false
  0, // true
  0x100, // bin 8
  0x200,
  0x400,
  0x101, // ext 8: length, then its type
  0x201,
  0x401,
  4, // float 32
  8, // float 64
  1, // uint
  2,
  4,
  8,
  1, // int
  2,
  4,
  8,
  2, // fixext
  3,
  5,
  9,
  17,
  0x100, // str 8
  0x200,
  0x400,
  0x200, // array
  0x400,
  0x200, // map
  0x400,
];
