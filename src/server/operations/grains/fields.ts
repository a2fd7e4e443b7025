// Converts a request's body to a grain's fields, from the flat or nested shape, with their precedence (service contract, 1).
import { EngineError } from '../../../engine/base/errors.ts';
import { GRAIN_FIELDS_MAX } from '../../../engine/base/limits.ts';
import { COMMON_NAMES } from '../../../engine/grain/api/names.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { isMembers, type Members } from '../names.ts';
import { Type } from '../type.ts';
import { type FindUnknown, slippedFields, unknownMember } from '../unknown-members.ts';

/** A grain's own fields: open JSON whose names stay unchanged. */
export const Fields = Type.Unsafe<JsonObject>({ type: 'object' });

/**
 * Fields of every grain type (service contract 4.1) that a caller may set. They may occur outside `fields`, where they
 * override those inside.
 */
export const COMMON_FIELDS: ReadonlySet<string> = new Set([...COMMON_NAMES].filter((name) => name !== 'superseded_by'));

/**
 * The fields of a body. Nested (with `fields`): the members of `fields` and the outer common fields; the outer value of a
 * member in both places wins. Flat: every key outside the `envelope`. Throws VAL-E003 if `fields` is not an object.
 */
export function fieldsOf(body: Members, envelope: ReadonlySet<string>): JsonObject {
  checkCount(body);
  const nested = body['fields'];
  if (nested === undefined || nested === null) return picked(body, (key) => !envelope.has(key) && key !== 'fields');
  if (!isMembers(nested)) throw mistyped('fields', 'object');
  checkCount(nested);
  const outer = picked(body, (key) => COMMON_FIELDS.has(key) || (Object.hasOwn(nested, key) && !envelope.has(key)));
  return { ...(nested as JsonObject), ...outer }; // JSON, as it was parsed
}

/**
 * Finds outer members of a nested body that would be dropped: not in the envelope, not common fields, and not in `fields`
 * too. A flat body has none, because every key outside the envelope is a field.
 */
export function unknownOutsideFields(envelope: ReadonlySet<string>): FindUnknown {
  const known = ['fields', ...envelope, ...COMMON_FIELDS];
  const names = new Set(known);
  return (body, into) => {
    if (!isMembers(body)) return;
    const nested = body['fields'];
    if (!isMembers(nested)) return;
    for (const name in body)
      if (!names.has(name) && body[name] !== null && !Object.hasOwn(nested, name))
        into.push(unknownMember(name, known, into.length));
  };
}

/** Finds misspelt common fields among an input's `fields`. */
export const findInFields: FindUnknown = (input, into) => {
  // A plain item (engine/grain/plain) has fields of the contract only. They are not its own: it makes them when asked.
  if (isMembers(input) && Object.hasOwn(input, 'fields') && isMembers(input['fields']))
    slippedFields(input['fields'], into);
};

/** Limits the number of fields first, because the later steps cost time for each field. */
function checkCount(fields: Members): void {
  if (Object.keys(fields).length <= GRAIN_FIELDS_MAX) return;
  const issue = `holds more than ${GRAIN_FIELDS_MAX} fields`;
  throw new EngineError('VAL-E001', `\`fields\` ${issue}`, { details: [{ field: 'fields', issue }] });
}

function picked(body: Members, wanted: (key: string) => boolean): JsonObject {
  const fields = Object.entries(body).filter(([key]) => wanted(key));
  return Object.fromEntries(fields) as JsonObject; // JSON, as it was parsed; fromEntries defines own properties only
}

/** The parsed body as an object. Throws VAL-E002 for an empty body, VAL-E003 for another type. */
export function bodyOf(json: unknown): Members {
  if (json === undefined) throw new EngineError('VAL-E002', 'the body is empty: send a JSON object');
  if (!isMembers(json)) throw mistyped('body', 'object');
  return json;
}

export function missing(field: string): EngineError {
  return new EngineError('VAL-E003', `missing field \`${field}\``, { details: [{ field, issue: 'required' }] });
}

export function mistyped(field: string, wanted: string): EngineError {
  return new EngineError('VAL-E003', `invalid type for \`${field}\`: expected ${wanted}`, {
    details: [{ field, issue: `invalid type, expected ${wanted}` }],
  });
}

/** A string member, undefined when absent or null. Throws VAL-E003 for another type. */
export function textMember(body: Members, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw mistyped(name, 'string');
  return value;
}
