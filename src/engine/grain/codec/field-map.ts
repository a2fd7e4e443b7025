// Maps field names to short keys and back: writers look up names, readers look up key bytes. All types share one map, with
// one exception: an action's `content` has its own key.
import { assert } from '../../base/assert.ts';
import { GRAIN_TYPE_NAMES, type GrainType } from '../grain.ts';
import { FIELD_ROWS } from '../registry.ts';
import { compareUtf8 } from '../text.ts';
import { ACTION_CONTENT, TOOL_PHASE } from '../types/action.ts';
import type { FieldStorage, TypeFormat } from '../types/row.ts';
import { GRAIN_TYPES } from '../types/table.ts';
import { KIND, type Kind } from './kind.ts';

export interface Field {
  readonly name: string;
  readonly short: string;
  readonly kind: Kind;
  readonly storage: FieldStorage;
  /** 2 × position + 1 of the short key in canonical order; unknown keys get the even numbers between. */
  readonly rank: number;
  /** The short key as MessagePack, including its head. */
  readonly keyBytes: Uint8Array;
  /** Position in the table; a type's rules use it to track which fields are present. */
  readonly id: number;
}

/** A type's rules for the codec. */
export interface TypeSpec extends Omit<TypeFormat, 'fields' | 'alias'> {
  readonly type: GrainType;
  readonly alias: string | undefined;
  /** Fields by name, for writers. Depends on the type string, because `tool` has another name for the phase. */
  readonly fieldsFor: (typeString: string) => ReadonlyMap<string, Field>;
}

const shorts = [...new Set([...FIELD_ROWS, ACTION_CONTENT].map(([, short]) => short))].sort(compareUtf8);

function fieldOf(row: (typeof FIELD_ROWS)[number], id: number): Field {
  const [name, short, kind, storage = 'blob'] = row;
  const text = Buffer.from(short, 'ascii');
  assert(text.length < 32, 'a short key fits the one-byte head');
  return {
    name,
    short,
    kind,
    storage,
    rank: shorts.indexOf(short) * 2 + 1,
    keyBytes: Uint8Array.of(0xa0 | text.length, ...text),
    id,
  };
}

const globalFields = FIELD_ROWS.map(fieldOf);
const actionContent = fieldOf(ACTION_CONTENT, globalFields.length);
const toolPhase = fieldOf(TOOL_PHASE, globalFields.length + 1);
const byName = new Map(globalFields.map((field) => [field.name, field]));
const actionByName = new Map([...byName, ['content', actionContent]]);
const toolByName = new Map([...actionByName, ['tool_phase', toolPhase]]);

export const TYPE_FIELD = byName.get('type')!;

/** Every short key, which a reader interprets as a field. */
const shortKeys: ReadonlySet<string> = new Set(shorts);
/** Every name that has a short key other than itself. */
const shadowedNames: ReadonlySet<string> = new Set(
  globalFields.filter((field) => field.short !== field.name).map((field) => field.name),
);

const specs = GRAIN_TYPE_NAMES.map((type): TypeSpec => {
  const { byte, alias, required, filled, dated } = GRAIN_TYPES[type].format;
  const fields = type === 'action' ? actionByName : byName;
  const fieldsFor: TypeSpec['fieldsFor'] = (typeString) => (typeString === 'tool' ? toolByName : fields);
  return { type, byte, alias, required, filled, dated, fieldsFor };
});
const specByString = new Map<string, TypeSpec>(
  specs.flatMap((spec) => [[spec.type, spec] as const, ...(spec.alias ? [[spec.alias, spec] as const] : [])]),
);

/** The type of a type string or alias, or undefined. */
export function typeByString(typeString: string): TypeSpec | undefined {
  return specByString.get(typeString);
}

/** The type of a type byte; undefined for reserved and application bytes. */
export function typeByByte(byte: number): TypeSpec | undefined {
  return specs[byte - 1];
}

/** True when the type string belongs to the type of the type byte. */
export function typeHolds(spec: TypeSpec, typeString: string): boolean {
  return typeString === spec.type || typeString === spec.alias;
}

/** The field of a name, or undefined. Pass `type` for an action, whose `content` has its own entry. */
export function fieldByName(name: string, type?: GrainType): Field | undefined {
  return (type === 'action' ? actionByName : byName).get(name);
}

/** True for a short key; an unknown field must not have this name, because readers would take it for a field. */
export function isShortKey(key: string): boolean {
  return shortKeys.has(key);
}

/** True when a payload must use this name's short key instead. `typeString` is the blob's. */
export function isShadowedName(name: string, typeString: string): boolean {
  return shadowedNames.has(name) || (name === 'tool_phase' && typeString === 'tool');
}

/** Rank of an unknown key among the short keys: an even number on the scale of `Field.rank`. */
export function rankOfUnknown(key: string): number {
  let low = 0;
  let high = shorts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(shorts[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low * 2;
}

// Hash table with open addressing over key bytes, so that a reader creates no string for a known key.
const TABLE_SIZE = 1024;
const table: (Field | undefined)[] = new Array(TABLE_SIZE).fill(undefined);

function insert(field: Field): void {
  let hash = 0;
  for (const byte of field.keyBytes.subarray(1)) hash = (Math.imul(hash, 31) + byte) | 0;
  let slot = hash & (TABLE_SIZE - 1);
  while (table[slot] !== undefined) slot = (slot + 1) & (TABLE_SIZE - 1);
  table[slot] = field;
}
for (const field of globalFields) insert(field);
insert(actionContent);
assert(globalFields.length * 4 < TABLE_SIZE, 'the key table stays sparse, so that a miss ends soon');

/** The field with the short key `bytes[start, start + length)`, or undefined. `cnt` is an action's content. */
export function fieldByKeyBytes(bytes: Uint8Array, start: number, length: number): Field | undefined {
  let hash = 0;
  for (let i = start; i < start + length; i++) hash = (Math.imul(hash, 31) + bytes[i]!) | 0;
  let slot = hash & (TABLE_SIZE - 1);
  for (let field = table[slot]; field !== undefined; slot = (slot + 1) & (TABLE_SIZE - 1), field = table[slot]) {
    const key = field.keyBytes;
    if (key.length !== length + 1) continue;
    let i = 0;
    while (i < length && key[i + 1] === bytes[start + i]) i++;
    if (i === length) return field;
  }
  return undefined;
}

export const ACTION_CONTENT_FIELD = actionContent;
export const CONTENT_FIELD = byName.get('content')!;

assert(
  globalFields.every((field) => field.name === field.short || !byName.has(field.short)),
  'no short key is the full name of another field',
);
assert(new Set(globalFields.map((field) => field.short)).size === globalFields.length, 'short keys are unique');
assert(
  specs.every((spec, i) => spec.byte === i + 1),
  'type rows stand in the order of their bytes',
);
assert(
  globalFields.every(({ kind }) => kind.code !== KIND.bytes),
  'no field is binary as a whole',
);
