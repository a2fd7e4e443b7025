// The definition of a tool, and how it is stored in an action of kind `definition`.

import { hash } from 'node:crypto';
import { isJsonObject } from '../../engine/grain/api/json-value.ts';
import type { GrainView, JsonObject, JsonValue } from '../../shards/protocol.ts';

export type ExecutorKind = 'host' | 'client';

export interface ToolDefinition {
  /** Address of the grain. */
  readonly hash: string;
  readonly toolName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  /** `client://…`, `builtin://…`, `http(s)://…` or `executor://…`. */
  readonly executorUri: string;
  readonly executorKind: ExecutorKind;
  /** Arguments that replace those of the model. */
  readonly lockedParams: JsonObject;
  readonly strict: boolean;
  readonly examples: readonly JsonValue[];
  readonly annotations: Annotations;
  readonly asyncMode: boolean;
  /** SHA-256 of the canonical definition, 64 hexadecimal digits. */
  readonly specHash: string;
  /** In Unix seconds. */
  readonly createdAt: number;
}

export interface Annotations {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
}

/** A definition before it has a grain. */
export type ToolSpec = Omit<ToolDefinition, 'hash' | 'specHash' | 'createdAt'>;

/** The fields of the grain. Members that say nothing are left out. */
export function toolFields(tool: ToolSpec): JsonObject {
  const fields = definedFields(tool);
  return { ...fields, spec_hash: specHashOf(tool) };
}

function definedFields(tool: ToolSpec): JsonObject {
  const fields: JsonObject = {
    kind: 'definition',
    tool_name: tool.toolName,
    tool_description: tool.description,
    input_schema: tool.inputSchema,
    executor_uri: tool.executorUri,
    executor_kind: tool.executorKind,
    strict: tool.strict,
    async_mode: tool.asyncMode,
  };
  const { readOnly, destructive, idempotent } = tool.annotations;
  if (tool.outputSchema !== undefined) fields['output_schema'] = tool.outputSchema;
  if (Object.keys(tool.lockedParams).length > 0) fields['locked_params'] = tool.lockedParams;
  if (tool.examples.length > 0) fields['examples'] = [...tool.examples];
  if (readOnly || destructive || idempotent) fields['annotations'] = { read_only: readOnly, destructive, idempotent };
  return fields;
}

/** SHA-256 of the definition as JSON with sorted names. */
export function specHashOf(tool: ToolSpec): string {
  return hash('sha256', canonicalText(definedFields(tool)), 'hex');
}

/** The tool that a grain defines; undefined for any other grain, and for one that no model could call. */
export function toolOf({ hash: address, grainType, fields, createdAt }: GrainView): ToolDefinition | undefined {
  if (grainType !== 'action' || (fields['kind'] !== 'definition' && fields['action_phase'] !== 'definition'))
    return undefined;
  const toolName = fields['tool_name'];
  const inputSchema = fields['input_schema'];
  const executorUri = fields['executor_uri'];
  if (typeof toolName !== 'string' || !isJsonObject(inputSchema) || typeof executorUri !== 'string') return undefined;
  const { tool_description: description, output_schema: outputSchema, locked_params: locked, examples } = fields;
  const annotations = isJsonObject(fields['annotations']) ? fields['annotations'] : {};
  const spec: ToolSpec = {
    toolName,
    description: typeof description === 'string' ? description : '',
    inputSchema,
    outputSchema: isJsonObject(outputSchema) ? outputSchema : undefined,
    executorUri,
    executorKind: executorUri.startsWith('client://') ? 'client' : 'host',
    lockedParams: isJsonObject(locked) ? locked : {},
    strict: fields['strict'] === true,
    examples: Array.isArray(examples) ? examples : [],
    annotations: {
      readOnly: annotations['read_only'] === true,
      destructive: annotations['destructive'] === true,
      idempotent: annotations['idempotent'] === true,
    },
    asyncMode: fields['async_mode'] === true,
  };
  // The grain's own spec_hash is what its writer said; this is what it holds.
  return { ...spec, hash: address, specHash: specHashOf(spec), createdAt };
}

/** JSON with sorted names, so that equal values have equal texts. */
export function canonicalText(value: JsonValue): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null)}`).join(',')}}`;
}
