// Free JSON on its way into a grain and out of it: text rules, depth, nulls, integers that fit.
// What comes in leaves here as the codec's decoder would give it back, so both sides of a blob are equal.
import { GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import { GrainError } from '../error.ts';
import { canonicalText } from '../text.ts';
import { Float, setOwn, type Value, type ValueMap } from '../value.ts';
import { isInt64, setJson } from './json.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { invalidType, outOfRange } from './refusal.ts';

/** Anything but printable ASCII and white space: looked at more closely, although most of it is allowed. */
const NOT_PLAIN_ASCII = /[^ -~\t\n\r]/;
const SHORT = 48;

/** Depth of a container that is the value of a top-level field; the payload map itself is 1. */
export const FIELD_DEPTH = 2;

/** The string in NFC. VAL-E001 for U+0000 and for what no blob can hold, such as an unpaired surrogate. */
export function cleanText(text: string, field: string): string {
  if (isPlainAscii(text)) return text;
  if (text.includes('\0')) throw outOfRange(field, 'holds U+0000');
  try {
    return canonicalText(text);
  } catch (error) {
    throw error instanceof GrainError
      ? outOfRange(field, `is not text that a grain can hold: ${error.message}`)
      : error;
  }
}

// For short strings a loop costs a third of the regular expression's call.
function isPlainAscii(text: string): boolean {
  if (text.length > SHORT) return !NOT_PLAIN_ASCII.test(text);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0 || code > 0x7f) return false;
  }
  return true;
}

/**
 * A free value: text rules in keys and strings, no map entry that is null, integers in 64 bits, depth within
 * `GRAIN_DEPTH_MAX`. `depth` is that of `value` if it is a container. Returns the value itself when nothing changes.
 */
export function cleanFree(value: JsonValue | undefined, field: string, depth: number): Value {
  switch (typeof value) {
    case 'string':
      return cleanText(value, field);
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw outOfRange(field, 'is not a finite number');
      return value === 0 ? 0 : value; // minus zero is written as zero
    case 'bigint':
      return cleanBigint(value, field);
    case 'object':
      if (value === null) return null;
      if (depth > GRAIN_DEPTH_MAX) throw outOfRange(field, `is nested deeper than ${GRAIN_DEPTH_MAX}`);
      return Array.isArray(value) ? cleanArray(value, field, depth) : cleanMap(value, field, depth);
    default:
      throw invalidType(field, value, 'a JSON value');
  }
}

/** As a number when it is safe to be one. VAL-E001 past 64 bits. */
export function cleanBigint(value: bigint, field: string): number | bigint {
  if (!isInt64(value)) throw outOfRange(field, 'is an integer of more than 64 bits');
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function cleanArray(array: JsonValue[], field: string, depth: number): Value[] {
  let copy: Value[] | undefined;
  for (let index = 0; index < array.length; index++) {
    const item = array[index];
    const clean = cleanFree(item, field, depth + 1);
    if (copy === undefined && !Object.is(clean, item)) copy = array.slice(0, index);
    copy?.push(clean);
  }
  return copy ?? array;
}

/** As `cleanFree`, of a map. */
export function cleanMap(map: JsonObject, field: string, depth: number): ValueMap {
  const keys = Object.keys(map);
  let changed = false;
  const cleanKeys: string[] = [];
  const values: Value[] = [];
  for (const key of keys) {
    const value: JsonValue | undefined = map[key];
    if (value === null || value === undefined) {
      changed = true;
      continue;
    }
    const cleanKey = cleanText(key, field);
    const clean = cleanFree(value, field, depth + 1);
    if (cleanKey !== key || !Object.is(clean, value)) changed = true;
    cleanKeys.push(cleanKey);
    values.push(clean);
  }
  if (!changed) return map;
  const copy: ValueMap = {};
  for (let index = 0; index < cleanKeys.length; index++) {
    const key = cleanKeys[index]!;
    if (Object.hasOwn(copy, key)) throw outOfRange(field, 'holds two keys that are one in NFC');
    setOwn(copy, key, values[index]!);
  }
  return copy;
}

/** A grain's value as JSON: floats as numbers, bytes as base64, `bigint` as it is. The value itself when it is JSON. */
export function toJson(value: Value): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Float) return value.value;
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (Array.isArray(value)) {
    let copy: JsonValue[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const item = value[index]!;
      const json = toJson(item);
      // Everything before `index` came back as it was, so it is JSON.
      if (copy === undefined && json !== item) copy = value.slice(0, index) as JsonValue[];
      copy?.push(json);
    }
    return copy ?? (value as JsonValue[]); // nothing in it changed, so it is JSON
  }
  return mapToJson(value);
}

function mapToJson(map: ValueMap): JsonObject {
  let changed = false;
  const copy: JsonObject = {};
  for (const key of Object.keys(map)) {
    const value = map[key];
    if (value === undefined) {
      changed = true;
      continue;
    }
    const json = toJson(value);
    if (json !== value) changed = true;
    setJson(copy, key, json);
  }
  return changed ? copy : (map as JsonObject); // nothing in it changed, so it is JSON
}
