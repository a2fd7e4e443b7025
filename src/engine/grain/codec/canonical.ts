// Writes values in canonical form: map keys in NFC and sorted by UTF-8 bytes, null map entries dropped, integers in their
// shortest form, floats where the position requires them, short keys inside references that define them.
import { GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import { refuse } from '../error.ts';
import { canonicalText, compareUtf8 } from '../text.ts';
import { Float, type Value, type ValueMap } from '../value.ts';
import { ANY, KIND, type Kind, type Shape } from './kind.ts';
import {
  writeArrayHead,
  writeBigInteger,
  writeBinary,
  writeBoolean,
  writeFloat,
  writeInteger,
  writeMapHead,
  writeNil,
  writeText,
} from './msgpack.ts';

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** Writers normalise minus zero, but blobs may contain it; only the re-encoding check keeps it. */
let keepsMinusZero = false;
let depthMax = GRAIN_DEPTH_MAX;

export interface WriteOptions {
  readonly keepMinusZero: boolean;
  readonly depthMax: number;
}

/** Sets the options for the values of the next grain. */
export function startValues(options: WriteOptions): void {
  keepsMinusZero = options.keepMinusZero;
  depthMax = options.depthMax;
}

/**
 * Appends `value` to the output (see `startOutput`). `depth` is the depth of `value` if it is a collection; the payload
 * map has depth 1. Throws ERR_CORRUPT (text, keys, depth), ERR_FLOAT_INVALID, ERR_SCHEMA, ERR_RANGE.
 */
export function writeValue(kind: Kind, value: Value, depth: number): void {
  switch (typeof value) {
    case 'string':
      writeText(value);
      return;
    case 'number':
      writeNumber(kind, value);
      return;
    case 'boolean':
      writeBoolean(value);
      return;
    case 'bigint':
      if (isFloatKind(kind)) writeFloat(Number(value));
      else writeBigInteger(value);
      return;
    case 'object':
      writeObject(kind, value, depth);
      return;
    default:
      refuse('ERR_SCHEMA', 'a value that the format does not have');
      return;
  }
}

function isFloatKind(kind: Kind): boolean {
  return kind.code === KIND.float || kind.code === KIND.unit;
}

function writeNumber(kind: Kind, value: number): void {
  switch (kind.code) {
    case KIND.float:
    case KIND.unit:
      writeFloat(value === 0 && !keepsMinusZero ? 0 : value);
      return;
    case KIND.int:
    case KIND.count:
    case KIND.byte:
    case KIND.ms:
      if (Number.isSafeInteger(value)) {
        writeInteger(value);
        return;
      }
      if (!Number.isFinite(value)) refuse('ERR_FLOAT_INVALID');
      if (!Number.isInteger(value)) refuse('ERR_SCHEMA', 'a fraction where an integer belongs');
      writeBigInteger(BigInt(value));
      return;
    default:
      if (Number.isSafeInteger(value)) writeInteger(value);
      else writeFloat(value);
  }
}

function writeObject(kind: Kind, value: null | Float | Uint8Array | Value[] | ValueMap, depth: number): void {
  if (value === null) {
    writeNil();
    return;
  }
  if (value instanceof Float) {
    if (isFloatKind(kind) || kind.code === KIND.any) {
      writeFloat(value.value === 0 && !keepsMinusZero ? 0 : value.value);
      return;
    }
    writeNumber(kind, value.value);
    return;
  }
  if (value instanceof Uint8Array) {
    if (kind.code !== KIND.bytes) refuse('ERR_SCHEMA', 'binary outside trusted_timestamp.tsp_response');
    writeBinary(value);
    return;
  }
  if (depth > depthMax) refuse('ERR_CORRUPT', 'nested too deep');
  if (Array.isArray(value)) {
    const item = kind.item ?? ANY;
    writeArrayHead(value.length);
    for (const element of value) writeValue(item, element, depth + 1);
    return;
  }
  if (kind.shape) {
    writeShape(kind.shape, value, depth);
    return;
  }
  writeFreeMap(kind.code === KIND.record ? kind.item! : ANY, value, depth);
}

function writeFreeMap(item: Kind, map: ValueMap, depth: number): void {
  const keys = Object.keys(map).filter((key) => map[key] !== null && map[key] !== undefined);
  if (keys.some((key) => BEYOND_ASCII.test(key))) {
    writeNormalizedMap(item, map, keys, depth);
    return;
  }
  keys.sort(compareUtf8);
  writeMapHead(keys.length);
  for (const key of keys) {
    writeText(key);
    writeValue(item, map[key]!, depth + 1);
  }
}

/** Writes a map whose keys may change or collide in NFC. */
function writeNormalizedMap(item: Kind, map: ValueMap, keys: readonly string[], depth: number): void {
  const entries = keys.map((key) => ({ key: canonicalText(key), kind: item, value: map[key]! }));
  writeEntries(entries, depth);
}

interface Entry {
  readonly key: string;
  readonly kind: Kind;
  readonly value: Value;
}

function writeEntries(entries: Entry[], depth: number): void {
  entries.sort((a, b) => compareUtf8(a.key, b.key));
  writeMapHead(entries.length);
  let previous: string | undefined;
  for (const { key, kind, value } of entries) {
    if (key === previous) refuse('ERR_CORRUPT', 'two keys that are one');
    previous = key;
    writeText(key);
    writeValue(kind, value, depth + 1);
  }
}

function writeShape(shape: Shape, map: ValueMap, depth: number): void {
  const entries: Entry[] = [];
  for (const name of Object.keys(map)) {
    const value = map[name];
    if (value === null || value === undefined) continue;
    const known = shape.byName.get(name);
    if (known) entries.push({ key: known.short, kind: known.kind, value });
    else if (shape.byShort.has(name)) refuse('ERR_SCHEMA', 'an unknown key that is the short key of another');
    else entries.push({ key: canonicalText(name), kind: ANY, value });
  }
  writeEntries(entries, depth);
}
