// Checks answers against the OpenAPI document.
import assert from 'node:assert/strict';
import { openApiDocument } from '../../src/server/operations/openapi.ts';
import { OPERATIONS } from '../../src/server/operations/table.ts';
import { faultsIn } from '../support/json-schema.ts';

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: Record<string, unknown> }>>;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Response>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

/** The document as it goes over the wire. */
export const DOCUMENT = JSON.parse(JSON.stringify(openApiDocument(OPERATIONS))) as OpenApi;

interface Pattern {
  readonly segments: readonly string[];
  readonly item: OpenApi['paths'][string];
}

const PATTERNS: readonly Pattern[] = Object.entries(DOCUMENT.paths).map(([path, item]) => ({
  segments: path.split('/'),
  item,
}));

/** The operation that a path (under /api, maybe with a query) leads to; text wins over a name. */
export function operationAt(method: string, path: string): DescribedOperation | undefined {
  const segments = `/api${path.split('?')[0]}`.split('/');
  const fitting = PATTERNS.filter(
    (pattern) =>
      pattern.segments.length === segments.length &&
      pattern.segments.every((one, at) => one === segments[at] || one.startsWith('{')) &&
      pattern.item[method.toLowerCase()] !== undefined,
  );
  const [best] = fitting.toSorted((a, b) => names(a) - names(b));
  return best?.item[method.toLowerCase()];
}

const names = ({ segments }: Pattern): number => segments.filter((one) => one.startsWith('{')).length;

/** Operations whose answers were checked, by id. */
export const CHECKED = new Set<string>();

/** Fails when the document does not describe the answer. */
export function checkAgainstOpenApi(
  method: string,
  path: string,
  reply: { readonly status: number; readonly headers: Headers; readonly json: unknown },
): void {
  const operation = operationAt(method, path);
  if (operation === undefined) return;
  const where = `${method} ${path} (${reply.status})`;
  const response = operation.responses[String(reply.status)] ?? operation.responses['default'];
  const isSuccess = reply.status < 400;
  assert.ok(response !== undefined && (!isSuccess || operation.responses[String(reply.status)]), `${where}: status`);
  if (response.content === undefined) return;
  const type = (reply.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
  const described = response.content[type];
  assert.ok(described !== undefined, `${where}: ${type} is not described`);
  if (type === 'application/json')
    assert.deepEqual(faultsIn(DOCUMENT, described.schema, reply.json), [], `${where} is not as described`);
  if (isSuccess) CHECKED.add(operation.operationId);
}
