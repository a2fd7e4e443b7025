// A template: a definition to start from.
import type { JsonObject } from '../../../shards/protocol.ts';
import { builtinTool } from '../../tools/builtin.ts';
import type { Annotations, ToolSpec } from '../tool.ts';

export interface HarnessTemplate {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /** Undefined: whoever provisions the harness states it. */
  readonly goal?: string | undefined;
  readonly systemPrompt: string;
  /** Name of an assemble query. */
  readonly assembleQuery: string;
  /** Suggestions: those of the server are bound when the harness is provisioned, the others by whoever runs them. */
  readonly tools: readonly ToolSpec[];
}

const NO_OPTIONS = { lockedParams: {}, strict: false, examples: [], asyncMode: false } as const;

/** A tool of the server itself. */
export function serverTool(name: 'recall' | 'add' | 'supersede' | 'forget' | 'goals', description?: string): ToolSpec {
  const tool = builtinTool(name);
  if (tool === undefined) throw new Error(`the server has no tool ${name}`);
  const { read_only: readOnly, destructive, idempotent } = tool.annotations;
  return {
    ...NO_OPTIONS,
    toolName: name,
    description: description ?? tool.description,
    inputSchema: tool.inputSchema,
    executorUri: `builtin://${name}`,
    executorKind: 'host',
    annotations: { readOnly, destructive, idempotent },
  };
}

/** A tool that the caller of a turn runs. */
export function callerTool(tool: {
  readonly toolName: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly examples: readonly JsonObject[];
  readonly annotations?: Partial<Annotations>;
}): ToolSpec {
  const { toolName, description, properties, required, examples, annotations = {} } = tool;
  return {
    ...NO_OPTIONS,
    toolName,
    description,
    inputSchema: { type: 'object', properties, required: [...required], additionalProperties: false },
    executorUri: `client://${toolName}`,
    executorKind: 'client',
    examples,
    annotations: { readOnly: false, destructive: false, idempotent: false, ...annotations },
  };
}
