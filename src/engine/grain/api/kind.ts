// Converts a value by the kind that the codec's field table gives its position, so that the codec accepts the result. For
// fields without rules of the service.
import { GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import { KIND, type Kind, type Shape } from '../codec/kind.ts';
import { setOwn, type Value, type ValueMap } from '../value.ts';
import { cleanFree, cleanMap, cleanText, FIELD_DEPTH } from './free.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { invalidType, missingField, outOfRange } from './refusal.ts';
import { address, byte, count, finite, flag, int64, isMap, ratio, safeInteger, type Take, text } from './take.ts';

/**
 * The `Take` of a kind, which returns the codec's form of the value or throws VAL-E003 or VAL-E001. `depth` is the depth of
 * the value if it is a container.
 */
export function takeKind(kind: Kind, depth = FIELD_DEPTH): Take {
  return (value, field) => taken(value, kind, field, depth);
}

/** The `Take` of a map with known keys. */
export function takeShape(kind: Kind, depth = FIELD_DEPTH): (value: JsonValue, field: string) => ValueMap {
  return (value, field) => takenShape(someMap(value, field), kind.shape, field, guarded(field, depth));
}

function taken(value: JsonValue, kind: Kind, field: string, depth: number): Value {
  switch (kind.code) {
    case KIND.any:
      return cleanFree(value, field, depth);
    case KIND.string:
      return text(value, field);
    case KIND.address:
      return address(value, field);
    case KIND.float:
      return finite(value, field);
    case KIND.unit:
      return ratio(value, field);
    case KIND.int:
      return int64(value, field);
    case KIND.count:
      return count(value, field);
    case KIND.byte:
      return byte(value, field);
    case KIND.ms:
      return safeInteger(value, field);
    case KIND.bool:
      return flag(value, field);
    case KIND.bytes:
      return base64(value, field);
    case KIND.map:
      return cleanMap(someMap(value, field), field, guarded(field, depth));
    case KIND.list:
      return takenList(value, kind, field, guarded(field, depth));
    case KIND.record:
      return takenMap(someMap(value, field), `${field}.*`, guarded(field, depth), kind.item, undefined);
    case KIND.shape:
      return takenShape(someMap(value, field), kind.shape, field, guarded(field, depth));
    case KIND.stringOrMap:
      return typeof value === 'string'
        ? cleanText(value, field)
        : cleanMap(someMap(value, field, 'a string or a map'), field, guarded(field, depth));
  }
}

function guarded(field: string, depth: number): number {
  if (depth > GRAIN_DEPTH_MAX) throw outOfRange(field, `is nested deeper than ${GRAIN_DEPTH_MAX}`);
  return depth;
}

function someMap(value: JsonValue, field: string, expected = 'a map'): JsonObject {
  if (!isMap(value)) throw invalidType(field, value, expected);
  return value;
}

function takenList(value: JsonValue, kind: Kind, field: string, depth: number): Value[] {
  if (!Array.isArray(value)) throw invalidType(field, value, 'an array');
  const item = kind.item;
  return value.map((entry, index) =>
    item === undefined ? cleanFree(entry, field, depth + 1) : taken(entry, item, `${field}[${index}]`, depth + 1),
  );
}

function takenShape(value: JsonObject, shape: Shape | undefined, field: string, depth: number): ValueMap {
  if (shape === undefined) return cleanMap(value, field, depth);
  for (const key of Object.keys(value))
    if (shape.byShort.has(key) && !shape.byName.has(key))
      throw outOfRange(field, 'holds a key that is a short key of the format');
  const alternative = shape.alternative;
  const isAlternative = alternative !== undefined && isPresent(value, alternative.key);
  for (const name of isAlternative ? alternative.required : shape.required)
    if (!isPresent(value, name)) throw missingField(`${field}.${name}`);
  return takenMap(value, field, depth, undefined, shape);
}

function isPresent(map: JsonObject, key: string): boolean {
  return Object.hasOwn(map, key) && map[key] !== null && map[key] !== undefined;
}

/** Takes a map whose values have the kind `item`, or the kind that `shape` gives their key; other values are free. */
function takenMap(
  map: JsonObject,
  field: string,
  depth: number,
  item: Kind | undefined,
  shape: Shape | undefined,
): ValueMap {
  const copy: ValueMap = {};
  for (const key of Object.keys(map)) {
    const value: JsonValue | undefined = map[key];
    if (value === null || value === undefined) continue;
    const cleanKey = cleanText(key, field);
    if (Object.hasOwn(copy, cleanKey)) throw outOfRange(field, 'contains two keys that are equal in NFC');
    const named = shape?.byName.get(cleanKey);
    const kind = named?.kind ?? item;
    const name = named === undefined ? field : `${field}.${named.name}`;
    const clean = kind === undefined ? cleanFree(value, name, depth + 1) : taken(value, kind, name, depth + 1);
    setOwn(copy, cleanKey, clean);
  }
  return copy;
}

function base64(value: JsonValue, field: string): Uint8Array {
  if (typeof value !== 'string') throw invalidType(field, value, 'a base64 string');
  const bytes = Buffer.from(value, 'base64');
  if (bytes.toString('base64') !== value) throw invalidType(field, value, 'a base64 string');
  return bytes;
}
