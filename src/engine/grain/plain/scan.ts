// Finds the members of a plain grain in its JSON text without parsing it. A grain is plain when it is a belief or an event
// of common members only, and a blob holds each of their texts byte for byte: without escapes, and certainly in NFC
// (stable.ts). Any other text, a faulty one too, is left to the general path, so nothing here decides what is refused.
import { assert } from '../../base/assert.ts';
import { NAMESPACE_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX, USER_ID_CHARS_MAX } from '../../base/limits.ts';
import { stableLength } from './stable.ts';

/** Members of texts, by their place in a row. */
export const TEXT_COLUMNS = [
  'subject',
  'relation',
  'object',
  'content',
  'role',
  'session_id',
  'user_id',
  'namespace',
] as const;
/** Members of numbers, by their place in a row of numbers. */
export const NUMBER_COLUMNS = ['confidence', 'importance', 'created_at'] as const;
export const CONFIDENCE = 0;
export const IMPORTANCE = 1;
export const CREATED_AT = 2;
const TAGS = TEXT_COLUMNS.length + NUMBER_COLUMNS.length;

/** Integers of a row: start and end of each text, 0 for an absent one; start and number of the tags. */
export const ROW_INTS = TEXT_COLUMNS.length * 2 + 2;
export const TAGS_AT = TEXT_COLUMNS.length * 2;
export const ROW_NUMBERS = NUMBER_COLUMNS.length;

/** The types of a plain grain, by the numbers that rows hold. */
export const PLAIN_TYPES = ['belief', 'event'] as const;
export type PlainType = (typeof PLAIN_TYPES)[number];

const NOT_PLAIN = -1;
/** A longer text is left to the general path, so that no plain blob is too large. Limits in characters hold for bytes. */
const TEXT_BYTES_MAX = 16_384;
const LENGTH_MAX = TEXT_COLUMNS.map((name) =>
  name === 'user_id' ? USER_ID_CHARS_MAX : name === 'namespace' ? NAMESPACE_CHARS_MAX : TEXT_BYTES_MAX,
);
/** Digits of which a double holds every number, and every power of ten. */
const DIGITS_MAX = 15;
const POWERS = Array.from({ length: DIGITS_MAX + 1 }, (_, power) => 10 ** power);
/** Seconds that the header of a blob holds. */
const SECONDS_END = 2 ** 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** 1 for a byte of ASCII that means itself inside a string. */
const LITERAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x80 && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
);

interface Column {
  readonly key: Buffer;
  /** Index in TEXT_COLUMNS; the numbers and the tags follow. */
  readonly place: number;
}

/** The columns of each type. */
const OF_TYPE: readonly Uint8Array[] = PLAIN_TYPES.map((type) => {
  const others = type === 'belief' ? ['content', 'role'] : ['subject', 'relation', 'object'];
  return Uint8Array.from([...TEXT_COLUMNS, ...NUMBER_COLUMNS, 'tags'], (name) => (others.includes(name) ? 0 : 1));
});
/** The texts that each type must have. */
const REQUIRED = [['subject', 'relation', 'object'] as const, ['content'] as const].map((names) =>
  names.map((name) => TEXT_COLUMNS.indexOf(name)),
);

/** Columns by the length of the key and its first and last byte. No two share these. */
const BY_KEY: (Column | undefined)[] = new Array<Column | undefined>(16 * 64).fill(undefined);
[...TEXT_COLUMNS, ...NUMBER_COLUMNS, 'tags'].forEach((name, place) => {
  const key = Buffer.from(name, 'ascii');
  const slot = slotOf(key, 0, key.length);
  assert(BY_KEY[slot] === undefined, 'no two columns share a slot');
  BY_KEY[slot] = { key, place };
});

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  return ((end - start) & 15) * 64 + ((bytes[start]! + 3 * bytes[end - 1]!) & 63);
}

function columnOf(bytes: Uint8Array, start: number, end: number): number {
  const column = BY_KEY[slotOf(bytes, start, end)];
  if (column === undefined || column.key.length !== end - start) return NOT_PLAIN;
  const { key } = column;
  for (let i = 0; i < key.length; i++) if (bytes[start + i] !== key[i]) return NOT_PLAIN;
  return column.place;
}

/** Where the next token begins. */
export let at = 0;

/** Makes the next token begin at `place`. */
export function startAt(place: number): void {
  at = place;
}

/** Where a row of integers and one of numbers lie. */
export interface Row {
  readonly ints: Int32Array;
  readonly int: number;
  readonly numbers: Float64Array;
  readonly number: number;
}

/**
 * Fills a row from the JSON text in `bytes` from `from` to `to - 1`. Returns the number of its members, those of tags
 * included, or -1 when the grain is not plain; the row is then of no use. `type` is the index in PLAIN_TYPES.
 */
export function scanPlain(bytes: Uint8Array, from: number, to: number, type: number, row: Row): number {
  const { ints, int, numbers, number } = row;
  ints.fill(0, int, int + ROW_INTS);
  numbers.fill(Number.NaN, number, number + ROW_NUMBERS);
  const columns = OF_TYPE[type]!;
  let members = 0;
  at = from;
  if (!token(bytes, to, OPEN_OBJECT)) return NOT_PLAIN;
  do {
    blanks(bytes, to);
    const start = literal(bytes, to);
    const place = start < 0 ? NOT_PLAIN : columnOf(bytes, start, at - 1);
    if (place < 0 || columns[place] === 0 || !token(bytes, to, COLON)) return NOT_PLAIN;
    blanks(bytes, to);
    const read =
      place < TEXT_COLUMNS.length
        ? readText(bytes, to, place, ints, int + place * 2)
        : place === TAGS
          ? readTags(bytes, to, ints, int + TAGS_AT)
          : readNumber(bytes, to, place - TEXT_COLUMNS.length, numbers, number);
    if (read < 0) return NOT_PLAIN;
    members += 1 + read;
  } while (token(bytes, to, COMMA));
  if (!token(bytes, to, CLOSE_OBJECT)) return NOT_PLAIN;
  blanks(bytes, to);
  if (at !== to) return NOT_PLAIN;
  const required = REQUIRED[type]!;
  for (let i = 0; i < required.length; i++) if (ints[int + required[i]! * 2] === 0) return NOT_PLAIN;
  return members;
}

/** Passes white space. */
export function blanks(bytes: Uint8Array, to: number): void {
  for (; at < to; at++) {
    const byte = bytes[at]!;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
  }
}

/** Passes blanks and that byte; false when another one follows. */
export function token(bytes: Uint8Array, to: number, byte: number): boolean {
  blanks(bytes, to);
  if (at >= to || bytes[at] !== byte) return false;
  at += 1;
  return true;
}

/** Passes a string that is its own value. Returns where its text begins, or -1. The text ends at `at - 1`. */
export function literal(bytes: Uint8Array, to: number): number {
  if (at >= to || bytes[at] !== QUOTE) return NOT_PLAIN;
  const start = at + 1;
  let end = start;
  while (end < to && LITERAL[bytes[end]!] === 1) end++;
  if (end < to && bytes[end]! > 0x7f) end = endOfWide(bytes, end, to);
  if (end >= to || bytes[end] !== QUOTE) return NOT_PLAIN;
  at = end + 1;
  return start;
}

/** Where the literal bytes and the stable characters from `from` end. */
function endOfWide(bytes: Uint8Array, from: number, to: number): number {
  let end = from;
  while (end < to) {
    const length = bytes[end]! > 0x7f ? stableLength(bytes, end, to) : LITERAL[bytes[end]!]!;
    if (length === 0) return end;
    end += length;
  }
  return end;
}

/** Each reads a value into the row and returns the number of its elements, or -1. */
function readText(bytes: Uint8Array, to: number, place: number, ints: Int32Array, int: number): number {
  const start = literal(bytes, to);
  const end = at - 1;
  // A repeated member, and an empty text, have rules of their own.
  if (start < 0 || end === start || end - start > LENGTH_MAX[place]! || ints[int] !== 0) return NOT_PLAIN;
  if (TEXT_COLUMNS[place] === 'relation' && isReserved(bytes, start, end)) return NOT_PLAIN;
  ints[int] = start;
  ints[int + 1] = end;
  return 0;
}

/** True for the prefix `mg:`, whose relations are listed. */
function isReserved(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start >= 3 && bytes[start] === 0x6d && bytes[start + 1] === 0x67 && bytes[start + 2] === COLON;
}

function readTags(bytes: Uint8Array, to: number, ints: Int32Array, int: number): number {
  if (ints[int] !== 0 || !token(bytes, to, OPEN_LIST)) return NOT_PLAIN;
  ints[int] = at;
  let count = 0;
  do {
    blanks(bytes, to);
    const start = literal(bytes, to);
    const end = at - 1;
    count += 1;
    if (start < 0 || end === start || end - start > TAG_CHARS_MAX || count > TAGS_MAX) return NOT_PLAIN;
  } while (token(bytes, to, COMMA));
  ints[int + 1] = count;
  return token(bytes, to, CLOSE_LIST) ? count : NOT_PLAIN;
}

/** The next of the tags of a row, the first at its `TAGS_AT`: its start. Its end is one before `tagEnd`. */
export function nextTag(bytes: Uint8Array, from: number): number {
  at = from;
  while (bytes[at] !== QUOTE) at++;
  return literal(bytes, bytes.length);
}

/** Where the text of the last tag ends. */
export function tagEnd(): number {
  return at - 1;
}

function readNumber(bytes: Uint8Array, to: number, place: number, numbers: Float64Array, number: number): number {
  const value = decimal(bytes, to);
  const isOutside = place === CREATED_AT ? !(Number.isInteger(value) && value < SECONDS_END) : !(value <= 1);
  if (isOutside || !Number.isNaN(numbers[number + place]!)) return NOT_PLAIN;
  numbers[number + place] = value;
  return 0;
}

/** A decimal number without sign and exponent, of so few digits that the quotient is the nearest double; else NaN. */
function decimal(bytes: Uint8Array, to: number): number {
  const start = at;
  let digits = 0;
  for (; at < to && isDigit(bytes[at]!); at++) digits = digits * 10 + bytes[at]! - ZERO;
  const whole = at - start;
  if (whole === 0 || (whole > 1 && bytes[start] === ZERO)) return Number.NaN;
  if (at >= to || bytes[at] !== DOT) return whole > DIGITS_MAX ? Number.NaN : digits;
  const point = ++at;
  for (; at < to && isDigit(bytes[at]!); at++) digits = digits * 10 + bytes[at]! - ZERO;
  const fraction = at - point;
  return fraction === 0 || whole + fraction > DIGITS_MAX ? Number.NaN : digits / POWERS[fraction]!;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte < ZERO + 10;
}
