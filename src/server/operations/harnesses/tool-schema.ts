// A tool in requests and answers.
import type { JsonObject } from '../../../shards/protocol.ts';
import type { ToolDefinition } from '../../harness/tool.ts';
import { Fields } from '../grains/fields.ts';
import { plainText } from '../text.ts';
import { described, type Static, Type } from '../type.ts';

const DESCRIPTION_CHARS_MAX = 8_192;
const EXAMPLES_MAX = 32;

const Annotations = {
  readOnly: Type.Optional(Type.Boolean({ description: 'Whether the tool changes nothing; the default is false.' })),
  destructive: Type.Optional(
    Type.Boolean({
      description: 'Whether the tool removes something; the default is false, and a read_only tool does not.',
    }),
  ),
  idempotent: Type.Optional(
    Type.Boolean({
      description: 'Whether a call may be repeated after a restart: the second has no effect; the default is false.',
    }),
  ),
};

/** Members of a bind-tool body. */
export const TOOL_BODY = {
  toolName: Type.String({
    description: 'Name of the tool: 1 to 64 letters, digits, _, . and -; models know a dot as two underscores.',
  }),
  description: described(
    plainText({ minLength: 1, maxLength: DESCRIPTION_CHARS_MAX }),
    'Description for the model: the tool, and when to call it; at most 8,192 characters.',
  ),
  inputSchema: described(Fields, 'JSON Schema of the arguments: an object at the root, and a part of the keywords.'),
  outputSchema: Type.Optional(described(Fields, 'JSON Schema of the result, of the same kind; no default.')),
  location: Type.Optional(
    Type.String({
      description:
        'Where the tool runs: client://NAME, builtin:// with recall, add, supersede, forget or goals, an http(s) URL, or executor://NAME; required.',
    }),
  ),
  executorUri: Type.Optional(Type.String({ description: 'Another name for location.' })),
  lockedParams: Type.Optional(
    described(Fields, 'Arguments that take the place of those of the model, which is not told of them; no default.'),
  ),
  strict: Type.Optional(
    Type.Boolean({ description: 'Whether members that the schema does not name are refused; the default is false.' }),
  ),
  examples: Type.Optional(
    Type.Array(Fields, {
      maxItems: EXAMPLES_MAX,
      description: 'Arguments of sample calls, which must fit the input_schema; the default is none.',
    }),
  ),
  annotations: Type.Optional(
    Type.Object(Annotations, { description: 'The effects of a call; the default is none of them.' }),
  ),
  asyncMode: Type.Optional(
    Type.Boolean({ description: 'Whether the tool answers later than its call; the default is false.' }),
  ),
};

/** Members of a schema or of arguments in an answer. */
const Open = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true });

export const ToolOutput = Type.Object({
  toolHash: Type.String({ description: 'Hash of the grain that defines the tool.' }),
  toolName: Type.String({ description: 'Name of the tool.' }),
  description: Type.String({ description: 'Description of the tool for the model.' }),
  inputSchema: described(Open, 'JSON Schema of the arguments.'),
  outputSchema: Type.Optional(described(Open, 'JSON Schema of the result.')),
  executorUri: Type.Optional(Type.String({ description: 'Where the tool runs; shown to callers that may write.' })),
  executorKind: Type.Enum(['host', 'client'], {
    description:
      'The side that runs it: the server or a host of its choice (host), or the caller of the turn (client).',
  }),
  lockedParams: Type.Optional(
    described(Open, 'Arguments that replace those of the model; shown to callers that may write.'),
  ),
  strict: Type.Boolean({ description: 'Whether members that the schema does not name are refused.' }),
  examples: Type.Array(Open, { description: 'Arguments of sample calls.' }),
  annotations: Type.Object(
    {
      readOnly: Type.Boolean({ description: 'Whether the tool changes nothing.' }),
      destructive: Type.Boolean({ description: 'Whether the tool removes something.' }),
      idempotent: Type.Boolean({ description: 'Whether a call may be repeated after a restart.' }),
    },
    { description: 'The effects of a call.' },
  ),
  asyncMode: Type.Boolean({ description: 'Whether the tool answers later than its call.' }),
  specHash: Type.String({ description: 'SHA-256 of the definition as JSON with sorted names.' }),
  createdAt: Type.Integer({ description: 'Time of this version of the definition, in Unix seconds.' }),
});

export function toolView(tool: ToolDefinition, isWriter: boolean): Static<typeof ToolOutput> {
  const locked: JsonObject = tool.lockedParams;
  return {
    toolHash: tool.hash,
    toolName: tool.toolName,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    executorUri: isWriter ? tool.executorUri : undefined,
    executorKind: tool.executorKind,
    lockedParams: isWriter && Object.keys(locked).length > 0 ? locked : undefined,
    strict: tool.strict,
    examples: tool.examples.flatMap((one) =>
      typeof one === 'object' && one !== null && !Array.isArray(one) ? [one] : [],
    ),
    annotations: { ...tool.annotations },
    asyncMode: tool.asyncMode,
    specHash: tool.specHash,
    createdAt: tool.createdAt,
  };
}
