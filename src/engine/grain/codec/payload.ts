// Reads and writes the payload map: full field names in memory, short keys in the blob.
import { GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import { refuse } from '../error.ts';
import { CHECKS, note } from '../rules/findings.ts';
import { checkValue } from '../rules/validate.ts';
import { canonicalText, compareUtf8 } from '../text.ts';
import { setOwn, type Value, type ValueMap } from '../value.ts';
import { startValues, writeValue } from './canonical.ts';
import {
  ACTION_CONTENT_FIELD,
  CONTENT_FIELD,
  type Field,
  fieldByKeyBytes,
  isShadowedName,
  isShortKey,
  rankOfUnknown,
  TYPE_FIELD,
  type TypeSpec,
} from './field-map.ts';
import { ANY, KIND } from './kind.ts';
import { writeMapHead, writeRaw, writeText } from './msgpack.ts';
import {
  checkInputEnd,
  corrupt,
  endInput,
  inputPosition,
  keyFollows,
  nilIsNext,
  readMapHead,
  readTextBytes,
  readTextHead,
  readValue,
  skipBytes,
  startInput,
} from './strict.ts';

/** Up to this many entries insertion sort is faster than the general sort; beyond, its quadratic cost shows. */
const FEW_ENTRIES = 48;
const SHADOWED = 'is the full name of a field that has a short key';

// Parallel arrays with the entries of the map being written: rank, which gives the order, and field or unknown key. The
// arrays are reused for each grain with a new count, because truncating them would free their storage each time.
let entryCount = 0;
const ranks: number[] = new Array(FEW_ENTRIES).fill(0);
const entryFields: (Field | undefined)[] = new Array(FEW_ENTRIES).fill(undefined);
const entryKeys: string[] = new Array(FEW_ENTRIES).fill('');
const entryValues: Value[] = new Array(FEW_ENTRIES).fill(null);
const order: number[] = new Array(FEW_ENTRIES).fill(0);

/** Compares entries by rank, and unknown keys of equal rank by their bytes. 0 means a repeated key. */
function compareEntries(a: number, b: number): number {
  return ranks[a]! - ranks[b]! || (ranks[a]! & 1 ? 0 : compareUtf8(entryKeys[a]!, entryKeys[b]!));
}

function addEntry(field: Field | undefined, key: string, rank: number, value: Value): void {
  const index = entryCount++;
  ranks[index] = rank;
  entryFields[index] = field;
  entryKeys[index] = key;
  entryValues[index] = value;
  let place = index;
  if (index < FEW_ENTRIES)
    for (; place > 0; place--) {
      const before = order[place - 1]!;
      if (ranks[before]! < rank || (ranks[before] === rank && compareEntries(before, index) <= 0)) break;
      order[place] = before;
    }
  order[place] = index;
}

/** Starts a new map; frees the arrays after a large one. */
function clearEntries(): void {
  entryCount = 0;
  if (order.length > FEW_ENTRIES)
    for (const list of [ranks, entryFields, entryKeys, entryValues, order]) list.length = FEW_ENTRIES;
}

/**
 * Collects a writer's fields for `writePayload`: looks up each field, notes its errors (grain/rules/findings.ts) and sorts
 * it. Throws ERR_CORRUPT for names without a canonical form.
 */
export function gatherFields(spec: TypeSpec, typeString: string, fields: ValueMap): void {
  clearEntries();
  addEntry(TYPE_FIELD, '', TYPE_FIELD.rank, typeString);
  const known = spec.fieldsFor(typeString);
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    const field = known.get(name);
    if (field === undefined) addUnknown(name, value);
    else if (field === TYPE_FIELD) {
      if (value !== typeString) note(CHECKS.typeMismatch, 'type', 'is not the type of the grain');
    } else {
      if (field.storage !== 'blob') note(CHECKS.indexLayer, name, 'is not written to blobs');
      checkValue(field.kind, value, name, true);
      addEntry(field, '', field.rank, value);
    }
  }
}

function addUnknown(name: string, value: Value): void {
  const key = canonicalText(name);
  if (isShortKey(key)) note(CHECKS.schema, 'an unknown field', 'has the name of a short key');
  addEntry(undefined, key, rankOfUnknown(key), value);
}

/** Collects the fields of a decoded grain, to write them again unchanged. */
export function gatherDecoded(spec: TypeSpec, typeString: string, fields: ValueMap): void {
  clearEntries();
  addEntry(TYPE_FIELD, '', TYPE_FIELD.rank, typeString);
  const known = spec.fieldsFor(typeString);
  for (const name of Object.keys(fields)) {
    const field = known.get(name);
    const key = field ? '' : name;
    addEntry(field, key, field ? field.rank : rankOfUnknown(key), fields[name]!);
  }
}

/** Writes the collected fields as a canonical map to the output of msgpack.ts, then clears them. */
export function writePayload(options = { keepMinusZero: false, depthMax: GRAIN_DEPTH_MAX }): void {
  const count = entryCount;
  if (count > FEW_ENTRIES) order.sort(compareEntries);
  startValues(options);
  writeMapHead(count);
  for (let i = 0; i < count; i++) {
    const index = order[i]!;
    if (i > 0 && ranks[order[i - 1]!] === ranks[index] && compareEntries(order[i - 1]!, index) === 0)
      refuse('ERR_CORRUPT', 'two field names are equal in NFC');
    const field = entryFields[index];
    if (field) {
      writeRaw(field.keyBytes);
      writeValue(field.kind, entryValues[index]!, 2);
    } else {
      writeText(entryKeys[index]!);
      writeValue(ANY, entryValues[index]!, 2);
    }
  }
  clearEntries();
}

export interface PayloadOptions {
  readonly strict: boolean;
  readonly depthMax: number;
}

/** A decoded payload. `typeString` is the value of `t`, of any type, or undefined without `t`. */
export interface Payload {
  readonly typeString: Value | undefined;
  readonly fields: ValueMap;
}

/**
 * Reads the payload map from `start` to the end of `bytes` into fields by full name. Throws ERR_CORRUPT, and notes errors
 * that come later in the order of checks. If not strict, assumes canonical form and correct kinds.
 */
export function readPayload(bytes: Uint8Array, start: number, spec: TypeSpec, options: PayloadOptions): Payload {
  startInput(bytes, start, options);
  const { strict } = options;
  const isAction = spec.type === 'action';
  const fields: ValueMap = {};
  let typeString: Value | undefined;
  let unknown: string[] | undefined;
  let previousStart = 0;
  let previousLength = -1;
  for (let left = readMapHead(); left > 0; left--) {
    const length = readTextHead();
    const keyStart = inputPosition();
    if (strict && !keyFollows(previousStart, previousLength, keyStart, length)) corrupt('keys unsorted or repeated');
    previousStart = keyStart;
    previousLength = length;
    const field = length <= 12 ? fieldByKeyBytes(bytes, keyStart, length) : undefined;
    if (field === undefined || (field === CONTENT_FIELD && isAction) || (field === ACTION_CONTENT_FIELD && !isAction)) {
      const key = readTextBytes(length);
      if (nilIsNext()) corrupt('null in a map');
      if (field) note(CHECKS.names, 'content', 'uses the key of another type');
      unknown ??= [];
      unknown.push(key);
      setOwn(fields, key, readValue(ANY, 2, 'an unknown field'));
      continue;
    }
    skipBytes(length);
    if (nilIsNext()) corrupt('null in a map');
    const value = readValue(field.kind, 2, field.name);
    if (field === TYPE_FIELD) typeString = value;
    else {
      if (strict) {
        if (field.storage !== 'blob') note(CHECKS.indexLayer, field.name, 'is not part of a blob');
        if (field.kind.code !== KIND.string || typeof value !== 'string')
          checkValue(field.kind, value, field.name, false);
      }
      fields[field.name] = value;
    }
  }
  checkInputEnd();
  endInput();
  if (unknown && strict && typeof typeString === 'string')
    for (const key of unknown) if (isShadowedName(key, typeString)) note(CHECKS.names, 'a field', SHADOWED);
  return { typeString, fields: typeString === 'tool' ? withToolPhase(fields) : fields };
}

/** The fields with the phase renamed as type `tool` calls it. */
function withToolPhase(fields: ValueMap): ValueMap {
  if (fields['action_phase'] === undefined) return fields;
  const renamed: ValueMap = {};
  for (const name of Object.keys(fields)) setOwn(renamed, name === 'action_phase' ? 'tool_phase' : name, fields[name]!);
  return renamed;
}

/** Reads a payload of a type without a field table, keys unchanged. Throws ERR_CORRUPT; notes float errors. */
export function readOpaquePayload(bytes: Uint8Array, start: number, options: PayloadOptions): Payload {
  startInput(bytes, start, options);
  const map = readValue(ANY, 1, 'a field');
  checkInputEnd();
  endInput();
  if (typeof map !== 'object' || map === null) corrupt('not a map');
  const { t: typeString, ...fields } = map as ValueMap; // the caller has checked that it is a map
  return { typeString, fields };
}
