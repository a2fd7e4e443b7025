// Converts JSON values to grain values, one function for each form. Each returns the grain's value, or throws VAL-E003 for
// the wrong JSON type and VAL-E001 for a value out of range.
import { SECONDS_MAX } from '../../base/limits.ts';
import { toNfc } from '../../base/nfc.ts';
import type { Value, ValueMap } from '../value.ts';
import { cleanBigint, cleanFree, cleanMap, cleanText, FIELD_DEPTH } from './free.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { invalidType, outOfRange } from './refusal.ts';

/** `field` is the name for errors. `value` is never null. */
export type Take = (value: JsonValue, field: string) => Value;

export const ADDRESS = /^[0-9a-f]{64}$/;
const PREFIX = 'sha256:';

export function isMap(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function text(value: JsonValue, field: string): string {
  if (typeof value !== 'string') throw invalidType(field, value, 'a string');
  return cleanText(value, field);
}

export function filledText(value: JsonValue, field: string): string {
  const taken = text(value, field);
  if (taken === '') throw outOfRange(field, 'is empty');
  return taken;
}

/** A name of at most `charsMax` code points, in NFC, so that later decisions see the same name as the blob. */
export function boundedText(charsMax: number): (value: JsonValue, field: string) => string {
  return (value, field) => {
    const taken = toNfc(text(value, field));
    if (taken.length > charsMax && Array.from(taken).length > charsMax)
      throw outOfRange(field, `is longer than ${charsMax} characters`);
    return taken;
  };
}

/** One of `words`; case matters. */
export function word(words: readonly string[]): (value: JsonValue, field: string) => string {
  const known = new Set(words);
  return (value, field) => {
    if (typeof value !== 'string') throw invalidType(field, value, 'a string');
    if (!known.has(value)) throw outOfRange(field, `is not one of ${words.join(', ')}`);
    return value;
  };
}

export function flag(value: JsonValue, field: string): boolean {
  if (typeof value !== 'boolean') throw invalidType(field, value, 'a boolean');
  return value;
}

export function finite(value: JsonValue, field: string): number {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number') throw invalidType(field, value, 'a number');
  if (!Number.isFinite(value)) throw outOfRange(field, 'is not a finite number');
  return value === 0 ? 0 : value;
}

/** A number from 0 to 1. */
export function ratio(value: JsonValue, field: string): number {
  const taken = finite(value, field);
  if (taken < 0 || taken > 1) throw outOfRange(field, 'is not between 0 and 1');
  return taken;
}

/** A safe integer from `min` to `max`. */
export function integer(min: number, max: number): (value: JsonValue, field: string) => number {
  return (value, field) => {
    const taken = typeof value === 'bigint' ? Number(value) : value;
    if (typeof taken !== 'number') throw invalidType(field, value, 'an integer');
    if (!(taken >= min && taken <= max)) throw outOfRange(field, `is not between ${min} and ${max}`);
    if (!Number.isInteger(taken)) throw invalidType(field, value, 'an integer');
    return taken === 0 ? 0 : taken;
  };
}

export const count = integer(0, Number.MAX_SAFE_INTEGER);
export const safeInteger = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
export const byte = integer(0, 255);
/** Unix seconds that stay seconds in the grain. */
export const wholeSeconds = integer(0, SECONDS_MAX);
const anySeconds = integer(-SECONDS_MAX, SECONDS_MAX);

/** Converts Unix seconds, which may be negative, to milliseconds. */
export function secondsToMs(value: JsonValue, field: string): number {
  return anySeconds(value, field) * 1000;
}

/** An integer of 64 bits, signed. */
export function int64(value: JsonValue, field: string): number | bigint {
  if (typeof value !== 'bigint') return safeInteger(value, field);
  if (value > 2n ** 63n - 1n) throw outOfRange(field, 'is an integer of more than 63 bits');
  return cleanBigint(value, field);
}

export function texts(value: JsonValue, field: string): string[] {
  return list(value, field, text, 'an array of strings');
}

/** An array whose items `take` converts; an item's error names `field[index]`. */
export function list<T extends Value>(
  value: JsonValue,
  field: string,
  take: (value: JsonValue, field: string) => T,
  expected: string,
): T[] {
  if (!Array.isArray(value)) throw invalidType(field, value, expected);
  return value.map((item, index) => take(item, `${field}[${index}]`));
}

/** A content address: 64 lowercase hexadecimal digits. */
export function address(value: JsonValue, field: string): string {
  if (typeof value !== 'string') throw invalidType(field, value, 'a hash');
  if (!ADDRESS.test(value)) throw outOfRange(field, 'is not a hash of 64 lowercase hexadecimal digits');
  return value;
}

/** `address` that accepts and removes one leading `sha256:`. */
export function prefixedAddress(value: JsonValue, field: string): string {
  return address(typeof value === 'string' && value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value, field);
}

export function addresses(value: JsonValue, field: string): string[] {
  return list(value, field, address, 'an array of hashes');
}

export function map(value: JsonValue, field: string): ValueMap {
  if (!isMap(value)) throw invalidType(field, value, 'a map');
  return cleanMap(value, field, FIELD_DEPTH);
}

export function textOrMap(value: JsonValue, field: string): Value {
  if (typeof value === 'string') return cleanText(value, field);
  if (!isMap(value)) throw invalidType(field, value, 'a string or a map');
  return cleanMap(value, field, FIELD_DEPTH);
}

export function free(value: JsonValue, field: string): Value {
  return cleanFree(value, field, FIELD_DEPTH);
}
