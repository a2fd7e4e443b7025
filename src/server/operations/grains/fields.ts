// How a request's body becomes a grain's fields: the flat and the nested shape, and what wins (service contract, 1).
import { EngineError } from '../../../engine/base/errors.ts';
import { GRAIN_FIELDS_MAX } from '../../../engine/base/limits.ts';
import { COMMON_NAMES } from '../../../engine/grain/api/names.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { isMembers, type Members } from '../names.ts';
import { Type } from '../type.ts';
import { type FindUnknown, slippedFields, unknownMember } from '../unknown-members.ts';

/** A grain's own fields: open JSON whose names are never changed. */
export const Fields = Type.Unsafe<JsonObject>({ type: 'object' });

/**
 * Fields that every grain type has (service contract 4.1) and a caller may set; they may stand beside `fields`, and win
 * there.
 */
export const COMMON_FIELDS: ReadonlySet<string> = new Set([...COMMON_NAMES].filter((name) => name !== 'superseded_by'));

/**
 * The fields of a body. With `fields` in it (nested) those, plus the common fields beside them and whatever else stands
 * in both places: the outer value wins. Without (flat) every key that is not of the `envelope`. Throws VAL-E003 when
 * `fields` is no object.
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
 * Finds members of a nested body that are neither of the envelope nor common fields, nor also within `fields`: they would be
 * dropped. A flat body has none, as every other key of it is a field.
 */
export function unknownBesideFields(envelope: ReadonlySet<string>): FindUnknown {
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

/** Finds slips among the extra fields of an input's `fields`. */
export const findInFields: FindUnknown = (input, into) => {
  if (isMembers(input) && isMembers(input['fields'])) slippedFields(input['fields'], into);
};

/** Before anything walks them: most of what follows costs by the field. */
function checkCount(fields: Members): void {
  if (Object.keys(fields).length <= GRAIN_FIELDS_MAX) return;
  const issue = `holds more than ${GRAIN_FIELDS_MAX} fields`;
  throw new EngineError('VAL-E001', `\`fields\` ${issue}`, { details: [{ field: 'fields', issue }] });
}

function picked(body: Members, wanted: (key: string) => boolean): JsonObject {
  const fields = Object.entries(body).filter(([key]) => wanted(key));
  return Object.fromEntries(fields) as JsonObject; // JSON, as it was parsed; fromEntries defines own properties only
}

/** The body as an object, or throws: a body that is not JSON never came this far. */
export function bodyOf(json: unknown): Members {
  if (json === undefined) throw new EngineError('VAL-E002', 'the body is empty: JSON is wanted');
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
