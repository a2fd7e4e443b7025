// Builds the fields of a new version: the caller's fields override those of the old version.
import { EngineError } from '../../base/errors.ts';
import type { GrainType } from '../grain.ts';
import { grainTypeOf } from './input.ts';
import { isInt64, setJson } from './json.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { COMMON_NAMES, properName } from './names.ts';
import { type GrainFields, storedFields } from './output.ts';
import { invalidType, outOfRange } from './refusal.ts';
import { isMap } from './take.ts';

/** Fields of a new version, ready for `fromApi`. */
export interface NextVersion {
  readonly grainType: GrainType;
  readonly fields: JsonObject;
}

export interface AppliedDelta {
  readonly field: string;
  readonly old: JsonValue;
  readonly new: JsonValue;
}

/**
 * Fields of one version that the next does not inherit: its time, its sources, and why it replaced another. All links of
 * `derived_from` go, because a version's source and its predecessor look the same. `related_to` is inherited, because
 * automatic links look the same as a caller's.
 */
const OF_ONE_VERSION = ['created_at', 'derived_from', 'supersession_justification', 'supersession_auth'];

/**
 * The version that supersedes `old`: it inherits every field that `input` does not set; an explicit null drops a field.
 * In a state, keys that are neither common fields nor extra fields of `old` change its `data` key by key, unless
 * `data` is sent, which replaces it. `input` is one flat object of fields.
 *
 * Throws VAL-E001 when `grainType` is given, not empty, and not the type of `old`.
 */
export function supersedeFields(old: GrainFields, input: JsonObject, grainType: string | undefined): NextVersion {
  const type = sameType(old.type, grainType);
  if (!isMap(input)) throw invalidType('fields', input, 'a map');
  const fields = carried(old);
  const sent = sentNames(type, input);
  if (type === 'observation') dropTwin(old, fields, sent);
  const data = type === 'state' && !sent.has('data') ? { ...dataOf(fields) } : undefined;
  for (const [name, value] of sent) {
    const target = data !== undefined && isDataKey(name, fields) ? data : fields;
    if (value === null) drop(target, name);
    else setJson(target, name, value);
  }
  if (data !== undefined) fields['data'] = data;
  return { grainType: type, fields };
}

/**
 * The next version of `old`, with the fields of `set` and each delta added to its field. A missing field counts as 0, a
 * missing `confidence` as 1. In a state, names that are neither common fields nor extra fields of `old`
 * are keys of `data`. `applied` is in the order of `deltas`.
 *
 * Throws VAL-E003 for a delta that is not a number. Throws VAL-E001 for a field that is not a number, is both set and
 * changed, or is `created_at`, and for a sum that is not finite or not an exact integer.
 */
export function accumulateFields(
  old: GrainFields,
  deltas: Readonly<Record<string, number>>,
  set: JsonObject,
): NextVersion & { readonly applied: AppliedDelta[] } {
  const { grainType, fields } = supersedeFields(old, set, undefined);
  const shown = storedFields(old);
  const data = { ...dataOf(fields) };
  const sent = sentNames(grainType, set);
  const applied: AppliedDelta[] = [];
  for (const written of Object.keys(deltas)) {
    const name = properName(grainType, written);
    const delta: unknown = deltas[written];
    if (typeof delta !== 'number' && typeof delta !== 'bigint') throw invalidType(written, delta, 'a number');
    if (sent.has(name)) throw outOfRange(written, 'is both set and changed by a delta');
    if (name === 'created_at') throw outOfRange(written, 'cannot be accumulated');
    const isKey = grainType === 'state' && isDataKey(name, shown);
    if (isKey) fields['data'] = data;
    const target = isKey ? data : fields;
    const before = own(target, name) ?? (name === 'confidence' ? 1 : 0);
    const after = sum(before, delta, written);
    setJson(target, name, after);
    applied.push({ field: written, old: before, new: after });
  }
  return { grainType, fields, applied };
}

function sameType(type: GrainType, asked: string | undefined): GrainType {
  if (asked === undefined || asked === '' || asked === type) return type;
  let same = false;
  try {
    same = grainTypeOf(asked) === type;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
  if (!same) throw outOfRange('grain_type', `is not ${type}, the type of the grain to supersede`);
  return type;
}

function carried(old: GrainFields): JsonObject {
  const fields = storedFields(old);
  for (const name of OF_ONE_VERSION) drop(fields, name);
  return fields;
}

/** The sent fields by proper name; a proper name wins over an alias of the same field. */
function sentNames(type: GrainType, input: JsonObject): Map<string, JsonValue> {
  const sent = new Map<string, JsonValue>();
  for (const written of Object.keys(input)) {
    const name = properName(type, written);
    const value: JsonValue | undefined = input[written];
    if (value !== undefined && (name === written || !Object.hasOwn(input, name))) sent.set(name, value);
  }
  return sent;
}

/** An observation with a single text shows it as both content and object, so sending either replaces the text. */
function dropTwin(old: GrainFields, fields: JsonObject, sent: ReadonlyMap<string, JsonValue>): void {
  if (old.fields['content'] !== undefined || old.fields['object'] === undefined) return;
  if (sent.has('content') || sent.has('object')) {
    drop(fields, 'content');
    drop(fields, 'object');
  } else drop(fields, 'content');
}

function isDataKey(name: string, fields: JsonObject): boolean {
  return !COMMON_NAMES.has(name) && name !== 'data' && !Object.hasOwn(fields, name);
}

function dataOf(fields: JsonObject): JsonObject {
  const { data } = fields;
  return isMap(data) ? data : {};
}

function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function drop(object: JsonObject, name: string): void {
  if (Object.hasOwn(object, name)) delete object[name];
}

function sum(before: JsonValue, delta: number | bigint, field: string): number | bigint {
  if (typeof before !== 'number' && typeof before !== 'bigint') throw outOfRange(field, 'is not a number');
  if (typeof before === 'number' && typeof delta === 'number') {
    const after = before + delta;
    const isWhole = Number.isInteger(before) && Number.isInteger(delta);
    if (!Number.isFinite(after) || (isWhole && !Number.isSafeInteger(after))) throw outOfRange(field, 'overflows');
    return after;
  }
  if (typeof before === 'number' ? !Number.isSafeInteger(before) : !isExact(delta))
    throw outOfRange(field, 'mixes a large integer with a fraction');
  const after = BigInt(before) + BigInt(delta);
  if (!isInt64(after)) throw outOfRange(field, 'overflows');
  return Number.isSafeInteger(Number(after)) ? Number(after) : after;
}

function isExact(delta: number | bigint): boolean {
  return typeof delta === 'bigint' || Number.isSafeInteger(delta);
}
