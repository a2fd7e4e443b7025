// Searches every place of a grain that can hold the writer's text for personal data. The grain format names the
// exceptions: its numbers, times and flags. Everything else is searched, so that a new field is too.
import { isUtf8 } from 'node:buffer';
import { isKnownName } from '../../grain/api/fields.ts';
import { fieldByName } from '../../grain/codec/field-map.ts';
import { isCounted, KIND, type Kind, type Shape } from '../../grain/codec/kind.ts';
import type { GrainType } from '../../grain/grain.ts';
import { Float, setOwn, type Value, type ValueMap } from '../../grain/value.ts';
import type { PiiCategory } from './categories.ts';
import { announces } from './cues.ts';
import type { PiiDetector } from './detection.ts';
import type { PiiFinding } from './finding.ts';
import { isExpected, isMatched } from './identifiers.ts';
import { socialSecurityNumber } from './number-shapes.ts';
import { redacted } from './redacted.ts';
import { spoken } from './spoken.ts';

export interface FieldFinding extends PiiFinding {
  /** The path of the value: `data.contact.phone`, `criteria.0`; for a key of a map it ends in `#key`. */
  readonly path: string;
  /** The field of the grain. */
  readonly field: string;
  /** True when grains are matched by the field, so that it is never replaced. */
  readonly matched: boolean;
}

export interface Walked {
  /** The given fields, unless something was replaced. */
  readonly fields: ValueMap;
  /** In the order of the fields. */
  readonly findings: readonly FieldFinding[];
}

/** `redacts` names the categories that are replaced; without it none are. `passes` names fields that are skipped. */
export interface WalkOptions {
  readonly redacts?: ((category: PiiCategory) => boolean) | undefined;
  readonly passes?: ((field: string) => boolean) | undefined;
}

/**
 * Searches each text of `fields`, the fields of a grain under their full names, at every depth, and also keys of maps,
 * names of the caller's own fields, numbers, and binary values that are text. Does not change `fields`.
 */
export function walkFields(
  detector: PiiDetector,
  { type, fields }: { readonly type: GrainType; readonly fields: ValueMap },
  options: WalkOptions,
): Walked {
  const walk: Walk = { detector, type, redacts: options.redacts, found: [], field: '', nodes: nodesOf(type, fields) };
  const numbers = new Map<string, number>();
  let changed: ValueMap | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined || options.passes?.(name) === true) continue;
    walk.field = name;
    const known = fieldByName(name, type);
    const isOwn = !isKnownName(type, name);
    // A number of the contract that the format does not know: a time, a ratio.
    if (!isOwn && known === undefined && typeof value === 'number') continue;
    const key = isOwn ? walkKey(walk, name, `${name}#key`) : name;
    const newName = freeKey(key, name, { map: fields, walked: changed ?? {}, numbers });
    const walked = walkValue(walk, value, { kind: known?.kind, path: name, label: labelOf(walk, name, isOwn, fields) });
    if (walked === value && newName === name) continue;
    changed ??= { ...fields };
    if (newName !== name) delete changed[name];
    setOwn(changed, newName, walked);
  }
  return { fields: changed ?? fields, findings: walk.found };
}

interface Walk {
  readonly detector: PiiDetector;
  readonly type: GrainType;
  readonly redacts: ((category: PiiCategory) => boolean) | undefined;
  readonly found: FieldFinding[];
  readonly nodes: Nodes | undefined;
  field: string;
}

/** The place of a value. `kind` is its kind in the grain format; undefined: anything. */
interface Place {
  readonly kind: Kind | undefined;
  readonly path: string;
  /** Read before the text as words that announce its content. */
  readonly label: string | undefined;
}

/** Fields and keys whose name says nothing about their content. */
const TEXTS: ReadonlySet<string> = new Set(
  (
    'subject object relation content description criteria conclusion premises thinking_content agreed_content ' +
    'embedding_text text body message note notes summary title value context data extra_fields'
  ).split(' '),
);

/** The caller's own field names are read with their text ("phone"), and a belief's relation with its object. */
function labelOf({ type }: Walk, name: string, isOwn: boolean, { relation }: ValueMap): string | undefined {
  if (type === 'belief' && name === 'object' && typeof relation === 'string') return relation;
  return isOwn && !TEXTS.has(name) ? name : undefined;
}

function walkValue(walk: Walk, value: Value, place: Place): Value {
  switch (typeof value) {
    case 'string':
      return isPlain(value, place) ? value : walkText(walk, value, place.path, place.label);
    case 'number':
    case 'bigint':
      return isCounted(place.kind) ? value : walkNumber(walk, value, place);
    case 'boolean':
      return value;
    default:
      if (value === null) return value;
      if (Array.isArray(value)) return walkArray(walk, value, place);
      if (value instanceof Float) return isCounted(place.kind) ? value : walkNumber(walk, value, place);
      return value instanceof Uint8Array ? walkBytes(walk, value, place) : walkMap(walk, value, place);
  }
}

/** A content address, or a lower-case word as in enumerations. Neither identifies a person. */
const ADDRESS = /^(?:sha256:)?[0-9a-f]{64}$/;
const WORD = /^[a-z]{1,24}(?:_[a-z]{1,24}){0,3}$/;

function isPlain(value: string, { label }: Place): boolean {
  return (label === undefined && WORD.test(value) && !SPELLED.test(value)) || ADDRESS.test(value);
}

function walkText(walk: Walk, text: string, path: string, label: string | undefined): string {
  const replaced = take(walk, walk.detector.detect(text, label), path);
  return replaced.length === 0 ? text : renamed(walk.nodes, text, redacted(text, replaced));
}

/**
 * The new names of a workflow's nodes. Edges and bindings refer to them, so distinct nodes keep distinct names, and
 * equal names stay equal.
 */
interface Nodes {
  readonly names: ReadonlySet<Value>;
  readonly renamed: Map<string, string>;
  readonly taken: Set<Value>;
}

function nodesOf(type: GrainType, { nodes }: ValueMap): Nodes | undefined {
  if (type !== 'workflow' || !Array.isArray(nodes)) return undefined;
  return { names: new Set(nodes), renamed: new Map(), taken: new Set(nodes) };
}

function renamed(nodes: Nodes | undefined, text: string, clean: string): string {
  if (nodes === undefined || !nodes.names.has(text)) return clean;
  const known = nodes.renamed.get(text);
  if (known !== undefined) return known;
  let name = clean;
  for (let number = 2; nodes.taken.has(name); number++) name = `${clean} ${number}`;
  nodes.taken.add(name);
  nodes.renamed.set(text, name);
  return name;
}

/** Records the findings and returns those that must be replaced. */
function take(walk: Walk, findings: readonly PiiFinding[], path: string): readonly PiiFinding[] {
  const { redacts, field, type } = walk;
  const replaced: PiiFinding[] = [];
  for (const finding of findings) {
    if (isExpected(field, finding.category)) continue;
    const matched = isMatched(type, field);
    walk.found.push({ ...finding, path, field, matched });
    if (!matched && redacts?.(finding.category) === true) replaced.push(finding);
  }
  return replaced;
}

/** Reads a number as its digits: judged by its key, or by the digits themselves. */
function walkNumber(walk: Walk, value: number | bigint | Float, { path, label }: Place): Value {
  const digits = digitsOf(value instanceof Float ? value.value : value);
  if (digits === undefined) return value;
  const announced = label !== undefined && announces(spoken(label));
  if (!announced && digits.length < NUMBER_DIGITS_MIN) return value;
  const found = walk.detector.detect(digits, label);
  const findings = found.length > 0 ? found : socialSecurityNumber(digits, label);
  const replaced = take(walk, findings, path);
  return replaced.length === 0 ? value : redacted(digits, replaced);
}

/** A number with fewer digits means nothing unless something announces it. */
const NUMBER_DIGITS_MIN = 9;

function digitsOf(value: number | bigint): string | undefined {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return undefined;
  return String(value).replace('-', '');
}

/** The service writes no text as binary, but a blob from elsewhere may contain some. */
function walkBytes(walk: Walk, bytes: Uint8Array, { path, label }: Place): Uint8Array {
  if (bytes.length === 0 || !isUtf8(bytes)) return bytes;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const walked = walkText(walk, text, path, label);
  return walked === text ? bytes : Buffer.from(walked);
}

function walkArray(walk: Walk, items: Value[], { kind, path, label }: Place): Value[] {
  const item = kind?.code === KIND.list ? kind.item : undefined;
  const walked = items.map((one, index) => walkValue(walk, one, { kind: item, path: `${path}.${index}`, label }));
  return walked.some((one, index) => one !== items[index]) ? walked : items;
}

function walkMap(walk: Walk, map: ValueMap, { kind, path }: Place): ValueMap {
  const shape = kind?.code === KIND.shape ? kind.shape : undefined;
  const item = kind?.code === KIND.record ? kind.item : undefined;
  const walked: ValueMap = {};
  const numbers = new Map<string, number>();
  let changed = false;
  for (const key of Object.keys(map)) {
    const value = map[key];
    if (value === undefined) continue;
    const inner = `${path}.${key}`;
    const known = knownKey(shape, key);
    const newKey = known === undefined ? walkKey(walk, key, `${inner}#key`) : key;
    const free = freeKey(newKey, key, { map, walked, numbers });
    const label = known !== undefined || TEXTS.has(key) ? undefined : key;
    const newValue = walkValue(walk, value, { kind: known ?? item, path: inner, label });
    changed ||= free !== key || newValue !== value;
    setOwn(walked, free, newValue);
  }
  return changed ? walked : map;
}

function knownKey(shape: Shape | undefined, key: string): Kind | undefined {
  return shape?.byName.get(key)?.kind;
}

/** Spelled-out signs in a name: `ann_at_example_dot_org`. */
const SPELLED = /_at_|_dot_/;

/** Searches a key as the words that it consists of, in which case a finding covers the whole key; and as it is. */
function walkKey(walk: Walk, key: string, path: string): string {
  if (WORD.test(key) && !SPELLED.test(key)) return key;
  const words = spoken(key);
  if (words !== key) {
    const end = Buffer.byteLength(key);
    const found = walk.detector.detect(words).map((one) => ({ ...one, matchedText: key, start: 0, end }));
    const replaced = take(walk, found, path);
    if (replaced.length > 0) return redacted(key, replaced);
    if (found.length > 0) return key;
  }
  return walkText(walk, key, path, undefined);
}

interface Keys {
  readonly map: ValueMap;
  readonly walked: ValueMap;
  /** The last number that was appended to a key. */
  readonly numbers: Map<string, number>;
}

/** A number is appended when a redacted key equals another key. */
function freeKey(key: string, original: string, { map, walked, numbers }: Keys): string {
  if (key === original) return key;
  let number = numbers.get(key) ?? 1;
  let free = number === 1 ? key : `${key} ${number}`;
  while (Object.hasOwn(walked, free) || Object.hasOwn(map, free)) {
    number += 1;
    free = `${key} ${number}`;
  }
  numbers.set(key, number);
  return free;
}
