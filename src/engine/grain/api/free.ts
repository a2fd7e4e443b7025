// Converts free JSON to grain values and back: text rules, depth, nulls, 64-bit integers. The result equals what the
// codec's decoder returns, so a grain is the same before encoding and after decoding.
import { GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import { GrainError } from '../error.ts';
import { canonicalText } from '../text.ts';
import { Float, setOwn, type Value, type ValueMap } from '../value.ts';
import { isInt64, setJson } from './json.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { invalidType, outOfRange } from './refusal.ts';

const SHORT = 48;

/** Depth of a container in a top-level field; the payload map has depth 1. */
export const FIELD_DEPTH = 2;

/** The string in NFC. Throws VAL-E001 for U+0000 and for text that no blob can hold, such as an unpaired surrogate. */
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

/**
 * True without U+0000 and anything beyond ASCII, each of which takes at least two bytes of UTF-8. The platform counts these
 * with vector instructions, in a quarter of a regular expression's time. For short strings a loop costs less than the calls.
 */
function isPlainAscii(text: string): boolean {
  if (text.length > SHORT) return Buffer.byteLength(text) === text.length && !text.includes('\0');
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0 || code > 0x7f) return false;
  }
  return true;
}

/**
 * Cleans a free value: text rules for keys and strings, no null map entries, 64-bit integers, depth up to
 * `GRAIN_DEPTH_MAX`. `depth` is the depth of `value` if it is a container. Returns the same value when nothing changes.
 */
export function cleanFree(value: JsonValue | undefined, field: string, depth: number): Value {
  switch (typeof value) {
    case 'string':
      return cleanText(value, field);
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw outOfRange(field, 'is not a finite number');
      return value === 0 ? 0 : value; // normalises minus zero
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

/** Converts to a number when it is a safe integer. Throws VAL-E001 beyond 64 bits. */
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

/** `cleanFree` for a map. */
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
    if (Object.hasOwn(copy, key)) throw outOfRange(field, 'contains two keys that are equal in NFC');
    setOwn(copy, key, values[index]!);
  }
  return copy;
}

/** Converts a grain's value to JSON; bytes become base64, `bigint` stays. Returns the same value if it is JSON already. */
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
      // All items before `index` were unchanged, so they are JSON.
      if (copy === undefined && json !== item) copy = value.slice(0, index) as JsonValue[];
      copy?.push(json);
    }
    return copy ?? (value as JsonValue[]); // unchanged, so it is JSON
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
  return changed ? copy : (map as JsonObject); // unchanged, so it is JSON
}
