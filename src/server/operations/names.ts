// The two mechanical naming rules, compiled once from a schema. Outside names are snake_case and inside names camelCase,
// except where a schema is open, as for a grain's own fields. A gRPC member `x_json` holds the JSON text of `x`.
import type { TSchema } from 'typebox';
import { EngineError } from '../../engine/base/errors.ts';
import { JSON_DEPTH_MAX } from '../../engine/base/limits.ts';
import { parseJson, stringifyJson } from '../../engine/grain/api/json.ts';
import { checkJsonTextBounds } from '../../engine/grain/api/json-bounds.ts';
import { tooDeep } from '../http/json.ts';

export type Members = Record<string, unknown>;

/** The parts of a JSON Schema that the rules need. */
export interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  /** An object or null, and other alternatives without members of their own. */
  readonly anyOf?: readonly SchemaNode[];
  /** The values of a record, whose names are data. */
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
}

/** One member of an object: its inside and outside names, and the schema of its value. */
interface Rename {
  readonly inside: string;
  readonly outside: string;
  /** The member of a message that holds the value as JSON text. */
  readonly json: string;
  readonly node: SchemaNode;
}

export function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema as plain JSON Schema, without TypeBox's types. */
export function nodeOf(schema: TSchema): SchemaNode {
  return schema as SchemaNode; // TypeBox schemas are JSON Schema objects
}

const compiled = new WeakMap<SchemaNode, readonly Rename[]>();

/** The members of an object schema; empty for values that pass through unchanged. */
function renamesOf(node: SchemaNode): readonly Rename[] {
  const known = compiled.get(node);
  if (known !== undefined) return known;
  const renames = Object.entries(node.properties ?? {}).map(([inside, child]) => ({
    inside,
    outside: toSnake(inside),
    json: `${inside}Json`,
    node: child,
  }));
  compiled.set(node, renames);
  return renames;
}

function isNumeric(node: SchemaNode): boolean {
  return node.type === 'integer' || node.type === 'number';
}

function isOpen(node: SchemaNode): boolean {
  return node.properties === undefined && node.items?.properties === undefined;
}

/**
 * Converts JSON from outside to inside names. Treats an explicit null as absent and drops unknown members. Numbers that
 * the schema names become doubles; numbers in open values stay as parsed.
 */
export function inward(node: SchemaNode, value: unknown): unknown {
  if (isOpen(node)) return typeof value === 'bigint' && isNumeric(node) ? Number(value) : value;
  if (Array.isArray(value)) {
    const items = node.items;
    return items === undefined ? value : value.map((one) => inward(items, one));
  }
  if (!isMembers(value)) return value;
  const inside: Members = {};
  for (const { inside: name, outside, node: child } of renamesOf(node)) {
    const member = Object.hasOwn(value, outside) ? value[outside] : undefined;
    if (member !== undefined && member !== null) inside[name] = inward(child, member);
  }
  return inside;
}

/** Converts values from inside to outside names; omits undefined members. */
export function outward(node: SchemaNode, value: unknown): unknown {
  if (isOpen(node)) {
    const within = innerNode(node);
    if (within === undefined || value === null) return value;
    return node.anyOf === undefined && isMembers(value) ? outwardRecord(within, value) : outward(within, value);
  }
  if (Array.isArray(value)) {
    const items = node.items;
    return items === undefined ? value : value.map((one) => outward(items, one));
  }
  if (!isMembers(value)) return value;
  const outside: Members = {};
  for (const { inside, outside: name, node: child } of renamesOf(node)) {
    const member = value[inside];
    if (member !== undefined) outside[name] = outward(child, member);
  }
  return outside;
}

function outwardRecord(node: SchemaNode, record: Members): Members {
  // fromEntries defines an own property for every name, including `__proto__`.
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, outward(node, value)]));
}

/** The one alternative, or the value of a record, whose members are renamed; undefined when there is none. */
function innerNode({ anyOf, patternProperties }: SchemaNode): SchemaNode | undefined {
  const inner = anyOf ?? (patternProperties === undefined ? [] : Object.values(patternProperties));
  const [only, ...others] = inner.filter(({ properties }) => properties !== undefined);
  return others.length === 0 ? only : undefined;
}

/** The schema with outside names, as callers see it. */
export function outsideSchema(schema: TSchema): Members {
  return outsideNode(nodeOf(schema));
}

function outsideNode(node: SchemaNode): Members {
  const copy: Members = { ...node };
  if (node.properties !== undefined) {
    copy['properties'] = Object.fromEntries(
      Object.entries(node.properties).map(([name, child]) => [toSnake(name), outsideNode(child)]),
    );
    if (node.required !== undefined) copy['required'] = node.required.map(toSnake);
  }
  if (node.items !== undefined) copy['items'] = outsideNode(node.items);
  if (innerNode(node) === undefined) return copy;
  if (node.anyOf !== undefined) copy['anyOf'] = node.anyOf.map(outsideNode);
  if (node.patternProperties !== undefined)
    copy['patternProperties'] = Object.fromEntries(
      Object.entries(node.patternProperties).map(([pattern, child]) => [pattern, outsideNode(child)]),
    );
  return copy;
}

/** Converts a query string to the schema's types. A repeated name keeps its last value; an array keeps all. */
export function fromQuery(node: SchemaNode, query: Readonly<Record<string, readonly string[]>>): Members {
  const inside: Members = {};
  for (const { inside: name, outside, node: child } of renamesOf(node)) {
    const values = Object.hasOwn(query, outside) ? query[outside] : undefined;
    const last = values?.at(-1);
    if (values === undefined || last === undefined) continue;
    inside[name] = child.type === 'array' ? values : queryValue(child.type, last);
  }
  return inside;
}

/** Keeps text that is not of the wanted type, so that the schema check reports it. */
function queryValue(type: string | undefined, text: string): unknown {
  if (type === 'boolean')
    return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text;
  if ((type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text;
}

/** Converts a protobuf message, already camelCase, to inside. '' and [] count as absent: proto3 does not distinguish them. */
export function fromMessage(node: SchemaNode, message: Members): Members {
  const inside: Members = {};
  for (const { inside: name, outside, json: jsonName, node: child } of renamesOf(node)) {
    const json = message[jsonName];
    if (typeof json === 'string') {
      if (json !== '') inside[name] = parsedJson(json, `${outside}_json`);
      continue;
    }
    const member = fromMember(child, message[name]);
    if (member !== undefined) inside[name] = member;
  }
  return inside;
}

function fromMember(node: SchemaNode, value: unknown): unknown {
  if (value === undefined || value === null || value === '') return undefined;
  if (Array.isArray(value)) {
    if (value.length === 0) return undefined;
    const items = node.items;
    return items?.properties === undefined
      ? value
      : value.map((one) => (isMembers(one) ? fromMessage(items, one) : one));
  }
  return isMembers(value) && node.properties !== undefined ? fromMessage(node, value) : value;
}

/** Parses JSON as strictly as an HTTP body. Throws VAL-E002 for invalid JSON, VAL-E001 for too many members or levels. */
export function parsedJson(text: string, field: string): unknown {
  checkJsonTextBounds([text], field);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('VAL-E002', `${field} is not JSON`, { details: [{ field, issue: 'not JSON' }] });
  }
  if (!tooDeep(value, JSON_DEPTH_MAX)) return value;
  const issue = `nested deeper than ${JSON_DEPTH_MAX} levels`;
  throw new EngineError('VAL-E001', `${field} is ${issue}`, { details: [{ field, issue }] });
}

/**
 * Converts inside values to a protobuf message's members. `shape` is an empty message; members that it lacks are
 * omitted, and a value becomes JSON text where it has `x_json`.
 */
export function toMessage(node: SchemaNode, value: Members, shape: Members): Members {
  const message: Members = {};
  for (const { inside: name } of renamesOf(node)) {
    const member = value[name];
    if (member === undefined || member === null) continue;
    if (`${name}Json` in shape) message[`${name}Json`] = stringifyJson(member);
    else if (name in shape) message[name] = member;
  }
  return message;
}
