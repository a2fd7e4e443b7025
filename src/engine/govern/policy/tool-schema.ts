// Limits of a tool definition's input and output schemas: the part of JSON Schema that every model service accepts, and
// no personal data, since a definition belongs to no person and no erasure finds it.
import { EngineError, type ErrorCode } from '../../base/errors.ts';
import { TOOL_PATTERN_CHARS_MAX, TOOL_SCHEMA_DEPTH_MAX } from '../../base/limits.ts';
import type { PiiCategory } from '../../text/pii/categories.ts';
import { piiDetector } from '../../text/pii/detector.ts';

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'type properties required enum const default examples title description format pattern items additionalProperties ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems ' +
    'minProperties maxProperties'
  ).split(' '),
);
const FORMATS: ReadonlySet<unknown> = new Set(['date-time', 'date', 'time', 'email', 'uri', 'uuid']);
const SCHEMAS = ['input_schema', 'output_schema'] as const;
/** Categories that identify nobody by themselves and are common in schemas. */
const HARMLESS: ReadonlySet<PiiCategory> = new Set<PiiCategory>(['date', 'url', 'city_state', 'zip_code']);

const detector = piiDetector();

type Fields = Readonly<Record<string, unknown>>;

/** True for the fields of an action that defines a tool, under the names of a request or of the grain format. */
export function isToolDefinition({ kind, action_phase: phase, tool_phase: older }: Fields): boolean {
  return kind === 'definition' || phase === 'definition' || older === 'definition';
}

/** Throws MEM-E101 to MEM-E106, with the place in `details`. Absent members are not checked. */
export function checkToolDefinition(fields: Fields): void {
  checkToolShape(fields);
  for (const name of SCHEMAS) checkTexts(fields[name], name);
}

/** The same without the search for personal data (MEM-E104), which takes longer. */
export function checkToolShape(fields: Fields): void {
  const { annotations } = fields;
  if (isMap(annotations) && annotations['read_only'] === true && annotations['destructive'] === true)
    throw refused('MEM-E103', 'annotations');
  for (const name of SCHEMAS) {
    const schema = fields[name];
    if (schema === undefined || schema === null) continue;
    if (!isMap(schema) || schema['type'] !== 'object') throw refused('MEM-E101', name);
    checkSchema(schema, name, 0);
  }
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

function checkSchema(schema: unknown, path: string, depth: number): void {
  if (depth > TOOL_SCHEMA_DEPTH_MAX) throw refused('MEM-E105', path);
  // `true` and `false` are schemas too.
  if (!isMap(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const where = `${path}.${keyword}`;
    if (!KEYWORDS.has(keyword)) throw refused('MEM-E102', where);
    if (keyword === 'format' && !FORMATS.has(value)) throw refused('MEM-E102', where);
    if (keyword === 'pattern' && !isPattern(value)) throw refused('MEM-E106', where);
    if (keyword === 'properties' && isMap(value))
      for (const [name, property] of Object.entries(value)) checkSchema(property, `${where}.${name}`, depth + 1);
    if (keyword === 'items' || keyword === 'additionalProperties')
      for (const one of Array.isArray(value) ? value : [value]) checkSchema(one, where, depth + 1);
  }
}

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > TOOL_PATTERN_CHARS_MAX) return false;
  try {
    new RegExp(value, 'u');
    return true;
  } catch {
    return false;
  }
}

/** Checks every text of a schema, names of properties included. */
function checkTexts(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (detector.detect(value).some(({ category }) => !HARMLESS.has(category))) throw refused('MEM-E104', path);
  } else if (Array.isArray(value)) {
    for (const one of value) checkTexts(one, path);
  } else if (isMap(value))
    for (const [name, member] of Object.entries(value)) {
      checkTexts(name, path);
      checkTexts(member, `${path}.${name}`);
    }
}

/** The place is truncated, because the caller chose the names in it. */
function refused(code: ErrorCode, path: string): EngineError {
  const field = path.split('.', 1)[0] ?? path;
  return new EngineError(code, undefined, { details: [{ field, issue: `at ${path.slice(0, 200)}` }] });
}
