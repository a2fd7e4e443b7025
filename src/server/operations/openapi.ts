// Builds the OpenAPI 3.1 document from the table, with the rows' own schemas under outside names.
import { defined } from '../../engine/base/defined.ts';
import { ERROR_MEANINGS, type ErrorCode } from '../../engine/base/errors.ts';
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../engine/base/limits.ts';
import { GRAIN_TYPE_NAMES } from '../../engine/grain/grain.ts';
import { SEVERITIES } from '../compliance/severity.ts';
import { STATUS } from '../status.ts';
import { VERSION } from '../version.ts';
import { defineOperation, type Operation } from './define.ts';
import type { HttpRow } from './http-face.ts';
import { COUNT, COUNTS, FIELDS, FLAG, HASH, listOf, objectOf, TEXT } from './json-schema.ts';
import { isMembers, type Members, nodeOf, outsideSchema, toSnake } from './names.ts';
import { TAGS, tagOf } from './openapi-tags.ts';
import { described, Type } from './type.ts';

/** The row of GET /openapi.json; the document includes it. */
export function openApiOperation(rows: readonly Operation[]): Operation {
  /** By the path under which a proxy shows the server: one in a process that serves. */
  const documents = new Map<string, Members>();
  const operation: Operation = defineOperation({
    name: 'openapi',
    summary: 'Show the OpenAPI document of this server.',
    description: 'The server generates it from the same table that it answers requests from.',
    example: {},
    needs: 'read',
    on: 'deployment',
    reach: 'nothing',
    mutates: false,
    input: Type.Object({}),
    output: Type.Unsafe<Members>(DOCUMENT),
    http: [{ verb: 'GET', path: '/openapi.json' }],
    run: async (_, { services }) => {
      const { basePath } = services.config;
      const document = documents.get(basePath) ?? openApiDocument([...rows, operation], basePath);
      documents.set(basePath, document);
      return document;
    },
  });
  return operation;
}

/** Expands `M/add` to `/memories/{id}/add`, relative to /api. */
export function fullPath(path: string): string {
  return path === 'M' || path.startsWith('M/') ? `/memories/{id}${path.slice(1)}` : path;
}

/** Schema of the members that every OpenAPI document has. */
const DOCUMENT: Members = {
  type: 'object',
  required: ['openapi', 'info', 'servers', 'tags', 'security', 'paths', 'components'],
  properties: {
    openapi: described(TEXT, 'Version of OpenAPI.'),
    info: described(FIELDS, 'Name, version and licence of the server.'),
    servers: described(listOf(FIELDS), 'Addresses of the server.'),
    tags: described(listOf(FIELDS), 'Groups of operations.'),
    security: described(listOf(FIELDS), 'Ways to send an API key.'),
    paths: described(FIELDS, 'The operations by path and verb.'),
    components: described(FIELDS, 'Schemas that several operations share.'),
  },
};

export function openApiDocument(rows: readonly Operation[], basePath = ''): Members {
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
      { url: basePath === '' ? '/' : basePath, description: 'The server that this document came from.' },
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
      description: 'The error.',
      required: ['code', 'message', 'details', 'request_id'],
      // Some codes add members, such as the position of a query's error or a suggestion.
      additionalProperties: true,
      properties: {
        code: { type: 'string', pattern: '^[A-Z]{3}-E[0-9]{3}$', description: 'Error code.' },
        message: described(TEXT, 'The fault, after the code.'),
        details: {
          type: 'array',
          description: 'Members of the request that are wrong.',
          items: {
            type: 'object',
            required: ['field', 'issue'],
            properties: {
              field: described(TEXT, 'Member of the request, as it was sent.'),
              issue: described(TEXT, 'The fault of the member.'),
            },
          },
        },
        request_id: described(TEXT, 'Id of the request, as in x-request-id.'),
      },
    },
  },
};

const SCOPE_NODE: Members = {
  type: 'object',
  required: ['name'],
  properties: {
    name: described(TEXT, 'Name of the scope, unique among its siblings.'),
    children: {
      type: 'array',
      items: { $ref: '#/components/schemas/ScopeNode' },
      description: 'Scopes below this one.',
    },
  },
};

function isMemory({ on }: Operation, name: string): boolean {
  return on === 'memory' && name === 'id';
}

function operationObject(row: Operation, face: HttpRow): Members {
  const { properties = {} } = outsideSchema(row.input) as { readonly properties?: Members | undefined };
  const inPath = [...fullPath(face.path).matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return {
    operationId: row.name,
    summary: row.summary,
    tags: [tagOf(row.name)],
    ...defined({ security: row.needs === 'public' ? [] : undefined }),
    description: `${row.description} ${row.needs === 'public' ? 'Needs no key.' : `Needs a key${SCOPES[row.needs]}.`}`,
    parameters: [
      ...inPath.map((name) => ({
        name,
        in: 'path',
        required: true,
        description: isMemory(row, name) ? 'Id of the memory.' : descriptionOf(properties[name]),
        example: isMemory(row, name) ? 'default' : row.example[name],
        schema: name === 'hash' ? HASH : { type: 'string', minLength: 1 },
      })),
      ...queryParameters(row, face, inPath),
      ...(row.mutates && face.verb === 'POST' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...requestBody(row, face, inPath),
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

function successes(row: Operation, face: HttpRow): Members {
  const answers = face.answers ?? { 'application/json': outsideSchema(row.output) };
  const content = Object.fromEntries(
    Object.entries(answers).map(([type, schema]) => {
      const isJson = type === 'application/json';
      return [type, { schema: shown(isJson && row.name !== 'openapi' ? withWarnings(schema) : schema) }];
    }),
  );
  const others = Object.entries(face.otherStatuses).map(([status, description]) => [
    status,
    defined({ description, content: status === '304' ? undefined : content }),
  ]);
  return { [String(face.successStatus)]: { description: 'Done.', content }, ...Object.fromEntries(others) };
}

/** Error codes of the row: its own and those common to its kind. */
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

/** One response for each status of the row's error codes, and a default response for other errors. */
function errorResponses(row: Operation, face: HttpRow): Members {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codesOf(row, face)) {
    const { http } = STATUS[code];
    byStatus.set(http, (byStatus.get(http) ?? new Set()).add(code));
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const responses = [...byStatus]
    .toSorted(([a], [b]) => a - b)
    .map(([status, codes]) => [
      String(status),
      { description: [...codes].map((code) => `${code}: ${ERROR_MEANINGS[code]}.`).join(' '), content },
    ]);
  return { ...Object.fromEntries(responses), default: { description: 'Another error of the contract.', content } };
}

const WARNINGS = described(listOf(TEXT), 'Members of the request that were ignored, and other notes.');

/** Adds `warnings`, which any answer may have, to the schema. */
function withWarnings(schema: Members): Members {
  const { properties, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: anyOf.map((one: Members) => withWarnings(one)) };
  if (!isMembers(properties) || properties['warnings'] !== undefined) return schema;
  return { ...schema, properties: { ...properties, warnings: WARNINGS } };
}

const GRAIN_TYPES: Members = { enum: [...GRAIN_TYPE_NAMES] };
const SEVERITY: Members = { enum: [...SEVERITIES] };

/** Schemas of members that mean the same wherever they occur, by name. */
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
  type_counts: objectOf(
    Object.fromEntries(GRAIN_TYPE_NAMES.map((name) => [name, described(COUNT, `Number of ${name} grains.`)])),
  ),
  by_namespace: {
    type: 'object',
    additionalProperties: objectOf({
      expired: described(COUNT, 'Number of grains that have expired.'),
      forgotten: described(COUNT, 'Number of grains that were removed; for a dry run, that would be.'),
      held: described(COUNT, 'Number of expired grains that a legal hold or a restriction keeps.'),
    }),
  },
  by_mode: COUNTS,
  by_exclusion: COUNTS,
  excluded_counts: COUNTS,
  children: { type: 'array', items: { $ref: '#/components/schemas/ScopeNode' } },
};

/** Replaces the plain schemas of known members (`KNOWN`) by their exact ones, at every level. */
function shown(node: Members): Members {
  const copy: Members = { ...node };
  const { properties, items, anyOf } = node;
  if (isMembers(properties))
    copy['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, child]) => [name, isMembers(child) ? member(name, child) : child]),
    );
  if (isMembers(items)) copy['items'] = shown(items);
  else if (node['type'] === 'array') copy['items'] = {};
  if (Array.isArray(anyOf)) copy['anyOf'] = anyOf.map((one: unknown) => (isMembers(one) ? shown(one) : one));
  return copy;
}

function member(name: string, schema: Members): Members {
  const known = KNOWN[name];
  const { description, default: fallback, ...rest } = schema;
  const isPlain = Object.keys(rest).length === 1 && rest['type'] === (known?.['type'] ?? 'string');
  if (known === undefined || !isPlain) return shown(schema);
  return {
    ...known,
    ...defined({ description, default: fallback }),
  };
}

/** Members of the input that the part of an upload gives. */
const OF_FILE: readonly string[] = ['bytes', 'file_name'];

function queryParameters(row: Operation, face: HttpRow, inPath: readonly string[]): Members[] {
  const isUpload = face.body === 'file';
  if (isUpload ? !face.takesQuery : face.body === 'json' && face.verb !== 'DELETE') return [];
  const { properties } = outsideSchema(row.input);
  if (!isMembers(properties)) return [];
  const required = new Set(nodeOf(row.input).required?.map(toSnake));
  const elsewhere = new Set([...inPath, ...(isUpload ? OF_FILE : [])]);
  return Object.entries(properties)
    .filter(([name]) => !elsewhere.has(name))
    .map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.has(name),
      ...defined({ example: exampleOf(schema, row.example[name]) }),
      ...parameterSchema(name, schema),
    }));
}

/** A list that an example gives as a text with commas is a list in the document. */
function exampleOf(schema: unknown, example: unknown): unknown {
  const isList = isMembers(schema) && schema['type'] === 'array';
  return isList && typeof example === 'string' ? example.split(',') : example;
}

/** Puts the description beside the schema, where OpenAPI tools read it. */
function parameterSchema(name: string, schema: unknown): Members {
  if (!isMembers(schema)) return { schema };
  const { description, ...rest } = member(name, schema);
  return { description, schema: rest };
}

function descriptionOf(schema: unknown): unknown {
  return isMembers(schema) ? schema['description'] : undefined;
}

function requestBody(row: Operation, face: HttpRow, inPath: readonly string[]): Members {
  // The server reads members from a DELETE body, but HTTP defines no meaning for one, so the document omits it.
  if (face.body === 'none' || face.verb === 'DELETE') return {};
  if (face.body === 'file')
    return {
      requestBody: {
        required: true,
        content: {
          'multipart/form-data': {
            schema: {
              type: 'object',
              required: ['file'],
              properties: { file: { type: 'string', format: 'binary', description: 'The file to store.' } },
            },
          },
        },
      },
    };
  const elsewhere = new Set(inPath.filter((name) => !isMemory(row, name)));
  const bodySchema = face.bodySchema ?? withoutMembers(outsideSchema(row.input), elsewhere);
  const required = (nodeOf(row.input).required ?? []).filter((name) => !elsewhere.has(toSnake(name)));
  return {
    requestBody: {
      required: required.length > 0,
      content: { 'application/json': { schema: shown(bodySchema), example: bodyExample(row, bodySchema) } },
    },
  };
}

/** The schema of an object without some of its members. */
function withoutMembers(schema: Members, names: ReadonlySet<string>): Members {
  const { properties, required } = schema;
  if (!isMembers(properties)) return schema;
  const kept = Array.isArray(required) ? required.filter((name) => !names.has(String(name))) : [];
  const { required: _, ...rest } = schema;
  return {
    ...rest,
    ...defined({ required: kept.length === 0 ? undefined : kept }),
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.has(name))),
  };
}

/** The example without the members that stand in the path alone. */
function bodyExample({ example }: Operation, schema: Members): Members {
  const { properties } = schema as { readonly properties?: Members }; // the schema of an object
  return Object.fromEntries(Object.entries(example).filter(([name]) => properties === undefined || name in properties));
}
