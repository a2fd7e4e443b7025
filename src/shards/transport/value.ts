// A value, give me its bytes, and back, for messages between threads.
//
// MessagePack (msgpackr) carries nearly everything. What it would change on the way travels in V8's own structured
// clone format instead, which is exact and two to five times dearer: negative zero (MessagePack by msgpackr writes 0),
// a key named `__proto__` (its reader renames it), a string with a lone surrogate (not UTF-8). All three can come out
// of a caller's JSON, and must reach validation as they are. Looking for them costs a fifth of the packing.
// Records are off: between threads they would have to be defined anew in each message, and their tables take a
// caller's key for their own bookkeeping (`__keys__`).
//
// Heavy fields of grains leave a worker as JSON text. The main thread passes most of them on, and an answer may hold a million
// members: it would unpack and write each of them while everybody else waits.
import { deserialize, serialize } from 'node:v8';
import { addExtension, Packr } from 'msgpackr';
import { objectOfJson, parseJson, stringifyJson } from '../../engine/grain/api/json.ts';
import { type Glance, textOfObject } from '../../engine/grain/api/json-text.ts';
import type { JsonObject, JsonValue } from '../../engine/grain/api/json-value.ts';
import { ALL_CONTRACT_NAMES } from '../../engine/grain/api/names.ts';

/** How bytes are to be read; the number is what stands in a message. */
export const FORM_MESSAGEPACK = 0;
export const FORM_EXACT = 1;
export type ValueForm = typeof FORM_MESSAGEPACK | typeof FORM_EXACT;

export interface PackedValue {
  readonly form: ValueForm;
  /** Valid until the next `packValue`: copy it. */
  readonly bytes: Uint8Array;
}

const packr = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false, useBigIntExtension: true });

/** The type of MessagePack's extensions under which a JSON object travels as its text, and with it what is looked at most. */
const TEXT_EXTENSION = 0x4a;
/** Parsing a shorter text costs less than a glance at it. */
const GLANCED_CHARS_MIN = 16_384;
/** Longer texts and lists are not told beside the text. */
const GLANCED_VALUE_MAX = 256;

type Glanced = Record<string, JsonValue>;

class JsonText {
  readonly text: string;
  readonly glanced: Glanced;
  /** Of the contract's names: there, and too long to be told. */
  readonly long: readonly string[];

  constructor(fields: JsonObject) {
    this.text = stringifyJson(fields);
    this.glanced = {};
    const long: string[] = [];
    if (this.text.length >= GLANCED_CHARS_MIN)
      for (const name of ALL_CONTRACT_NAMES) {
        const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (value === undefined) continue;
        if (isShort(value)) this.glanced[name] = value;
        else long.push(name);
      }
    this.long = long;
  }
}

function isShort(value: JsonValue): boolean {
  if (typeof value === 'string') return value.length <= GLANCED_VALUE_MAX;
  if (Array.isArray(value))
    return value.length <= GLANCED_VALUE_MAX && value.every((item) => typeof item === 'string' && isShort(item));
  return typeof value !== 'object' || value === null;
}

/** u32 bytes of the glance, little-endian, the glance, the text. */
addExtension({
  Class: JsonText,
  type: TEXT_EXTENSION,
  pack: ({ text, glanced, long }) => {
    const isGlanced = text.length >= GLANCED_CHARS_MIN;
    const glance = isGlanced ? Buffer.from(stringifyJson([glanced, long])) : NO_BYTES;
    const head = Buffer.allocUnsafe(4);
    head.writeUInt32LE(glance.length);
    return Buffer.concat([head, glance, Buffer.from(text)]);
  },
  unpack: (bytes) => {
    const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const text = bytes.subarray(end);
    return end === 4 ? objectOfJson(text) : objectOfJson(text, glanceOf(bytes.subarray(4, end)));
  },
});

const NO_BYTES = Buffer.alloc(0);

function glanceOf(bytes: Uint8Array): Glance {
  const [glanced, long] = parseJson(Buffer.from(bytes).toString()) as unknown as [JsonObject, readonly string[]]; // as packed
  const glance = new Map<string, JsonValue | undefined>();
  for (const name of ALL_CONTRACT_NAMES)
    if (!long.includes(name)) glance.set(name, Object.hasOwn(glanced, name) ? glanced[name] : undefined);
  return glance;
}

/** The same of what a worker answers. Heavy `fields` in it are written as JSON text, and read back as an object of it. */
export function packReply(output: unknown): PackedValue {
  const value = withFieldsAsText(output);
  return value === output || needsExact(value) ? packValue(output) : packMessage(value);
}

/** Outputs hold grains in lists, or in members of what is in lists: no deeper. */
const GRAIN_DEPTH_MAX = 5;

/** The value itself where no grain is in it. */
function withFieldsAsText(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > GRAIN_DEPTH_MAX || value instanceof Uint8Array)
    return value;
  if (Array.isArray(value)) {
    let items: unknown[] | undefined;
    for (const [at, item] of value.entries()) {
      const changed = withFieldsAsText(item, depth + 1);
      if (changed === item) continue;
      items ??= [...value];
      items[at] = changed;
    }
    return items ?? value;
  }
  let members: Record<string, unknown> | undefined;
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]; // plain data
    const changed =
      key === 'fields' && isObject(member) && isHeavy(member)
        ? new JsonText(member)
        : withFieldsAsText(member, depth + 1);
    if (changed === member) continue;
    members ??= { ...value };
    members[key] = changed;
  }
  return members ?? value;
}

/** What fields weigh from which on passing their text on costs less than unpacking and writing them. */
const HEAVY = 48;
/** So many characters of a text weigh as a member does. */
const CHARS_OF_A_MEMBER = 64;

function isHeavy(fields: JsonObject): boolean {
  return lighter(fields, HEAVY) < 0;
}

/** What is left of `weight` after `value`; below zero, not all of the value was looked at. */
function lighter(value: unknown, weight: number): number {
  let left = weight - 1;
  if (typeof value === 'string') return left - Math.floor(value.length / CHARS_OF_A_MEMBER);
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = lighter(value[i], left);
    return left;
  }
  for (const key in value) {
    if (left < 0) return left;
    left = lighter((value as Record<string, unknown>)[key], left); // plain data
  }
  return left;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** Bytes of plain data: JSON's types, bigint, undefined and Uint8Array. */
export function packValue(value: unknown): PackedValue {
  return needsExact(value) ? { form: FORM_EXACT, bytes: serialize(withoutTexts(value)) } : packMessage(value);
}

function packMessage(value: unknown): PackedValue {
  return { form: FORM_MESSAGEPACK, bytes: packr.pack(value) };
}

/** The value of `packValue`. Byte arrays in it may be views of `bytes`. */
export function unpackValue(form: ValueForm, bytes: Uint8Array): unknown {
  return form === FORM_EXACT ? deserialize(bytes) : packr.unpack(bytes);
}

/** A copy without objects that are kept as text, which structured clone refuses. */
function withoutTexts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (textOfObject(value) !== undefined) return { ...value };
  if (Array.isArray(value)) return value.map(withoutTexts);
  // Defines own properties only, whatever they are called.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutTexts(member)]));
}

function needsExact(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return !value.isWellFormed();
    case 'number':
      return Object.is(value, -0);
    case 'object':
      return value !== null && !(value instanceof Uint8Array) && !(value instanceof JsonText) && partNeedsExact(value);
    default:
      return false;
  }
}

function partNeedsExact(value: object): boolean {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (needsExact(value[i])) return true;
    return false;
  }
  for (const key in value) {
    // `value` is plain data, so its members may be read by name.
    if (key === '__proto__' || !key.isWellFormed() || needsExact((value as Record<string, unknown>)[key])) return true;
  }
  return false;
}
