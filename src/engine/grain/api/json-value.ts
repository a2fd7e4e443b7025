// JSON values of the API: those of `JSON.parse`, and `bigint` for integers that a double would round.

export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** Own enumerable keys only; a key named `__proto__` is data like any other. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects of a list; none for any other value. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
