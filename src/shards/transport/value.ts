// Serialises values for messages between threads.
//
// MessagePack (msgpackr) carries nearly everything. Three values would not survive it: negative zero (msgpackr writes
// 0), a key named `__proto__` (its reader renames it), and a string with a lone surrogate (not UTF-8). A caller's JSON
// can contain all three, and validation must see them unchanged. Values with one of them use V8's structured clone
// format, which is exact but two to five times slower. The search for them costs a fifth of the packing. Records are
// off: each message would have to define them again, and their tables confuse a caller's key `__keys__` with their own
// bookkeeping.
//
// Heavy `fields` of grains leave a worker as JSON text. The main thread forwards most of them unread, and an answer may
// hold a million members: unpacking and rewriting each of them would block all other requests. So their sentence is made here
// too.
import { deserialize, serialize } from 'node:v8';
import { addExtension, Packr } from 'msgpackr';
import { onDemand } from '../../engine/base/on-demand.ts';
import type * as Sentences from '../../engine/cal/output/sentence.ts';
import { objectOfJson, parseJson, stringifyJson } from '../../engine/grain/api/json.ts';
import { type KnownMembers, textOfObject } from '../../engine/grain/api/json-text.ts';
import type { JsonObject, JsonValue } from '../../engine/grain/api/json-value.ts';
import { ALL_CONTRACT_NAMES } from '../../engine/grain/api/names.ts';

/** The serialisation of a value, as numbered in messages. */
export const FORM_MESSAGEPACK = 0;
export const FORM_EXACT = 1;
export type ValueForm = typeof FORM_MESSAGEPACK | typeof FORM_EXACT;

export interface PackedValue {
  readonly form: ValueForm;
  /** Valid only until the next `packValue`: copy it. */
  readonly bytes: Uint8Array;
}

const packr = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false, useBigIntExtension: true });

/** MessagePack extension type for a JSON object sent as text, together with its most-read members. */
const TEXT_EXTENSION = 0x4a;
/** Below this length, parsing the text is cheaper than sending members beside it. */
const PEEKED_CHARS_MIN = 16_384;
/** Longer strings and lists are not sent beside the text. */
const PEEKED_VALUE_MAX = 256;

type Peeked = Record<string, JsonValue>;

class JsonText {
  readonly text: string;
  readonly peeked: Peeked;
  /** Names of contract fields that exist but are too long to send beside the text. */
  readonly long: readonly string[];

  constructor(fields: JsonObject) {
    this.text = stringifyJson(fields);
    this.peeked = {};
    const long: string[] = [];
    if (this.text.length >= PEEKED_CHARS_MIN)
      for (const name of ALL_CONTRACT_NAMES) {
        const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (value === undefined) continue;
        if (isShort(value)) this.peeked[name] = value;
        else long.push(name);
      }
    this.long = long;
  }
}

function isShort(value: JsonValue): boolean {
  if (typeof value === 'string') return value.length <= PEEKED_VALUE_MAX;
  if (Array.isArray(value))
    return value.length <= PEEKED_VALUE_MAX && value.every((item) => typeof item === 'string' && isShort(item));
  return typeof value !== 'object' || value === null;
}

/** Layout: u32 length of the peeked members (little-endian), the peeked members, the text. */
addExtension({
  Class: JsonText,
  type: TEXT_EXTENSION,
  pack: ({ text, peeked, long }: JsonText) => {
    const isPeeked = text.length >= PEEKED_CHARS_MIN;
    const peek = isPeeked ? Buffer.from(stringifyJson([peeked, long])) : NO_BYTES;
    const head = Buffer.allocUnsafe(4);
    head.writeUInt32LE(peek.length);
    return Buffer.concat([head, peek, Buffer.from(text)]);
  },
  unpack: (bytes) => {
    const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const text = bytes.subarray(end);
    return end === 4 ? objectOfJson(text) : objectOfJson(text, peekOf(bytes.subarray(4, end)));
  },
});

const NO_BYTES = Buffer.alloc(0);

const sentences = onDemand<typeof Sentences>(import.meta.url, '../../engine/cal/output/sentence');

function peekOf(bytes: Uint8Array): KnownMembers {
  const [peeked, long] = parseJson(Buffer.from(bytes).toString()) as [JsonObject, readonly string[]]; // as the packer wrote it
  const peek = new Map<string, JsonValue | undefined>();
  for (const name of ALL_CONTRACT_NAMES)
    if (!long.includes(name)) peek.set(name, Object.hasOwn(peeked, name) ? peeked[name] : undefined);
  return peek;
}

/** Packs a worker's answer. Heavy `fields` are written as JSON text and read back as a text-backed object. */
export function packReply(output: unknown): PackedValue {
  const value = withFieldsAsText(output);
  return value === output || needsExact(value) ? packValue(output) : packMessage(value);
}

/** Outputs hold grains in lists, or in members of list items: never deeper. */
const GRAIN_DEPTH_MAX = 5;

/** Replaces heavy `fields` with text. Returns the value itself if it contains none. */
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
    if (key === 'fields' && isObject(member) && isHeavy(member)) {
      members ??= { ...value };
      members[key] = new JsonText(member);
      const { grainType } = value as { readonly grainType?: unknown };
      if (typeof grainType === 'string') members['text'] = sentences().sentenceOf({ grainType, fields: member });
      continue;
    }
    const changed = withFieldsAsText(member, depth + 1);
    if (changed === member) continue;
    members ??= { ...value };
    members[key] = changed;
  }
  return members ?? value;
}

/** From this weight on, forwarding the text is cheaper than unpacking and rewriting the fields. */
const HEAVY = 48;
/** Characters of text that weigh as much as one member. */
const CHARS_OF_A_MEMBER = 64;

function isHeavy(fields: JsonObject): boolean {
  return lighter(fields, HEAVY) < 0;
}

/** `weight` minus the weight of `value`. Stops early below zero. */
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

/** Packs plain data: JSON types, bigint, undefined and Uint8Array. */
export function packValue(value: unknown): PackedValue {
  return needsExact(value) ? { form: FORM_EXACT, bytes: serialize(withoutTexts(value)) } : packMessage(value);
}

function packMessage(value: unknown): PackedValue {
  return { form: FORM_MESSAGEPACK, bytes: packr.pack(value) };
}

/** Inverse of `packValue`. Byte arrays in the value may be views of `bytes`. */
export function unpackValue(form: ValueForm, bytes: Uint8Array): unknown {
  return form === FORM_EXACT ? deserialize(bytes) : packr.unpack(bytes);
}

/** A copy with text-backed objects parsed, because structured clone refuses them. */
function withoutTexts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (textOfObject(value) !== undefined) return { ...value };
  if (Array.isArray(value)) return value.map(withoutTexts);
  // fromEntries defines own properties, even for `__proto__`.
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
