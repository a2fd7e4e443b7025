// JSON as the client sends and reads it.

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** JSON to send: times may be dates, and undefined members are left out. */
export type Sendable = string | number | boolean | null | undefined | Date | readonly Sendable[] | SendableObject;
export interface SendableObject {
  readonly [name: string]: Sendable;
}

/** The members of a JSON text that should be an object; empty if it is none. */
export function parsedObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : {}; // parsed from JSON
  } catch {
    return {};
  }
}
