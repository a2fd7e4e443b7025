// JSON objects that stay text until code reads a member. A grain can hold ten thousand fields, and most answers only pass
// them on, so the worker makes the text once and the answer copies it. The first read of a member parses the text, once.
import { randomBytes } from 'node:crypto';
import type { JsonObject, JsonValue } from './json-value.ts';

type Parse = (text: string) => JsonObject;

const texts = new WeakMap<object, string | Uint8Array>();

/** Values of some members that are known without parsing; undefined for members known to be absent. */
export type KnownMembers = ReadonlyMap<string, JsonValue | undefined>;

/** A read-only object with `text` as its JSON; copy it to change it. */
export function objectOfText(text: string | Uint8Array, parse: Parse, known: KnownMembers = NOTHING_KNOWN): JsonObject {
  let parsed: JsonObject | undefined;
  const looked = (): JsonObject => {
    parsed ??= parse(asString(text));
    return parsed;
  };
  /** An object in which this member equals that of the parsed object. */
  const holder = (name: string | symbol): JsonObject => {
    if (parsed !== undefined || typeof name === 'symbol' || !known.has(name)) return looked();
    const value = known.get(name);
    return value === undefined ? {} : { [name]: value };
  };
  const object = new Proxy<JsonObject>(
    {},
    {
      get: (_, name) => (name === 'toJSON' && taking !== undefined ? placeText : Reflect.get(holder(name), name)),
      has: (_, name) => Reflect.has(holder(name), name),
      getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(holder(name), name),
      ownKeys: () => Reflect.ownKeys(looked()),
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
    },
  );
  texts.set(object, text);
  return object;
}

const NOTHING_KNOWN: KnownMembers = new Map();

/** The text of an object that `objectOfText` made; undefined for every other value. */
export function textOfObject(value: unknown): string | Uint8Array | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined;
}

export function textBytes(text: string | Uint8Array): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.length;
}

/** Placeholder for such an object while the rest is written; random, so that no grain can contain it. */
const PLACE = randomBytes(24).toString('base64url');
const WRITTEN_PLACE = `"${PLACE}"`;

/** Set while `write` of `writtenAround` runs. */
let taking: (string | Uint8Array)[] | undefined;

function placeText(this: object): string {
  const text = texts.get(this);
  if (text === undefined || taking === undefined) return '';
  taking.push(text);
  return PLACE;
}

/** The JSON that `write` returns, in pieces, with the texts of such objects in place of the placeholders. */
export function writtenAround(write: () => string): readonly (string | Uint8Array)[] {
  const taken: (string | Uint8Array)[] = [];
  taking = taken;
  let around: string;
  try {
    around = write();
  } finally {
    taking = undefined;
  }
  if (taken.length === 0) return [around];
  return around.split(WRITTEN_PLACE).flatMap((piece, at) => (at === 0 ? [piece] : [taken[at - 1]!, piece]));
}

export function asString(text: string | Uint8Array): string {
  return typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
}

/** Maximum size of a member that `textWithoutLast` can cut off. */
const LAST_MEMBER_BYTES_MAX = 256;

/** The text of an object without its last member if that is `name` with a short plain string; otherwise undefined. */
export function textWithoutLast(text: string | Uint8Array, name: string): Uint8Array | undefined {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const end = asString(bytes.subarray(-LAST_MEMBER_BYTES_MAX));
  // Inside a string a backslash precedes every quote, so this match cannot lie in a string.
  const last = end.lastIndexOf(`,"${name}":"`);
  if (last < 0 || !PLAIN_END.test(end.slice(last + name.length + 4))) return undefined;
  return Buffer.concat([bytes.subarray(0, bytes.length - Buffer.byteLength(end.slice(last))), CLOSING]);
}

const PLAIN_END = /^"[A-Za-z0-9]*"\}$/;
const CLOSING = Buffer.from('}');
