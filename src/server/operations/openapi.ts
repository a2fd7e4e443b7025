// The OpenAPI 3.1 document, made of the table: its schemas are the rows' own, under their outside names.
import { ERROR_MEANINGS, type ErrorCode } from '../../engine/base/errors.ts';
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../engine/base/limits.ts';
import { GRAIN_TYPE_NAMES } from '../../engine/grain/grain.ts';
import { SEVERITIES } from '../compliance/table.ts';
import { STATUS } from '../status.ts';
import { VERSION } from '../version.ts';
import { defineOperation, type HttpRow, type Operation } from './define.ts';
import { COUNT, COUNTS, FIELDS, FLAG, HASH, objectOf, TEXT } from './json-schema.ts';
import { isMembers, type Members, nodeOf, outsideSchema, toSnake } from './names.ts';
import { TAGS, tagOf } from './openapi-tags.ts';
import { Type } from './type.ts';

/** The row of GET /openapi.json, which is in the document itself too. */
export function openApiOperation(rows: readonly Operation[]): Operation {
  let document: Members | undefined;
  const operation: Operation = defineOperation({
    name: 'openapi',
    summary: 'This document.',
    needs: 'read',
    on: 'deployment',
    reach: 'nothing',
    mutates: false,
    input: Type.Object({}),
    output: Type.Unsafe<Members>(DOCUMENT),
    http: [{ verb: 'GET', path: '/openapi.json' }],
    run: async () => {
      document ??= openApiDocument([...rows, operation]);
      return document;
    },
  });
  return operation;
}

/** `M/add` as `/memories/{id}/add`, relative to /api. */
export function fullPath(path: string): string {
  return path === 'M' || path.startsWith('M/') ? `/memories/{id}${path.slice(1)}` : path;
}

/** As far as every document of OpenAPI has it. */
const DOCUMENT: Members = {
  type: 'object',
  required: ['openapi', 'info', 'servers', 'tags', 'security', 'paths', 'components'],
  properties: {
    openapi: { type: 'string' },
    info: { type: 'object', additionalProperties: true },
    servers: { type: 'array', items: { type: 'object', additionalProperties: true } },
    tags: { type: 'array', items: { type: 'object', additionalProperties: true } },
    security: { type: 'array', items: { type: 'object', additionalProperties: true } },
    paths: { type: 'object', additionalProperties: true },
    components: { type: 'object', additionalProperties: true },
  },
};

export function openApiDocument(rows: readonly Operation[]): Members {
  const paths: Record<string, Members> = {};
  for (const row of rows)
    for (const face of row.http) {
      const path = `/api${fullPath(face.path)}`;
      paths[path] = { ...paths[path], [face.verb.toLowerCase()]: operationObject(row, face) };
    }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Granary',
      version: VERSION,
      description: 'Memory of AI agents: typed, immutable, content-addressed records.',
      contact: { name: 'The operator of this server' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/', description: 'The server that this document came from.' },
      {
        url: '{address}',
        description: 'Another one.',
        variables: { address: { default: 'http://127.0.0.1:8080', description: 'Scheme, host and port.' } },
      },
    ],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The older header of the same key.' },
      },
      schemas: { Error: ERROR_SCHEMA, ScopeNode: SCOPE_NODE },
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A request that is sent again with its key within 24 hours is done once, and answered as before.',
  schema: { type: 'string', maxLength: IDEMPOTENCY_KEY_CHARS_MAX },
};

const ERROR_SCHEMA: Members = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'details', 'request_id'],
      // Some codes tell more: where a query went wrong, what would be right.
      additionalProperties: true,
      properties: {
        code: { type: 'string', pattern: '^[A-Z]{3}-E[0-9]{3}$' },
        message: { type: 'string' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['field', 'issue'],
            properties: { field: { type: 'string' }, issue: { type: 'string' } },
          },
        },
        request_id: { type: 'string' },
      },
    },
  },
};

const SCOPE_NODE: Members = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    children: { type: 'array', items: { $ref: '#/components/schemas/ScopeNode' } },
  },
};

function operationObject(row: Operation, face: HttpRow): Members {
  const inPath = [...fullPath(face.path).matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return {
    operationId: row.name,
    summary: row.summary,
    tags: [tagOf(row.name)],
    ...(row.needs === 'public' ? { security: [] } : {}),
    description: row.needs === 'public' ? 'Needs no key.' : `Needs a key${SCOPES[row.needs]}.`,
    parameters: [
      ...inPath.map((name) => ({
        name,
        in: 'path',
        required: true,
        description: PATH_PARAMETERS[name] ?? 'As answers name it.',
        schema: name === 'hash' ? HASH : { type: 'string', minLength: 1 },
      })),
      ...(face.body === 'none' || face.verb === 'DELETE' ? queryParameters(row, inPath) : []),
      ...(row.mutates && face.verb === 'POST' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...requestBody(row, face),
    responses: { ...successes(row, face), ...errorResponses(row, face) },
  };
}

const SCOPES = {
  key: '',
  metrics: ' that may read metrics',
  read: ' that may read',
  write: ' that may write',
  admin: ' of an admin',
};

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  id: 'The memory.',
  hash: 'The grain: SHA-256 of its blob.',
  key_id: 'The key, by its id.',
  user_id: 'The person.',
  recall_id: 'The record, as the recall named it.',
};

function successes(row: Operation, face: HttpRow): Members {
  const answers = face.answers ?? { 'application/json': outsideSchema(row.output) };
  const content = Object.fromEntries(
    Object.entries(answers).map(([type, schema]) => {
      const isJson = type === 'application/json';
      return [type, { schema: described(isJson && row.name !== 'openapi' ? withWarnings(schema) : schema) }];
    }),
  );
  const others = Object.entries(face.otherStatuses).map(([status, description]) => [
    status,
    { description, ...(status === '304' ? {} : { content }) },
  ]);
  return { [String(face.successStatus)]: { description: 'Done.', content }, ...Object.fromEntries(others) };
}

/** Codes that any operation of that kind may answer with. */
function codesOf(row: Operation, face: HttpRow): readonly ErrorCode[] {
  return [
    ...(['VAL-E001'] as const),
    ...(row.needs === 'public' ? ([] as const) : (['AUT-E004', 'AUT-E005', 'AUT-E001', 'LIM-E001'] as const)),
    ...(row.on === 'memory' ? (['MEM-E003'] as const) : []),
    ...(row.mutates && face.verb === 'POST' ? (['VAL-E005'] as const) : []),
    ...(face.body === 'none' ? ([] as const) : (['VAL-E002', 'VAL-E003', 'VAL-E006', 'LIM-E003'] as const)),
    ...(row.paged ? (['VAL-E004'] as const) : []),
    ...row.errors,
  ];
}

/** A response for each status that codes of the row have, and one for what may befall any. */
function errorResponses(row: Operation, face: HttpRow): Members {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codesOf(row, face)) {
    const { http } = STATUS[code];
    byStatus.set(http, (byStatus.get(http) ?? new Set()).add(code));
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const told = [...byStatus]
    .toSorted(([a], [b]) => a - b)
    .map(([status, codes]) => [
      String(status),
      { description: [...codes].map((code) => `${code}: ${ERROR_MEANINGS[code]}.`).join(' '), content },
    ]);
  return { ...Object.fromEntries(told), default: { description: 'Another error of the contract.', content } };
}

/** Any answer tells what its request brought beside what the row knows. */
function withWarnings(schema: Members): Members {
  const { properties, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: anyOf.map((one: Members) => withWarnings(one)) };
  if (!isMembers(properties) || properties['warnings'] !== undefined) return schema;
  return { ...schema, properties: { ...properties, warnings: { type: 'array', items: { type: 'string' } } } };
}

const GRAIN_TYPES: Members = { enum: [...GRAIN_TYPE_NAMES] };
const SEVERITY: Members = { enum: [...SEVERITIES] };

/** Members whose values are known by their names, wherever they stand. */
const KNOWN: Readonly<Record<string, Members>> = {
  grain_type: GRAIN_TYPES,
  hash: HASH,
  blob_hash: HASH,
  severity: SEVERITY,
  fields: FIELDS,
  details: FIELDS,
  settings: FIELDS,
  overrides: FIELDS,
  args: FIELDS,
  set: FIELDS,
  query: FIELDS,
  features: { type: 'object', additionalProperties: { anyOf: [TEXT, FLAG, COUNT] } },
  limits: COUNTS,
  type_counts: objectOf(Object.fromEntries(GRAIN_TYPE_NAMES.map((name) => [name, COUNT]))),
  by_namespace: { type: 'object', additionalProperties: objectOf({ expired: COUNT, forgotten: COUNT, held: COUNT }) },
  by_mode: COUNTS,
  by_exclusion: COUNTS,
  excluded_counts: COUNTS,
  children: { type: 'array', items: { $ref: '#/components/schemas/ScopeNode' } },
};

/** Node by node: what is a plain text or list in the row, and known by its name, is told as such. */
function described(node: Members): Members {
  const copy: Members = { ...node };
  const { properties, items, anyOf } = node;
  if (isMembers(properties))
    copy['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, child]) => [name, isMembers(child) ? member(name, child) : child]),
    );
  if (isMembers(items)) copy['items'] = described(items);
  else if (node['type'] === 'array') copy['items'] = {};
  if (Array.isArray(anyOf)) copy['anyOf'] = anyOf.map((one: unknown) => (isMembers(one) ? described(one) : one));
  return copy;
}

function member(name: string, schema: Members): Members {
  const known = KNOWN[name];
  const isPlain = Object.keys(schema).length === 1 && schema['type'] === (known?.['type'] ?? 'string');
  return known !== undefined && isPlain ? known : described(schema);
}

function queryParameters(row: Operation, inPath: readonly string[]): Members[] {
  const { properties } = outsideSchema(row.input);
  if (!isMembers(properties)) return [];
  const required = new Set(nodeOf(row.input).required?.map(toSnake));
  return Object.entries(properties)
    .filter(([name]) => !inPath.includes(name))
    .map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.has(name),
      schema: isMembers(schema) ? member(name, schema) : schema,
    }));
}

function requestBody(row: Operation, face: HttpRow): Members {
  // A body of DELETE is read, for members that a caller may put there, but what it means is anybody's idea.
  if (face.body === 'none' || face.verb === 'DELETE') return {};
  if (face.body === 'file')
    return {
      requestBody: {
        required: true,
        content: {
          'multipart/form-data': {
            schema: { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } },
          },
        },
      },
    };
  return {
    requestBody: {
      required: (nodeOf(row.input).required ?? []).length > 0,
      content: { 'application/json': { schema: described(face.bodySchema ?? outsideSchema(row.input)) } },
    },
  };
}
