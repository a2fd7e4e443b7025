// Writes the tools of the Model Context Protocol, src/mcp/gen/tools.ts, from the operation table and src/mcp/plan.ts:
// `npm run client`. A test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../src/engine/base/defined.ts';
import { CAL_PLAN, DEFAULT_PLAN, FULL_OPERATIONS } from '../src/mcp/plan.ts';
import {
  type InputMember,
  type ObjectSchema,
  type Route,
  SCOPE_MEMBERS,
  type Tool,
  type ToolPlan,
} from '../src/mcp/tool.ts';
import type { Operation } from '../src/server/operations/define.ts';
import { outsideSchema } from '../src/server/operations/names.ts';
import { OPERATIONS } from '../src/server/operations/table.ts';
import { sentOperations } from './generate-client.ts';

export const GENERATED_TOOLS = join(import.meta.dirname, '..', 'src', 'mcp', 'gen', 'tools.ts');

interface Schema {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

/** Operations that no tool calls but resources do. */
const READ_BY_RESOURCES = ['get'];

function rowOf(rows: readonly Operation[], name: string): Operation {
  const row = rows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`the operation table has no row ${name}`);
  return row;
}

function schemaOf(schema: Operation['input']): Schema {
  return outsideSchema(schema) as Schema; // a schema of the table
}

/** The JSON answer of an operation, under the names of the wire. */
function answerOf(rows: readonly Operation[], name: string): Schema {
  const sent = sentOperations(rows).find(({ row }) => row.name === name);
  if (sent === undefined) throw new Error(`HTTP does not offer ${name}`);
  return sent.output as Schema; // JSON Schema
}

function toolOf(rows: readonly Operation[], plan: ToolPlan, profile: Tool['profile']): Tool {
  const row = rowOf(rows, plan.operation);
  const changes = row.mutates && plan.onlyReads !== true;
  return {
    name: plan.name,
    operation: plan.operation,
    profile,
    changes,
    description: plan.description,
    inputSchema: inputOf(schemaOf(row.input), plan),
    outputSchema: outputOf(answerOf(rows, plan.operation), plan),
    annotations: annotationsOf({ changes, destroys: plan.destroys === true, repeats: plan.repeats === true }),
  };
}

/** Only what differs from the protocol's defaults. */
function annotationsOf({ changes, destroys, repeats }: Record<'changes' | 'destroys' | 'repeats', boolean>) {
  if (!changes) return { readOnlyHint: true, openWorldHint: false };
  return {
    ...(destroys ? {} : { destructiveHint: false }),
    ...(repeats ? { idempotentHint: true } : {}),
    openWorldHint: false,
  };
}

function inputOf(input: Schema, plan: ToolPlan): ObjectSchema {
  const properties: Record<string, object> = {};
  const required: string[] = [];
  for (const [name, member] of Object.entries(plan.input)) {
    const {
      from = name,
      required: isRequired,
      ...more
    } = typeof member === 'string' ? { description: member } : (member as Exclude<InputMember, string>);
    const own = input.properties?.[from];
    if (own === undefined && !('type' in more)) throw new Error(`${plan.operation} has no member ${from}`);
    if (SCOPE_MEMBERS.has(name)) throw new Error(`${plan.name}: ${name} says whose data it is`);
    const { default: _, ...rest } = { ...own, ...more } as Record<string, unknown>;
    if (rest['description'] === '') delete rest['description'];
    properties[name] = rest;
    if (isRequired) required.push(name);
  }
  return { type: 'object', properties, ...defined({ required: required.length === 0 ? undefined : required }) };
}

function outputOf(output: Schema, plan: ToolPlan): ObjectSchema {
  const picked = picks(
    output,
    plan.output.map((path) => path.split('.')),
    plan.operation,
  );
  const made = plan.made ?? {};
  const required = [...(plan.always ?? []), ...(picked.required ?? [])];
  return {
    type: 'object',
    properties: { ...made, ...picked.properties },
    ...defined({ required: required.length === 0 ? undefined : required }),
  };
}

/** The members at these paths, without descriptions: a model reads the values, not the schema of an answer. */
function picks(schema: Schema, paths: readonly (readonly string[])[], operation: string): ObjectSchema {
  const branch = schema.anyOf?.[0] ?? schema;
  const properties: Record<string, object> = {};
  const required: string[] = [];
  const heads = [...new Set(paths.map(([head = '']) => head))];
  for (const head of heads) {
    const name = head.replace(/\[\]$/, '');
    const own = branch.properties?.[name];
    if (own === undefined) throw new Error(`the answer of ${operation} has no member ${name}`);
    const below = paths.filter(([first, ...rest]) => first === head && rest.length > 0).map(([, ...rest]) => rest);
    if (head.endsWith('[]')) properties[name] = { type: 'array', items: picks(own.items ?? {}, below, operation) };
    else properties[name] = plain(own);
    if (branch.required?.includes(name)) required.push(name);
  }
  return { type: 'object', properties, ...defined({ required: required.length === 0 ? undefined : required }) };
}

function plain({ type, anyOf, items, enum: values }: Schema): object {
  const types = anyOf?.map((one) => one.type);
  if (types !== undefined) return types.every((one) => typeof one === 'string') ? { type: types } : {};
  return defined({ type, enum: values, items: items === undefined ? undefined : plain(items) });
}

/** A row as a tool: all of its members but those of the scope. */
function wholeTool(rows: readonly Operation[], name: string): Tool {
  const row = rowOf(rows, name);
  const { properties = {}, required } = schemaOf(row.input);
  const own = Object.entries(properties).filter(([member]) => !SCOPE_MEMBERS.has(member));
  const output = answerOf(rows, name);
  if (output.properties === undefined) throw new Error(`the answer of ${name} is no object`);
  return {
    name,
    operation: name,
    profile: 'full',
    changes: row.mutates,
    description: `${row.summary} ${row.description}`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(own),
      ...defined({ required: required?.length ? [...required] : undefined }),
    },
    outputSchema: picks(
      { ...output },
      Object.keys(output.properties).map((member) => [member]),
      name,
    ),
    annotations: annotationsOf({ changes: row.mutates, destroys: false, repeats: false }),
  };
}

export function mcpTools(rows: readonly Operation[] = OPERATIONS): readonly Tool[] {
  return [
    ...DEFAULT_PLAN.map((plan) => toolOf(rows, plan, 'default')),
    toolOf(rows, CAL_PLAN, 'full'),
    ...FULL_OPERATIONS.map((name) => wholeTool(rows, name)),
  ];
}

function routes(rows: readonly Operation[], tools: readonly Tool[]): Readonly<Record<string, Route>> {
  const used = new Set([...tools.map(({ operation }) => operation), ...READ_BY_RESOURCES]);
  const sent = sentOperations(rows).filter(({ row }) => used.has(row.name));
  return Object.fromEntries(
    sent.map(({ row, verb, path, body, input }) => {
      // `forget` with a user alone would erase the user. The headers of the scope limit it.
      const known = row.name === 'forget' ? [] : ['namespace', 'user_id'];
      const scope = known.filter((member) => member in (input.properties ?? {}));
      return [row.name, { verb: verb as Route['verb'], path, body: body as Route['body'], scope }];
    }),
  );
}

/** The whole generated file. */
export function generateMcp(rows: readonly Operation[] = OPERATIONS): string {
  const tools = mcpTools(rows);
  return [
    '// Made by `npm run client` from the operation table and ../plan.ts. Do not edit.\n',
    "import type { Route, Tool } from '../tool.ts';\n\n",
    `export const TOOLS: readonly Tool[] = ${JSON.stringify(tools, null, 2)};\n\n`,
    '/** How the operations behind tools and resources are sent. */\n',
    `export const ROUTES: Readonly<Record<string, Route>> = ${JSON.stringify(routes(rows, tools), null, 2)};\n`,
  ].join('');
}

if (import.meta.main) {
  const made = generateMcp();
  if (readFileSync(GENERATED_TOOLS, { encoding: 'utf8', flag: 'a+' }) !== made) writeFileSync(GENERATED_TOOLS, made);
}
