// Errors for refused fields. Messages name the field and the kind of value, but never quote the value: it may be personal data.
import { EngineError } from '../../base/errors.ts';

/** VAL-E003: a required field is absent. */
export function missingField(field: string): EngineError {
  return new EngineError('VAL-E003', `missing field \`${field}\``, { details: [{ field, issue: 'required' }] });
}

/** VAL-E003: a value of the wrong JSON type. `expected` includes the article, as in "a string". */
export function invalidType(field: string, value: unknown, expected: string): EngineError {
  return new EngineError('VAL-E003', `invalid type: ${kindOf(value)}, expected ${expected} for \`${field}\``, {
    details: [{ field, issue: `expected ${expected}` }],
  });
}

/** VAL-E001: the right type, but a value, a length or a combination that is not allowed. */
export function outOfRange(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\` ${issue}`, { details: [{ field, issue }] });
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'floating point number';
  if (typeof value === 'bigint') return 'integer';
  return typeof value === 'object' ? 'map' : typeof value;
}
