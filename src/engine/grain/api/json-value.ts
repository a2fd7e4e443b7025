// JSON as the boundary has it: what `JSON.parse` gives, and `bigint` for the integers that it would round.

export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** Own enumerable keys only; a key named `__proto__` is data like any other. */
export interface JsonObject {
  [key: string]: JsonValue;
}
