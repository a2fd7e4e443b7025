// Reads the body of a bind-tool request: everything about it is checked here but personal data, which the memory's shard
// looks for when the definition is written (MEM-E104).
import { EngineError } from '../../engine/base/errors.ts';
import { TOOL_BYTES_MAX } from '../../engine/base/limits.ts';
import { checkToolShape } from '../../engine/govern/policy/tool-schema.ts';
import type { JsonObject, JsonValue } from '../../shards/protocol.ts';
import { checkArguments, malformedAt, modelName } from './arguments/check.ts';
import { Pattern, PatternRefused } from './arguments/pattern.ts';
import { faultsOf } from './arguments/schema.ts';
import { executorKindOf } from './location.ts';
import { canonicalText, type ToolSpec, toolFields } from './tool.ts';

export interface ToolBody {
  readonly toolName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  readonly location?: string | undefined;
  /** The same as `location`. */
  readonly executorUri?: string | undefined;
  readonly lockedParams?: JsonObject | undefined;
  readonly strict?: boolean | undefined;
  readonly examples?: readonly JsonObject[] | undefined;
  readonly annotations?:
    | {
        readonly readOnly?: boolean | undefined;
        readonly destructive?: boolean | undefined;
        readonly idempotent?: boolean | undefined;
      }
    | undefined;
  readonly asyncMode?: boolean | undefined;
}

const TOOL_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Interfaces of models take no longer names. */
const MODEL_NAME_CHARS_MAX = 64;

/** MEM-E101 to MEM-E106 but MEM-E104, VAL-E001, VAL-E003, LIM-E003. */
export function toolSpecOf(body: ToolBody): ToolSpec {
  checkName(body.toolName);
  const location = body.location ?? body.executorUri;
  if (location === undefined)
    throw new EngineError('VAL-E003', 'missing field `location`', {
      details: [{ field: 'location', issue: 'required' }],
    });
  const { readOnly = false, destructive = false, idempotent = false } = body.annotations ?? {};
  const spec: ToolSpec = {
    toolName: body.toolName,
    description: body.description,
    inputSchema: body.inputSchema,
    outputSchema: body.outputSchema,
    executorUri: location,
    executorKind: executorKindOf(location),
    lockedParams: body.lockedParams ?? {},
    strict: body.strict ?? false,
    examples: body.examples ?? [],
    annotations: { readOnly, destructive, idempotent },
    asyncMode: body.asyncMode ?? false,
  };
  const fields = toolFields(spec);
  // Before it is written as text: nesting is bounded here.
  checkToolShape(fields);
  const bytes = Buffer.byteLength(canonicalText(fields));
  if (bytes > TOOL_BYTES_MAX)
    throw new EngineError('LIM-E003', `the tool has ${bytes} bytes; the limit is ${TOOL_BYTES_MAX}`);
  checkSchema('input_schema', spec.inputSchema);
  if (spec.outputSchema !== undefined) checkSchema('output_schema', spec.outputSchema);
  checkLocked(spec);
  checkExamples(spec);
  return spec;
}

function checkName(name: string): void {
  if (!TOOL_NAME.test(name)) throw bad('tool_name', 'must have 1 to 64 letters, digits, _, . and -');
  if (modelName(name).length > MODEL_NAME_CHARS_MAX)
    throw bad('tool_name', `has more than ${MODEL_NAME_CHARS_MAX} characters where each dot counts as two`);
}

/**
 * The checks that tool-schema.ts leaves open, because a stored schema is not compared with anything: the forms of
 * values, and patterns.
 */
function checkSchema(name: string, schema: JsonObject): void {
  const malformed = malformedAt(schema, name);
  if (malformed !== undefined) throw bad(name, `has a value of the wrong form for its keyword at ${malformed}`);
  checkPatterns(schema, name, name);
}

function checkPatterns(schema: JsonValue, path: string, field: string): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const where = `${path}.${keyword}`;
    if (keyword === 'pattern' && typeof value === 'string') checkPattern(value, where, field);
    if (keyword === 'properties' && typeof value === 'object' && value !== null)
      for (const [name, one] of Object.entries(value)) checkPatterns(one, `${where}.${name}`, field);
    if (keyword === 'items' || keyword === 'additionalProperties')
      for (const one of Array.isArray(value) ? value : [value]) checkPatterns(one, where, field);
  }
}

function checkPattern(source: string, where: string, field: string): void {
  try {
    new Pattern(source);
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    throw new EngineError('MEM-E106', `${where}: ${error.message}`, { details: [{ field, issue: `at ${where}` }] });
  }
}

/** A locked argument that the schema knows fits it. The model is told of none of them. */
function checkLocked({ inputSchema, lockedParams }: ToolSpec): void {
  const { properties } = inputSchema;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return;
  for (const [name, value] of Object.entries(lockedParams)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const [fault] = own === undefined ? [] : faultsOf(value, own, { strict: false });
    if (fault !== undefined) throw bad('locked_params', `${name} ${fault.issue}`);
  }
}

function checkExamples(spec: ToolSpec): void {
  for (const [at, example] of spec.examples.entries()) {
    const checked = checkArguments(spec, example);
    if (checked.ok) continue;
    const { path = '', issue = '' } = checked.faults[0] ?? {};
    throw bad('examples', `example ${at} does not fit the input_schema: ${path === '' ? 'it' : path} ${issue}`);
  }
}

function bad(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\`: ${issue}`, { details: [{ field, issue }] });
}
