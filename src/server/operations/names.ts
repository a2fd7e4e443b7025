// The two mechanical rules between the outside and the inside, compiled from a schema once: snake_case outside is
// camelCase inside (never within what a schema leaves open, such as a grain's own fields), and a gRPC member `x_json`
// is the JSON text of `x`.
import type { TSchema } from 'typebox';
import { EngineError } from '../../engine/base/errors.ts';
import { JSON_DEPTH_MAX } from '../../engine/base/limits.ts';
import { parseJson, stringifyJson } from '../../engine/grain/api/json.ts';
import { checkJsonTextBounds } from '../../engine/grain/api/json-bounds.ts';
import { tooDeep } from '../http/json.ts';

export type Members = Record<string, unknown>;

/** What the rules need to see of a schema: plain JSON Schema. */
export interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly required?: readonly string[];
}

/** Members of one object that go by another name outside, and what is inside them. */
interface Rename {
  readonly inside: string;
  readonly outside: string;
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

/** A schema as JSON Schema; TypeBox's types say more than the walk needs. */
export function nodeOf(schema: TSchema): SchemaNode {
  return schema as SchemaNode; // TypeBox schemas are JSON Schema objects
}

const compiled = new WeakMap<SchemaNode, readonly Rename[]>();

/** The members of an object schema; empty for everything that is passed as it is. */
function renamesOf(node: SchemaNode): readonly Rename[] {
  const known = compiled.get(node);
  if (known !== undefined) return known;
  const renames = Object.entries(node.properties ?? {}).map(([inside, child]) => ({
    inside,
    outside: toSnake(inside),
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
 * JSON from outside to inside names. An explicit null is an absent member; members the schema does not know go. A number
 * of ours is a double, whatever its digits; one within what the schema leaves open stays as it was parsed.
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

/** Values from inside to outside names; undefined members are left out. */
export function outward(node: SchemaNode, value: unknown): unknown {
  if (isOpen(node)) return value;
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

/** The schema as callers see it: the same with outside names. */
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
  return copy;
}

/** The members of a query string, as the schema wants them: the last value of a name, all for an array. */
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

/** What does not read as the wanted type stays text, for the schema check to name. */
function queryValue(type: string | undefined, text: string): unknown {
  if (type === 'boolean')
    return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text;
  if ((type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text;
}

/** A protobuf message (camelCase already) to inside: '' and empty lists are absent, as proto3 cannot tell them apart. */
export function fromMessage(node: SchemaNode, message: Members): Members {
  const inside: Members = {};
  for (const { inside: name, node: child } of renamesOf(node)) {
    const json = message[`${name}Json`];
    if (typeof json === 'string') {
      if (json !== '') inside[name] = parsedJson(json, `${toSnake(name)}_json`);
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

/** As strict as a body over HTTP. Throws VAL-E002 for what is not JSON, VAL-E001 for too many members or too deep. */
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
 * Values from inside to a protobuf message's members. `shape` is an empty message, whose members tell what the message
 * has: `x_json` where it has that; what it does not have is left out.
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
