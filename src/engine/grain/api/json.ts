// Reads and writes JSON of the API: the values of `JSON.parse`, and `bigint` for integers that a double would round.

import { markLargeIntegers, unmarked } from './json-integers.ts';
import {
  asString,
  type KnownMembers,
  objectOfText,
  textBytes,
  textOfObject,
  textWithoutLast,
  writtenAround,
} from './json-text.ts';
import type { JsonObject, JsonValue } from './json-value.ts';

/** `JSON.rawJSON` is in Node 24, not yet in TypeScript's library. */
interface JsonWithRaw {
  rawJSON(text: string): unknown;
}
const json = JSON as unknown as JsonWithRaw; // the library's type lacks the member

const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;

/** Sets an own property even when the key is `__proto__`. */
export function setJson(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** The text of a value, with all digits of a `bigint`. As fast as `JSON.stringify` when there is none. */
export function stringifyJson(value: unknown): string {
  const pieces = piecesOf(value);
  return pieces.length === 1 ? asString(pieces[0]!) : pieces.map(asString).join('');
}

/** `stringifyJson` with a limit: undefined, without joining the pieces, if the text exceeds `bytesMax` bytes. */
export function stringifyWithin(value: unknown, bytesMax: number): string | undefined {
  const pieces = piecesOf(value);
  let bytes = 0;
  for (const piece of pieces) bytes += textBytes(piece);
  return bytes > bytesMax ? undefined : pieces.map(asString).join('');
}

/** `stringifyJson` as bytes, for long values whose text usually exists already. */
export function jsonBuffer(value: unknown): Buffer {
  const pieces = piecesOf(value).map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  const [first] = pieces;
  return pieces.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(pieces);
}

/** The value for code that calls `JSON.stringify` itself: it then writes all digits of each `bigint`. */
export function withRawIntegers(value: unknown): unknown {
  if (typeof value === 'bigint') return json.rawJSON(value.toString());
  if (Array.isArray(value)) return value.map(withRawIntegers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withRawIntegers(one)]));
}

/** An object with `text` as its JSON: parsed on first read, written unchanged (json-text.ts). */
export function objectOfJson(text: string | Uint8Array, known?: KnownMembers): JsonObject {
  return objectOfText(text, (whole) => parseJson(whole) as JsonObject, known); // the text came from an object
}

/** A copy without the member `name`, a string. An object kept as text stays text if that member is its last. */
export function withoutMember(object: JsonObject, name: string): JsonObject {
  const text = textOfObject(object);
  const cut = text === undefined ? undefined : textWithoutLast(text, name);
  if (cut !== undefined) return objectOfJson(cut);
  const { [name]: _, ...others } = object;
  return others;
}

function piecesOf(value: unknown): readonly (string | Uint8Array)[] {
  const text = textOfObject(value);
  if (text !== undefined) return [text];
  try {
    return writtenAround(() => JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return writtenAround(() =>
      JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? json.rawJSON(item.toString()) : item)),
    );
  }
}

/**
 * `JSON.parse` that returns a `bigint` for each integer that a double would change. Integers beyond 64 bits are
 * returned too; a grain refuses them (`isInt64`). Throws SyntaxError as `JSON.parse` does.
 */
export function parseJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue; // JSON by construction
  const marked = markLargeIntegers(text);
  return marked === undefined ? value : withIntegers(JSON.parse(marked) as JsonValue); // the same, with marks in it
}

/** True for an integer that a grain can hold: 64 bits, signed or unsigned. */
export function isInt64(integer: bigint): boolean {
  return integer >= INT64_MIN && integer <= UINT64_MAX;
}

/** Replaces marks by integers, in place. Iterative, so that deep nesting cannot overflow the stack. */
function withIntegers(root: JsonValue): JsonValue {
  if (typeof root === 'string') return unmarked(root) ?? root;
  const open: (JsonValue[] | JsonObject)[] = [];
  const visit = (value: JsonValue | undefined): bigint | undefined => {
    if (typeof value === 'string') return unmarked(value);
    if (typeof value === 'object' && value !== null) open.push(value);
    return undefined;
  };
  visit(root);
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) {
      for (let i = 0; i < container.length; i++) {
        const integer = visit(container[i]);
        if (integer !== undefined) container[i] = integer;
      }
    } else {
      for (const key of Object.keys(container)) {
        const integer = visit(container[key]);
        if (integer !== undefined) setJson(container, key, integer);
      }
    }
  }
  return root;
}
