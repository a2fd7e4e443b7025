// Short builders of JSON Schema for bodies that a face writes itself, with outside names.
import { defined } from '../../engine/base/defined.ts';
import { GRAIN_TYPE_NAMES } from '../../engine/grain/grain.ts';
import type { Members } from './names.ts';

export const TEXT: Members = { type: 'string' };
export const TEXTS: Members = { type: 'array', items: TEXT };
export const FLAG: Members = { type: 'boolean' };
export const COUNT: Members = { type: 'integer', minimum: 0 };
/** Unix seconds; may be negative. */
export const TIME: Members = { type: 'integer' };
export const HASH: Members = { type: 'string', pattern: '^[0-9a-f]{64}$' };
export const GRAIN_TYPE: Members = { enum: [...GRAIN_TYPE_NAMES] };
/** An object whose members are a grain's own. */
export const FIELDS: Members = { type: 'object', additionalProperties: true };
export const COUNTS: Members = { type: 'object', additionalProperties: COUNT };

export function objectOf(required: Members, optional: Members = {}): Members {
  return { type: 'object', required: Object.keys(required), properties: { ...required, ...optional } };
}

export function listOf(items: Members): Members {
  return { type: 'array', items };
}

export function oneOf(...values: readonly (string | boolean)[]): Members {
  return values.length === 1 ? { const: values[0] } : { enum: [...values] };
}

export function orNull(schema: Members): Members {
  return { anyOf: [schema, { type: 'null' }] };
}

export function either(...schemas: readonly Members[]): Members {
  return { anyOf: [...schemas] };
}

/** The object schema with its member `from` renamed to `to`. */
export function renamed(schema: Members, from: string, to: string): Members {
  const rename = (name: string): string => (name === from ? to : name);
  const { properties, required } = schema as {
    readonly properties: Members;
    readonly required?: readonly string[] | undefined;
  };
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [rename(name), one])),
    ...defined({ required: required?.map(rename) }),
  };
}

/** The object schema with these members added or replaced. */
export function withMembers(schema: Members, required: Members, optional: Members = {}): Members {
  const { properties, required: known = [] } = schema as {
    readonly properties: Members;
    readonly required?: readonly string[] | undefined;
  };
  return {
    ...schema,
    properties: { ...properties, ...required, ...optional },
    required: [...new Set([...known, ...Object.keys(required)])],
  };
}
