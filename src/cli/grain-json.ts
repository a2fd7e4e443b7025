// Grain values as JSON and back. Values that JSON cannot represent become a map with one key:
// {"$int":"9007199254740993"}, {"$float":"1.0"}, {"$bin":"hex"}. A grain's own map of that shape is wrapped:
// {"$map":{...}}.

import { GRAIN_DEPTH_MAX } from '../engine/base/limits.ts';
import { GrainError, type GrainErrorCode } from '../engine/grain/error.ts';
import { Float, setOwn, type Value, type ValueMap } from '../engine/grain/value.ts';

const NOTATION: ReadonlySet<string> = new Set(['$int', '$float', '$bin', '$map']);
const INTEGER = /^-?[0-9]+$/;
/** Longer digit strings are out of range in any case, and parsing them takes quadratic time. */
const INTEGER_CHARS_MAX = 40;
const DECIMAL = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/;
const NOT_FINITE: ReadonlySet<string> = new Set(['nan', 'inf', '+inf', '-inf', 'infinity', '+infinity', '-infinity']);

function fail(code: GrainErrorCode, message: string): never {
  throw new GrainError(code, message);
}

/** True for a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A grain's fields from a JSON object. Throws GrainError: ERR_SCHEMA, or ERR_CORRUPT when nested too deeply. */
export function fieldsFromJson(json: unknown): ValueMap {
  if (!isObject(json)) fail('ERR_SCHEMA', 'fields is not an object');
  return mapFromJson(json, 2);
}

function mapFromJson(json: Record<string, unknown>, depth: number): ValueMap {
  const map: ValueMap = {};
  for (const key of Object.keys(json)) setOwn(map, key, valueFromJson(json[key], depth));
  return map;
}

function valueFromJson(json: unknown, depth: number): Value {
  switch (typeof json) {
    case 'string':
    case 'number':
    case 'boolean':
      return json;
  }
  if (json === null) return null;
  if (depth > GRAIN_DEPTH_MAX + 1) fail('ERR_CORRUPT', 'nested too deeply');
  if (Array.isArray(json)) return json.map((element) => valueFromJson(element, depth + 1));
  if (!isObject(json)) return fail('ERR_SCHEMA', 'not a JSON value');
  const keys = Object.keys(json);
  if (keys.length === 1 && NOTATION.has(keys[0]!)) return fromNotation(keys[0]!, json[keys[0]!], depth);
  return mapFromJson(json, depth + 1);
}

function fromNotation(notation: string, json: unknown, depth: number): Value {
  if (notation === '$map')
    return isObject(json) ? mapFromJson(json, depth + 1) : fail('ERR_SCHEMA', '$map is not a map');
  if (typeof json !== 'string') return fail('ERR_SCHEMA', `${notation} is not a string`);
  switch (notation) {
    case '$int':
      if (!INTEGER.test(json)) fail('ERR_SCHEMA', '$int is not an integer');
      return json.length <= INTEGER_CHARS_MAX ? BigInt(json) : fail('ERR_RANGE', '$int has more than 64 bits');
    case '$float':
      if (NOT_FINITE.has(json.toLowerCase())) fail('ERR_FLOAT_INVALID', '$float is not finite');
      return DECIMAL.test(json) ? new Float(Number(json)) : fail('ERR_SCHEMA', '$float is not a number');
    default:
      return bytesFromHex(json, '$bin');
  }
}

/** Bytes from hex text. Throws ERR_SCHEMA; `name` is the field named in the error. */
export function bytesFromHex(hex: unknown, name: string): Buffer {
  if (typeof hex !== 'string') fail('ERR_SCHEMA', `${name} is missing`);
  const bytes = Buffer.from(hex, 'hex'); // stops at the first character that is not hex
  if (bytes.length * 2 !== hex.length) fail('ERR_SCHEMA', `${name} is not hex`);
  return bytes;
}

/** A grain's fields as a JSON object. `fieldsFromJson` reverses it. */
export function fieldsToJson(fields: ValueMap): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) define(json, key, valueToJson(fields[key] ?? null));
  return json;
}

function define(json: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(json, key, { value, enumerable: true, configurable: true, writable: true });
}

function valueToJson(value: Value): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Object.is(value, -0) ? { $float: '-0.0' } : value;
    case 'bigint':
      return { $int: value.toString() };
  }
  if (value === null) return null;
  if (value instanceof Float) return { $float: floatText(value.value) };
  if (value instanceof Uint8Array) return { $bin: Buffer.from(value).toString('hex') };
  if (Array.isArray(value)) return value.map(valueToJson);
  const keys = Object.keys(value);
  const json = fieldsToJson(value);
  return keys.length === 1 && NOTATION.has(keys[0]!) ? { $map: json } : json;
}

function floatText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text;
}
