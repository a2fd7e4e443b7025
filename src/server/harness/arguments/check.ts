// A tool as a model sees it, and the arguments that it sends back.

import { TOOL_SCHEMA_DEPTH_MAX } from '../../../engine/base/limits.ts';
import { isJsonObject } from '../../../engine/grain/api/json-value.ts';
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';
import type { ToolSpec } from '../tool.ts';
import { type Fault, faultsOf } from './schema.ts';

export type CheckedArguments =
  | { readonly ok: true /** With the locked ones. */; readonly arguments: JsonObject }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** The name of a tool for models, whose interfaces know no dots in names. */
export function modelName(toolName: string): string {
  return toolName.replaceAll('.', '__');
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** The tool as a model is told of it: a locked argument is not the model's to choose, so it is not in the schema. */
export function modelTool(
  tool: Pick<ToolSpec, 'toolName' | 'description' | 'inputSchema' | 'lockedParams'>,
): ModelTool {
  return {
    name: modelName(tool.toolName),
    description: tool.description,
    inputSchema: openSchema(tool),
  };
}

/**
 * The arguments of a call, if they fit the tool's schema: nothing is converted. Locked arguments take the place of what
 * the model sent under their names, fitting or not.
 */
export function checkArguments(
  tool: Pick<ToolSpec, 'inputSchema' | 'lockedParams' | 'strict'>,
  args: JsonValue,
): CheckedArguments {
  const { lockedParams, strict } = tool;
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return { ok: false, faults: [{ path: '', issue: 'must be an object' }] };
  const chosen = Object.fromEntries(Object.entries(args).filter(([name]) => !Object.hasOwn(lockedParams, name)));
  const faults = faultsOf(chosen, openSchema(tool), { strict });
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, arguments: { ...chosen, ...lockedParams } };
}

/** The schema of the arguments that are not locked. */
function openSchema({ inputSchema, lockedParams }: Pick<ToolSpec, 'inputSchema' | 'lockedParams'>): JsonObject {
  if (Object.keys(lockedParams).length === 0) return inputSchema;
  const { properties, required } = inputSchema;
  const isOpen = (name: string): boolean => !Object.hasOwn(lockedParams, name);
  const schema = { ...inputSchema };
  if (typeof properties === 'object' && properties !== null && !Array.isArray(properties))
    schema['properties'] = Object.fromEntries(Object.entries(properties).filter(([name]) => isOpen(name)));
  if (Array.isArray(required)) schema['required'] = required.filter((name) => typeof name !== 'string' || isOpen(name));
  return schema;
}

/** Where a schema says something that no value can be compared with, such as an unknown type; undefined: nowhere. */
export function malformedAt(schema: JsonValue, path: string, depth = 0): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isJsonObject(schema) || depth > TOOL_SCHEMA_DEPTH_MAX) return path;
  for (const [keyword, value] of Object.entries(schema)) {
    const where = `${path}.${keyword}`;
    if (FORMS[keyword]?.(value) === false) return where;
    const below = subschemasOf(keyword, value, where);
    for (const [place, one] of below) {
      const found = malformedAt(one, place, depth + 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function subschemasOf(keyword: string, value: JsonValue, where: string): readonly (readonly [string, JsonValue])[] {
  if (keyword === 'properties' && isJsonObject(value))
    return Object.entries(value).map(([name, one]) => [`${where}.${name}`, one] as const);
  if (keyword === 'items' && Array.isArray(value)) return value.map((one, at) => [`${where}[${at}]`, one] as const);
  return keyword === 'items' || keyword === 'additionalProperties' ? [[where, value]] : [];
}

const TYPES: ReadonlySet<JsonValue> = new Set(['null', 'boolean', 'string', 'number', 'integer', 'array', 'object']);
const isNumber = (value: JsonValue): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';
const isCount = (value: JsonValue): boolean =>
  (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))) && value >= 0;
const isText = (value: JsonValue): boolean => typeof value === 'string';

/** The form of a keyword's value. */
const FORMS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  type: (value) =>
    TYPES.has(value) || (Array.isArray(value) && value.length > 0 && value.every((one) => TYPES.has(one))),
  properties: isJsonObject,
  required: (value) => Array.isArray(value) && value.every(isText),
  enum: (value) => Array.isArray(value) && value.length > 0,
  examples: (value) => Array.isArray(value),
  title: isText,
  description: isText,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => isNumber(value) && value > 0,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minProperties: isCount,
  maxProperties: isCount,
};
