// Checks a value against its field: the type and, for fields with a closed set of words, the word.

import type { QueryField } from '../../grain/types/query-field.ts';
import type { Value } from '../ast.ts';
import { CalError, NOT_A_TIME } from '../errors.ts';
import { unknownType } from '../parser/recall.ts';
import { didYouMean, joined } from '../parser/spelling.ts';
import { spanOf } from '../run/time.ts';
import { typeOfSingular } from '../vocabulary/grain-types.ts';
import type { DomainField } from './fields.ts';
import type { Scope } from './scope.ts';

/** Any moment will do: whether a time expression is valid does not depend on the current time. */
const ANY_TIME_MS = 1_750_000_000_000;

interface Place {
  readonly scope: Scope;
  /** True inside IN ( … ), where a parameter may hold a list. */
  readonly inList?: boolean;
}

/** Throws E020 if `value` has the wrong type for `field`, E003 or the field's own code for an unknown word. */
export function checkLiteral(field: QueryField | DomainField, value: Value, place: Place): void {
  if (value.kind === 'parameter') {
    checkParameter(field, value, place);
    return;
  }
  switch (field.type) {
    case 'string':
      if (value.kind !== 'string') throw mismatch(field, value, 'a string');
      return;
    case 'enum':
      if (value.kind !== 'string') throw mismatch(field, value, 'a string');
      checkWord(field, value);
      return;
    case 'grain_type':
      if (value.kind !== 'string') throw mismatch(field, value, 'the singular of a grain type, in quotes');
      if (typeOfSingular(value.value) === undefined) throw unknownType(value.value, { plural: false, at: value.at });
      return;
    case 'number':
    case 'boolean':
      if (value.kind !== field.type)
        throw mismatch(field, value, field.type === 'number' ? 'a number' : 'true or false');
      return;
    case 'temporal':
      checkTime(field.name, value);
      return;
    case 'hash':
      // `depends_on` also accepts a string, because it is stored as one.
      if (value.kind !== 'hash' && (field.name === 'hash' || value.kind !== 'string'))
        throw mismatch(field, value, 'a hash: sha256: and its digits, without quotes');
      return;
    case 'array':
      if (value.kind !== 'string') throw mismatch(field, value, 'a string');
      return;
    case 'domain':
      if (value.kind === 'array' || value.kind === 'hash')
        throw mismatch(field, value, 'a string, a number or a boolean');
      return;
  }
}

function checkParameter(
  field: QueryField | DomainField,
  value: Value & { readonly kind: 'parameter' },
  { scope, inList = false }: Place,
): void {
  const text = field.type === 'string' || field.type === 'domain';
  if (inList) {
    scope.expect(
      value,
      text || field.type === 'hash' ? ['user', 'subjects', 'objects', 'hashes'] : [],
      `${field.name} takes ${field.type}s`,
    );
    return;
  }
  if (field.type === 'hash') scope.expect(value, ['hashes'], `${field.name} takes a hash`);
  else scope.expect(value, text ? ['user'] : [], `${field.name} is compared with one value; use IN ( … ) for a list`);
}

/** Throws E020 if the value of a clause is no valid time, E008 if it is an unbound parameter. */
export function checkMoment(clause: string, value: Value, scope: Scope): void {
  if (value.kind === 'parameter') scope.expect(value, [], `${clause} takes a time`);
  checkTime(clause, value);
}

function checkTime(name: string, value: Value): void {
  if (value.kind !== 'string' && value.kind !== 'number') throw mismatch({ name }, value, 'a time');
  if (spanOf(value.value, ANY_TIME_MS) !== undefined) return;
  throw new CalError('CAL-E020', `${name}: ${JSON.stringify(value.value)} ${NOT_A_TIME}`, {
    at: value.at,
    suggestion: 'Write an ISO 8601 date, epoch seconds, today, yesterday, last 7 days, 3 hours ago or this month.',
    example: '"last 7 days"',
  });
}

function checkWord(field: QueryField | DomainField, value: Value & { readonly kind: 'string' }): void {
  const { values, badValue } = field;
  if (values === undefined || badValue === undefined || values.includes(value.value)) return;
  throw new CalError(badValue, `${field.name} is never ${JSON.stringify(value.value)}`, {
    at: value.at,
    suggestion: didYouMean(value.value, values) ?? `Use ${joined(values)}.`,
    validValues: values,
  });
}

function mismatch(field: Pick<QueryField, 'name'>, value: Value, wanted: string): CalError {
  return new CalError('CAL-E020', `${field.name} takes ${wanted}, not ${NAMES[value.kind]}`, { at: value.at });
}

const NAMES: Readonly<Record<Value['kind'], string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  array: 'an array',
  hash: 'a hash',
  parameter: 'a parameter',
};
