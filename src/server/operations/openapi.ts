// The OpenAPI 3.1 document, made of the table: its schemas are the rows' own, under their outside names.
import Type from 'typebox';
import { ERROR_MEANINGS } from '../../engine/errors.ts';
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../engine/limits.ts';
import { VERSION } from '../version.ts';
import { defineOperation, type HttpRow, type Operation } from './define.ts';
import { isMembers, type Members, nodeOf, outsideSchema, toSnake } from './names.ts';

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
    output: Type.Unsafe<Members>({ type: 'object' }),
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

export function openApiDocument(rows: readonly Operation[]): Members {
  const paths: Record<string, Members> = {};
  for (const row of rows)
    for (const face of row.http) {
      const path = `/api${fullPath(face.path)}`;
      paths[path] = { ...paths[path], [face.verb.toLowerCase()]: operationObject(row, face) };
    }
  return {
    openapi: '3.1.0',
    info: { title: 'Granary', version: VERSION, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: ERROR_SCHEMA },
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

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'details', 'request_id'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        details: {
          type: 'array',
          items: { type: 'object', properties: { field: { type: 'string' }, issue: { type: 'string' } } },
        },
        request_id: { type: 'string' },
      },
    },
  },
};

function operationObject(row: Operation, face: HttpRow): Members {
  const inPath = [...fullPath(face.path).matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return {
    operationId: row.name,
    summary: row.summary,
    ...(row.needs === 'public' ? { security: [] } : { description: `Needs: ${row.needs}.` }),
    parameters: [
      ...inPath.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...(face.body === 'none' || face.verb === 'DELETE' ? queryParameters(row, inPath) : []),
      ...(row.mutates && face.verb === 'POST' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...requestBody(row, face),
    responses: {
      [String(face.successStatus)]: {
        description: 'Done.',
        content: face.answersBytes
          ? { 'application/octet-stream': {} }
          : {
              'application/json': {
                schema: face.customWrite ? { type: 'object' } : withWarnings(outsideSchema(row.output)),
              },
            },
      },
      default: {
        description: errorsText(row),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

/** Any answer tells what its request brought beside what the row knows. */
function withWarnings(schema: Members): Members {
  const { properties } = schema;
  if (!isMembers(properties) || properties['warnings'] !== undefined) return schema;
  return { ...schema, properties: { ...properties, warnings: { type: 'array', items: { type: 'string' } } } };
}

function errorsText(row: Operation): string {
  return ['An error of the contract.', ...row.errors.map((code) => `${code}: ${ERROR_MEANINGS[code]}.`)].join(' ');
}

function queryParameters(row: Operation, inPath: readonly string[]): Members[] {
  const { properties } = outsideSchema(row.input);
  if (!isMembers(properties)) return [];
  const required = new Set(nodeOf(row.input).required?.map(toSnake));
  return Object.entries(properties)
    .filter(([name]) => !inPath.includes(name))
    .map(([name, schema]) => ({ name, in: 'query', required: required.has(name), schema }));
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
      content: { 'application/json': { schema: face.bodySchema ?? outsideSchema(row.input) } },
    },
  };
}
