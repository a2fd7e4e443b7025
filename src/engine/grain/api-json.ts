// JSON as the boundary speaks it: what `JSON.parse` gives, and `bigint` for the integers that it would round.

export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;
/** Own enumerable keys only; a key named `__proto__` is data like any other. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** `JSON.rawJSON` and the reviver's third argument are in Node 24, not yet in TypeScript's library. */
interface JsonWithSource {
  rawJSON(text: string): unknown;
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}
const json = JSON as unknown as JsonWithSource; // the library's type lacks both members

/** Sixteen digits in a row: only such a text can hold an integer past 2^53 - 1. */
const LONG_NUMBER = /\d{16}/;
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;
/** No longer than 64 bits may be: reading millions of digits takes seconds. */
const INTEGER = /^-?\d{16,20}$/;

/** Sets an own property even when the key is `__proto__`. */
export function setJson(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** The text of a value, with all digits of a `bigint`. As fast as `JSON.stringify` when there is none. */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, item: unknown) =>
      typeof item === 'bigint' ? json.rawJSON(item.toString()) : item,
    );
  }
}

/**
 * `JSON.parse`, with integers outside the safe range, but within 64 bits, as `bigint`; larger ones are floats, as no
 * grain holds them otherwise. Throws SyntaxError as `JSON.parse` does.
 */
export function parseJson(text: string): JsonValue {
  // Both results are JSON by construction.
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as JsonValue;
  return json.parse(text, (_key, value, context) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !INTEGER.test(context.source ?? '')) return value;
    const integer = BigInt(context.source ?? 0);
    return isInt64(integer) ? integer : value;
  }) as JsonValue;
}

/** True for what a grain holds as an integer: 64 bits, signed or not. */
export function isInt64(integer: bigint): boolean {
  return integer >= INT64_MIN && integer <= UINT64_MAX;
}
