// Writes the types and the table of operations of the typed client, src/client/gen/operations.ts, from the operation
// table: `npm run client`. A test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BATCH_GRAINS_MAX, MESSAGE_BYTES_MAX, REMEMBER_TEXT_BYTES_MAX } from '../src/engine/base/limits.ts';
import { COMMON_NAMES, contractNames } from '../src/engine/grain/api/names.ts';
import { GRAIN_TYPE_NAMES } from '../src/engine/grain/grain.ts';
import type { Operation } from '../src/server/operations/define.ts';
import type { HttpRow } from '../src/server/operations/http-face.ts';
import { outsideSchema, toCamel } from '../src/server/operations/names.ts';
import { fullPath } from '../src/server/operations/openapi.ts';
import { OPERATIONS } from '../src/server/operations/table.ts';

export const GENERATED = join(import.meta.dirname, '..', 'src', 'client', 'gen', 'operations.ts');

/** JSON Schema under outside names, as far as the generator reads it. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

/** How an operation is sent, and what its answer is. */
interface Sent {
  readonly row: Operation;
  readonly verb: string;
  readonly path: string;
  /** Where the input goes besides the path. */
  readonly body: 'json' | 'file' | 'query' | 'command';
  readonly answer: 'json' | 'bytes' | 'text' | 'stream';
  /** True if an answer may be the bytes of a file instead. */
  readonly hasFile: boolean;
  readonly input: Schema;
  readonly output: Schema;
}

/** The operations that HTTP offers, by a route or by a command of app/exec. */
export function sentOperations(rows: readonly Operation[] = OPERATIONS): readonly Sent[] {
  return rows.flatMap((row) => {
    const [face] = row.http;
    if (face !== undefined) return [routed(row, face)];
    if (row.exec === undefined) return [];
    const [input, output] = [schemaOf(row.input), schemaOf(row.output)];
    return [
      {
        row,
        verb: 'POST',
        path: row.exec.command,
        body: 'command' as const,
        answer: 'json' as const,
        hasFile: false,
        input,
        output,
      },
    ];
  });
}

function schemaOf(schema: Operation['input']): Schema {
  return outsideSchema(schema) as Schema; // a schema of the table
}

function routed(row: Operation, face: HttpRow): Sent {
  const path = fullPath(face.path);
  const own = schemaOf(row.input);
  const isQuery = face.body === 'none' || face.verb === 'DELETE';
  const body = face.body === 'file' ? 'file' : isQuery ? 'query' : 'json';
  // A face with a reading of its own describes its body; the path's members stand beside it.
  const described = body === 'json' && face.bodySchema !== undefined ? (face.bodySchema as Schema) : own;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) =>
    row.on === 'memory' && name === 'id' ? [] : [name],
  );
  const properties = { ...described.properties };
  for (const name of inPath) properties[name] = own.properties?.[name] ?? { type: 'string' };
  if (body === 'file') for (const name of FILE_MEMBERS) delete properties[name];
  const required = [...new Set([...(described.required ?? []), ...inPath])].filter((name) => name in properties);
  const types = Object.keys(face.answers ?? { 'application/json': true });
  const answers = face.answers as Readonly<Record<string, Schema>> | undefined;
  return {
    row,
    verb: face.verb,
    path,
    body,
    answer: answerOf(types),
    hasFile: types.includes('application/pdf'),
    input: { ...described, properties, required },
    output: answers?.['application/json'] ?? schemaOf(row.output),
  };
}

/** Members of an upload that the file itself gives. */
const FILE_MEMBERS = ['bytes', 'file_name'];

function answerOf(types: readonly string[]): Sent['answer'] {
  if (types.includes('text/event-stream')) return 'stream';
  if (types.includes('application/octet-stream')) return 'bytes';
  return types.some((type) => type.startsWith('text/')) ? 'text' : 'json';
}

// ---- members that names and times alone do not decide ----

/** `open`: data that is passed on as it is. `record`: the names are data, the values are not. `time`: seconds. */
type Kind = 'plain' | 'open' | 'record' | 'time';

function isTime({ type, anyOf, description = '' }: Schema): boolean {
  const isNumber = [type, ...(anyOf ?? []).map((one) => one.type)].some((one) => one === 'integer' || one === 'number');
  return isNumber && description.includes('Unix seconds');
}

function inner(schema: Schema): Schema {
  if (schema.items !== undefined) return inner(schema.items);
  const [only, ...others] = (schema.anyOf ?? []).filter(({ properties, items }) => properties ?? items);
  return only !== undefined && others.length === 0 ? inner(only) : schema;
}

function valuesOf({ patternProperties, additionalProperties }: Schema): Schema | undefined {
  const [values] = Object.values(patternProperties ?? {});
  return values ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
}

function kindOf(schema: Schema): Kind {
  if (isTime(schema)) return 'time';
  const { type, properties, anyOf, enum: values, const: value, ...rest } = inner(schema);
  if (properties !== undefined) return 'plain';
  if (valuesOf(rest) !== undefined) return 'record';
  const leaf = type ?? (values !== undefined || value !== undefined || anyOf !== undefined ? 'leaf' : undefined);
  return leaf === undefined || leaf === 'object' ? 'open' : 'plain';
}

/** The kinds of a member: by the member that holds it, then by operation and direction. */
type Places = Map<string, Map<string, Kind>>;

function collectKinds(schema: Schema, root: string, parent: string, found: Map<string, Places>): void {
  const { properties, anyOf } = inner(schema);
  const values = valuesOf(inner(schema));
  if (values !== undefined) collectKinds(values, root, parent, found);
  for (const one of anyOf ?? []) collectKinds(one, root, parent, found);
  for (const [name, child] of Object.entries(properties ?? {})) {
    const kind = kindOf(child);
    const places: Places = found.get(name) ?? new Map();
    const roots = places.get(parent) ?? new Map<string, Kind>();
    const known = roots.get(root);
    // A value that is a text in one alternative and data in another is data.
    roots.set(root, known === undefined || known === 'plain' ? kind : known);
    found.set(name, places.set(parent, roots));
    if (kind === 'plain' || kind === 'record') collectKinds(child, root, name, found);
  }
}

function most(kinds: Iterable<Kind>): Kind {
  return [...Map.groupBy(kinds, (kind) => kind)].toSorted(([, a], [, b]) => b.length - a.length)[0]![0];
}

/** Kinds other than plain: by name where it usually means the same, else by place, or by operation and place. */
function kindTable(operations: readonly Sent[]): Readonly<Record<string, Kind>> {
  const found = new Map<string, Places>();
  for (const { row, input, output } of operations) {
    collectKinds(input, `${toCamel(row.name)}<`, '', found);
    collectKinds(output, `${toCamel(row.name)}>`, '', found);
  }
  const table: Record<string, Kind> = {};
  for (const [name, places] of [...found].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const usual = most([...places.values()].flatMap((roots) => [...roots.values()]));
    if (usual !== 'plain') table[name] = usual;
    for (const [parent, roots] of places) {
      const here = most(roots.values());
      if (here !== usual) table[`${parent}.${name}`] = here;
      for (const [root, kind] of roots) if (kind !== here) table[`${root}${parent}.${name}`] = kind;
    }
  }
  return table;
}

// ---- types ----

const GRAIN_TYPE = 'GrainType';

/** Members that a shape has, at least, to be named. */
const NAMED_MEMBERS_MIN = 3;

/** Names of the shapes that occur in several places, by their text. */
let shapes: ReadonlyMap<string, string> = new Map();

const texts = new WeakMap<Schema, string>();

/** The shape of an object, with no other shape's name in it. */
function textOfShape(schema: Schema): string {
  const known = texts.get(schema);
  if (known !== undefined) return known;
  const named = shapes;
  shapes = new Map();
  const text = members(schema, '');
  shapes = named;
  texts.set(schema, text);
  return text;
}

function namedShape(schema: Schema): string | undefined {
  return shapes.size === 0 ? undefined : shapes.get(textOfShape(schema));
}

/** A place of a shape: the text of the shape that holds it, or the operation, and the member. */
interface Place {
  readonly holder: string;
  readonly holderName: string;
  readonly member: string;
}

function collectShapes(schema: Schema, place: Place, found: Map<string, Place[]>): void {
  const { items, anyOf, properties } = schema;
  for (const one of [...(items === undefined ? [] : [items]), ...(anyOf ?? [])]) collectShapes(one, place, found);
  const values = valuesOf(schema);
  if (values !== undefined) collectShapes(values, place, found);
  if (properties === undefined) return;
  const text = textOfShape(schema);
  const places = found.get(text) ?? [];
  const isKnown = places.length > 0;
  if (!places.some(({ holder, member }) => holder === place.holder && member === place.member)) places.push(place);
  found.set(text, places);
  if (isKnown) return;
  for (const [member, child] of Object.entries(properties))
    collectShapes(child, { holder: text, holderName: place.member, member }, found);
}

/** Gives a name to each shape that occurs in several places: that of a member that has it, in the singular. */
function nameShapes(operations: readonly Sent[]): ReadonlyMap<string, string> {
  const found = new Map<string, Place[]>();
  for (const { row, input, output, answer } of operations) {
    const place = (member: string): Place => ({ holder: `${row.name} ${member}`, holderName: row.name, member });
    for (const [member, child] of Object.entries(input.properties ?? {})) collectShapes(child, place(member), found);
    if (OUTPUTS[answer] === undefined) collectShapes(withWarnings(output), place(`${row.name}_output`), found);
  }
  const names = new Map<string, string>();
  const taken = new Set<string>([GRAIN_TYPE, ...GLOBAL_NAMES]);
  for (const [text, places] of found) {
    if (places.length < 2 || text.split('readonly ').length <= NAMED_MEMBERS_MIN) continue;
    const [{ member, holderName }] = places as [Place, ...Place[]];
    const candidates = [
      ...new Set(places.map((place) => pascal(singular(place.member)))),
      `${pascal(singular(holderName))}${pascal(singular(member))}`,
    ];
    let name = candidates.find((one) => !taken.has(one));
    for (let number = 2; name === undefined; number++) {
      const next = `${candidates.at(-1)}${number}`;
      if (!taken.has(next)) name = next;
    }
    taken.add(name);
    names.set(text, name);
  }
  return names;
}

/** Types of the same file, and of the language. */
const GLOBAL_NAMES = [
  'Operations',
  'CommonField',
  'TypeFields',
  'MemoryEvent',
  'Json',
  'JsonObject',
  'StreamFrame',
  'Error',
];

function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function singular(name: string): string {
  if (/(?:ss|us|is|status)$/.test(name)) return name;
  return name.replace(/ies$/, 'y').replace(/s$/, '');
}

/** The text of a named shape, whose own members may be named shapes. */
function shapeTypes(operations: readonly Sent[]): string {
  const written = new Map<string, string>();
  const write = (schema: Schema): void => {
    for (const one of [
      schema.items,
      valuesOf(schema),
      ...(schema.anyOf ?? []),
      ...Object.values(schema.properties ?? {}),
    ])
      if (one !== undefined) write(one);
    if (schema.properties === undefined) return;
    const name = namedShape(schema);
    if (name !== undefined && !written.has(name)) written.set(name, members(schema, ''));
  };
  for (const { input, output, answer } of operations) {
    for (const child of Object.values(input.properties ?? {})) write(child);
    if (OUTPUTS[answer] === undefined) write(withWarnings(output));
  }
  return [...written].map(([name, text]) => `export type ${name} = ${text};\n\n`).join('');
}

function typeOf(schema: Schema, name: string, indent: string): string {
  if (isTime(schema)) return schema.anyOf?.some(({ type }) => type === 'null') === true ? 'Date | null' : 'Date';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return schema.enum.length === GRAIN_TYPE_NAMES.length && schema.enum.includes('belief')
      ? GRAIN_TYPE
      : schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf !== undefined && schema.properties === undefined)
    return [...new Set(schema.anyOf.map((one) => typeOf(one, name, indent)))].join(' | ');
  switch (schema.type) {
    case 'string':
      return name === 'grain_type' && schema.description?.includes('as it was sent') !== true ? GRAIN_TYPE : 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array': {
      const item = typeOf(schema.items ?? {}, name, indent);
      return item.startsWith('readonly ') || (item.includes(' | ') && schema.items?.properties === undefined)
        ? `readonly (${item})[]`
        : `readonly ${item}[]`;
    }
    default:
      return objectType(schema, name, indent);
  }
}

function objectType(schema: Schema, name: string, indent: string): string {
  if (schema.properties !== undefined) return namedShape(schema) ?? members(schema, indent);
  const values = valuesOf(schema);
  if (values !== undefined) return `{ readonly [name: string]: ${typeOf(values, name, indent)} }`;
  return schema.type === 'object' ? 'JsonObject' : 'Json';
}

function members({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const deeper = `${indent}  `;
  const lines = Object.entries(properties).map(([name, child]) => {
    const isRequired = required.includes(name);
    const type = typeOf(child, name, deeper);
    const comment =
      child.description === undefined ? '' : `${deeper}/** ${child.description.replaceAll('*/', '* /')} */\n`;
    return `${comment}${deeper}readonly ${toCamel(name)}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'};\n`;
  });
  if (additionalProperties === true && lines.length > 0) lines.push(`${deeper}readonly [other: string]: unknown;\n`);
  return lines.length === 0 ? '{ readonly [none: string]: never }' : `{\n${lines.join('')}${indent}}`;
}

const OUTPUTS: Readonly<Partial<Record<Sent['answer'], string>>> = {
  bytes: 'Uint8Array',
  stream: 'AsyncGenerator<StreamFrame, void, undefined>',
};

function outputType({ answer, hasFile, output }: Sent): string {
  const fixed = OUTPUTS[answer];
  if (fixed !== undefined) return fixed;
  const type = typeOf(withWarnings(output), '', '    ');
  return answer === 'text' ? `${type} | string${hasFile ? ' | Uint8Array' : ''}` : type;
}

/** Any JSON answer may have warnings. */
function withWarnings(schema: Schema): Schema {
  if (schema.anyOf !== undefined && schema.properties === undefined)
    return { ...schema, anyOf: schema.anyOf.map(withWarnings) };
  if (schema.properties === undefined || schema.properties['warnings'] !== undefined) return schema;
  const warnings = {
    type: 'array',
    items: { type: 'string' },
    description: 'Members of the request that were ignored, and other notes.',
  };
  return { ...schema, properties: { ...schema.properties, warnings } };
}

function entry(sent: Sent): string {
  const { row, input } = sent;
  const name = toCamel(row.name);
  const file = '{ readonly file: Blob; readonly fileName?: string | undefined }';
  const own = members(input, '    ');
  const isEmpty = Object.keys(input.properties ?? {}).length === 0;
  const taken = sent.body !== 'file' ? own : isEmpty ? file : `${own} & ${file}`;
  return `  /** ${row.summary} ${row.description} */\n  ${name}: {\n    input: ${taken};\n    output: ${outputType(sent)};\n  };\n`;
}

/** The member of a page that lists its items. */
function itemsOf({ row, input, output }: Sent): string | undefined {
  if (input.properties?.['cursor'] === undefined || output.properties?.['next_cursor'] === undefined) return undefined;
  const lists = Object.entries(output.properties).filter(([name, { type }]) => type === 'array' && name !== 'warnings');
  const [only, ...others] = lists;
  if (only === undefined || others.length > 0) throw new Error(`${row.name}: which member lists the items of a page?`);
  return toCamel(only[0]);
}

/**
 * One line for each operation: verb, path, and flags: body (json, file, query, command), answer (json, bytes, text,
 * stream), w for a change, s for a slow one, u and n where the input names a user or a namespace.
 */
function route(sent: Sent): string {
  const { row, verb, path, body, answer, input } = sent;
  const flags = [
    body,
    answer,
    `${row.mutates ? 'w' : ''}${row.slow ? 's' : ''}${'user_id' in (input.properties ?? {}) ? 'u' : ''}${'namespace' in (input.properties ?? {}) ? 'n' : ''}`,
  ];
  return `  ${toCamel(row.name)}: '${[verb, path.replace('/memories/{id}', 'M'), ...flags].join(' ').trim()}',\n`;
}

function union(names: readonly string[]): string {
  return names.length === 0 ? 'never' : names.map((name) => `\n  | '${name}'`).join('');
}

const HEAD = `// Made by \`npm run client\` from the operation table. Do not edit.
import type { Json, JsonObject } from '../json.ts';
import type { StreamFrame } from '../sse.ts';

`;

/** An event, as the answer of the long-poll lists it. */
function eventType(operations: readonly Sent[]): string {
  const items = operations.find(({ row }) => row.name === 'events')?.output.properties?.['events']?.items;
  return items === undefined ? 'never' : typeOf(items, '', '');
}

/** The whole generated file. */
export function generateClient(rows: readonly Operation[] = OPERATIONS): string {
  const operations = sentOperations(rows);
  shapes = new Map();
  shapes = nameShapes(operations);
  const paged = operations.flatMap((sent) => {
    const items = itemsOf(sent);
    return items === undefined ? [] : [[toCamel(sent.row.name), items] as const];
  });
  const named = (on: string): string[] =>
    operations.filter(({ row }) => row.on === on).map(({ row }) => toCamel(row.name));
  const kinds = Object.entries(kindTable(operations)).map(([name, kind]) => `  '${name}': '${kind}',\n`);
  const fields = GRAIN_TYPE_NAMES.map((type) => {
    const own = [...contractNames(type)].filter((name) => !COMMON_NAMES.has(name));
    return `  ${type}: ${own.map((name) => `'${name}'`).join(' | ')};\n`;
  });
  return [
    HEAD,
    `export type GrainType =${union(GRAIN_TYPE_NAMES)};\n\n`,
    `/** Names of fields that every grain may have. */\nexport type CommonField =${union([...COMMON_NAMES])};\n\n`,
    `/** Names of the fields of each type. */\nexport interface TypeFields {\n${fields.join('')}}\n\n`,
    `/** Objects that several operations have. */\n`,
    shapeTypes(operations),
    `/** Input and output of each operation. */\nexport interface Operations {\n${operations.map(entry).join('')}}\n\n`,
    `/** A change of a memory. */\nexport type MemoryEvent = ${eventType(operations)};\n\n`,
    `/** Operations of one memory. */\nexport type MemoryOperation =${union(named('memory'))};\n\n`,
    `/** Operations of the deployment. */\nexport type DeploymentOperation =${union(named('deployment'))};\n\n`,
    `/** Verb, path (M: the memory), body, answer and flags of each operation. */\n`,
    `export const ROUTES: Readonly<Record<MemoryOperation | DeploymentOperation, string>> = {\n${operations.map(route).join('')}};\n\n`,
    `/** The member that lists the items, for each operation with pages. */\n`,
    `export const PAGES = {\n${paged.map(([name, items]) => `  ${name}: '${items}',\n`).join('')}} as const;\n\n`,
    `/** Members that are more than their value: times, data that is passed on, records. */\n`,
    `export const KINDS: Readonly<Record<string, 'plain' | 'open' | 'record' | 'time'>> = {\n${kinds.join('')}};\n\n`,
    `/** Limits that the client splits batches at. */\nexport const LIMITS = {\n`,
    `  batchGrains: ${BATCH_GRAINS_MAX},\n  requestBytes: ${MESSAGE_BYTES_MAX},\n  rememberBytes: ${REMEMBER_TEXT_BYTES_MAX},\n};\n`,
  ].join('');
}

if (import.meta.main) {
  const made = generateClient();
  if (readFileSync(GENERATED, { encoding: 'utf8', flag: 'a+' }) !== made) writeFileSync(GENERATED, made);
}
