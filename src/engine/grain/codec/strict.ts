// Reads values strictly: canonical MessagePack, or ERR_CORRUPT. It checks each declared count against the remaining bytes
// before allocating, and the depth limit before each recursion.

import { isUtf8 } from 'node:buffer';
import { GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import { refuse } from '../error.ts';
import { CHECKS, note } from '../rules/findings.ts';
import { isNormalized } from '../text.ts';
import { Float, setOwn, type Value, type ValueMap } from '../value.ts';
import { ANY, KIND, type Kind, type Shape } from './kind.ts';

/** Methods of Node's buffers that its type declarations omit. They cost half as much as `toString` on short text. */
type Bytes = Buffer & {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
};

const EMPTY = Buffer.alloc(0) as Buffer as Bytes; // see the type

let input: Bytes = EMPTY;
let at = 0;
let end = 0;
let depthMax = GRAIN_DEPTH_MAX;
/** False for bytes that this store encoded itself: checks bounds, but assumes canonical form. */
let strict = true;

const floatBox = new Float64Array(1);
const floatBytes = new Uint8Array(floatBox.buffer);
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export interface ReadOptions {
  readonly strict: boolean;
  readonly depthMax: number;
}

/** Starts reading `bytes` at `start`. Only one input exists at a time. */
export function startInput(bytes: Uint8Array, start: number, options: ReadOptions): void {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  input = buffer as Bytes; // see the type
  at = start;
  end = bytes.length;
  strict = options.strict;
  depthMax = options.depthMax;
}

/** Drops the reference to the input, so that it can be garbage-collected. */
export function endInput(): void {
  input = EMPTY;
}

/** The reader's position. */
export function inputPosition(): number {
  return at;
}

export function corrupt(issue: string): never {
  refuse('ERR_CORRUPT', issue);
}

/** Throws ERR_CORRUPT unless the input is at its end. */
export function checkInputEnd(): void {
  if (at !== end) corrupt('bytes after the end');
}

/** Reads a map's head. Throws ERR_CORRUPT for another head, a longer form, or more entries than the remaining bytes allow. */
export function readMapHead(): number {
  const head = nextByte();
  return head >= 0x80 && head < 0x90 ? checkCount(head & 0x0f, 2) : readLongMapCount(head);
}

function readLongMapCount(head: number): number {
  if (head !== 0xde && head !== 0xdf) corrupt('not a map');
  return checkCount(readLength(head === 0xde ? 2 : 4, 16), 2);
}

function checkCount(count: number, bytesEach: number): number {
  if (count * bytesEach > end - at) corrupt('more elements than bytes');
  return count;
}

function nextByte(): number {
  if (at >= end) corrupt('truncated');
  return input[at++]!;
}

/** Reads a length field of `bytes` bytes. Throws ERR_CORRUPT below `least`, which has a shorter form. */
function readLength(bytes: number, least: number): number {
  if (at + bytes > end) corrupt('truncated');
  let length = 0;
  for (let i = 0; i < bytes; i++) length = length * 256 + input[at++]!;
  if (strict && length < least) corrupt('longer form than needed');
  return length;
}

/** Reads a string's head and returns its length in bytes. Checks that the input contains the whole string. */
export function readTextHead(): number {
  const head = nextByte();
  let length: number;
  if (head >= 0xa0 && head < 0xc0) length = head & 0x1f;
  else if (head === 0xd9) length = readLength(1, 32);
  else if (head === 0xda) length = readLength(2, 0x100);
  else if (head === 0xdb) length = readLength(4, 0x10000);
  else corrupt('not a string');
  if (length > end - at) corrupt('truncated');
  return length;
}

/** Skips bytes that the caller has examined itself. */
export function skipBytes(length: number): void {
  at += length;
}

/** Reads a string of `length` bytes. */
export function readTextBytes(length: number): string {
  const start = at;
  at += length;
  let most = 0;
  for (let i = start; i < at; i++) {
    const byte = input[i]!;
    if (byte > most) most = byte;
  }
  return most < 0x80 ? input.latin1Slice(start, at) : readBeyondAscii(start, most);
}

function readBeyondAscii(start: number, most: number): string {
  const text = input.utf8Slice(start, at);
  if (!strict) return text;
  // Decoding replaces invalid bytes by U+FFFD, so only text that contains U+FFFD needs the UTF-8 check.
  if (text.includes('\ufffd') && !isUtf8(input.subarray(start, at))) corrupt('invalid UTF-8');
  if (text.charCodeAt(0) === 0xfeff) corrupt('byte order mark');
  if (most >= 0xcc && !isNormalized(text)) corrupt('not in NFC'); // 0xcc is the first byte of U+0300
  return text;
}

/** True when the key at `start` sorts after the key at `previousStart` in byte order. */
export function keyFollows(previousStart: number, previousLength: number, start: number, length: number): boolean {
  const shared = Math.min(previousLength, length);
  for (let i = 0; i < shared; i++) {
    const difference = input[start + i]! - input[previousStart + i]!;
    if (difference !== 0) return difference > 0;
  }
  return length > previousLength;
}

/** True when the next value is nil. */
export function nilIsNext(): boolean {
  return at < end && input[at] === 0xc0;
}

/**
 * Reads a value in a position of `kind`. Notes a number of the wrong kind; `checkValue` makes all other checks of kinds.
 * `depth` is the depth of the value if it is a collection.
 */
export function readValue(kind: Kind, depth: number, name: string): Value {
  const head = nextByte();
  if (head < 0x80) return integerFound(head, kind, name);
  if (head < 0x90) return readMap(checkCount(head & 0x0f, 2), kind, depth, name);
  if (head < 0xa0) return readArray(checkCount(head & 0x0f, 1), kind, depth, name);
  if (head < 0xc0) return readText(head & 0x1f);
  if (head >= 0xe0) return integerFound(head - 0x100, kind, name);
  switch (head) {
    case 0xc0:
      return null;
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
      return readBinary(kind, readLength(1, 0));
    case 0xc5:
      return readBinary(kind, readLength(2, 0x100));
    case 0xc6:
      return readBinary(kind, readLength(4, 0x10000));
    case 0xcb:
      return readFloat(kind, name);
    case 0xcc:
      return integerFound(readUnsigned(1, 0x80), kind, name);
    case 0xcd:
      return integerFound(readUnsigned(2, 0x100), kind, name);
    case 0xce:
      return integerFound(readUnsigned(4, 0x10000), kind, name);
    case 0xcf:
      return integerFound(readUint64(), kind, name);
    case 0xd0:
      return integerFound(readSigned(1, -0x20), kind, name);
    case 0xd1:
      return integerFound(readSigned(2, -0x80), kind, name);
    case 0xd2:
      return integerFound(readSigned(4, -0x8000), kind, name);
    case 0xd3:
      return integerFound(readInt64(), kind, name);
    case 0xd9:
      return readText(readLength(1, 32));
    case 0xda:
      return readText(readLength(2, 0x100));
    case 0xdb:
      return readText(readLength(4, 0x10000));
    case 0xdc:
      return readArray(checkCount(readLength(2, 16), 1), kind, depth, name);
    case 0xdd:
      return readArray(checkCount(readLength(4, 0x10000), 1), kind, depth, name);
    case 0xde:
      return readMap(checkCount(readLength(2, 16), 2), kind, depth, name);
    case 0xdf:
      return readMap(checkCount(readLength(4, 0x10000), 2), kind, depth, name);
    default:
      return corrupt('a MessagePack form that grains must not contain');
  }
}

function readText(length: number): string {
  if (length > end - at) corrupt('truncated');
  return readTextBytes(length);
}

function readBinary(kind: Kind, length: number): Uint8Array {
  if (kind.code !== KIND.bytes) corrupt('binary is not allowed here');
  if (length > end - at) corrupt('truncated');
  const start = at;
  at += length;
  return new Uint8Array(input.subarray(start, at)); // a copy, so that the blob is not kept alive
}

function integerFound(value: number | bigint, kind: Kind, name: string): number | bigint {
  if (kind.code === KIND.float || kind.code === KIND.unit) note(CHECKS.schema, name, 'is an integer, not a float');
  return value;
}

function readUnsigned(bytes: number, least: number): number {
  return readLength(bytes, least);
}

function readUint64(): number | bigint {
  const high = readLength(4, 0);
  const low = readLength(4, 0);
  if (strict && high === 0) corrupt('longer form than needed');
  return high < 0x200000 ? high * 0x100000000 + low : (BigInt(high) << 32n) | BigInt(low);
}

/** Reads a negative integer of `bytes` bytes. Throws ERR_CORRUPT unless it is below `most`; others have a shorter form. */
function readSigned(bytes: number, most: number): number {
  if (at + bytes > end) corrupt('truncated');
  const value = input.readIntBE(at, bytes);
  at += bytes;
  if (strict && value >= most) corrupt('longer form than needed');
  return value;
}

function readInt64(): number | bigint {
  if (at + 8 > end) corrupt('truncated');
  const value = input.readBigInt64BE(at);
  at += 8;
  if (strict && value >= -0x80000000n) corrupt('longer form than needed');
  return value >= -0x1fffffffffffffn ? Number(value) : value;
}

function readFloat(kind: Kind, name: string): number | Float {
  if (at + 8 > end) corrupt('truncated');
  if (LITTLE_ENDIAN) for (let i = 7; i >= 0; i--) floatBytes[i] = input[at++]!;
  else for (let i = 0; i < 8; i++) floatBytes[i] = input[at++]!;
  const value = floatBox[0]!;
  switch (kind.code) {
    case KIND.float:
    case KIND.unit:
      if (!Number.isFinite(value)) note(CHECKS.float, name, 'is not finite');
      return value;
    case KIND.int:
    case KIND.count:
    case KIND.byte:
    case KIND.ms:
      note(CHECKS.schema, name, 'is a float, not an integer');
  }
  if (!Number.isFinite(value)) note(CHECKS.float, name, 'is not finite');
  return Number.isSafeInteger(value) ? new Float(value) : value;
}

function readArray(count: number, kind: Kind, depth: number, name: string): Value[] {
  if (depth > depthMax) corrupt('nested too deep');
  const item = kind.code === KIND.list ? kind.item! : ANY;
  const result: Value[] = [];
  for (let i = 0; i < count; i++) result.push(readValue(item, depth + 1, name));
  return result;
}

function readMap(count: number, kind: Kind, depth: number, name: string): ValueMap {
  if (depth > depthMax) corrupt('nested too deep');
  const shape = kind.code === KIND.shape ? kind.shape : undefined;
  const item = kind.code === KIND.record ? kind.item! : ANY;
  const result: ValueMap = {};
  let previousStart = at;
  let previousLength = -1;
  for (let i = 0; i < count; i++) {
    const length = readTextHead();
    const start = at;
    if (strict && !keyFollows(previousStart, previousLength, start, length)) corrupt('keys unsorted or repeated');
    previousStart = start;
    previousLength = length;
    const key = readTextBytes(length);
    if (nilIsNext()) corrupt('null in a map');
    if (shape) readShapeEntry(shape, key, result, depth, name);
    else setOwn(result, key, readValue(item, depth + 1, name));
  }
  return result;
}

function readShapeEntry(shape: Shape, key: string, into: ValueMap, depth: number, name: string): void {
  const field = shape.byShort.get(key);
  if (field) {
    into[field.name] = readValue(field.kind, depth + 1, name);
    return;
  }
  if (shape.byName.has(key)) note(CHECKS.names, name, 'holds a full name where a short key exists');
  setOwn(into, key, readValue(ANY, depth + 1, name));
}
