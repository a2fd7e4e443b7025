// JSON values of the API: those of `JSON.parse`, and `bigint` for integers that a double would round.

export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** Own enumerable keys only; a key named `__proto__` is data like any other. */
export interface JsonObject {
  [key: string]: JsonValue;
}
