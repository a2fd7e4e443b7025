// WHERE: each condition's field, operator and values, and what the conditions say together.
import type { Condition, Extractor, Recall, Value } from '../ast.ts';
import { CalError } from '../errors.ts';
import { didYouMean, joined } from '../parser/spelling.ts';
import { DOMAIN_PROFILES, type Field, type Operator } from '../vocabulary/fields.ts';
import type { CalGrainType } from '../vocabulary/grain-types.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { KNOWN_RELATIONS } from '../vocabulary/relations.ts';
import { type DomainField, resolveField } from './fields.ts';
import { checkLiteral } from './literals.ts';
import type { Scope } from './scope.ts';

interface Place {
  readonly type: CalGrainType | undefined;
  readonly scope: Scope;
  /** Checks a subquery, one deeper. */
  readonly subquery: (recall: Recall, extract: Extractor) => void;
}

export function checkConditions(conditions: readonly Condition[], place: Place): void {
  const prefixes = new Set<string>();
  for (const condition of conditions) {
    const field = resolveField(condition.field, place.type);
    if (field.type === 'domain') prefixes.add(field.prefix);
    checkCondition(condition, field, place);
  }
  for (const prefix of prefixes) warnOfProfile(prefix, conditions, place.scope);
}

function checkCondition(condition: Condition, field: Field | DomainField, { scope, subquery }: Place): void {
  const { at } = condition;
  if (condition.op === 'is' && field.name !== 'relation')
    throw new CalError('CAL-E002', `IS compares relations with categories, and ${field.name} is no relation`, {
      at,
      expected: field.operators,
    });
  const operator = condition.op.toUpperCase() as Operator; // The tree's words are those of the tables, in lower case.
  if (!field.operators.includes(operator))
    throw new CalError('CAL-E020', `${field.name} does not take ${operator}`, {
      at,
      suggestion: `${field.name} takes ${joined(field.operators)}.`,
      validValues: field.operators,
    });
  switch (condition.op) {
    case 'is':
      return;
    case 'between':
      for (const value of condition.value) checkLiteral(field, value, { scope });
      return;
    case 'in':
      if ('recall' in condition) {
        subquery(condition.recall, condition.extract);
        return;
      }
      checkCount(condition.values.length, condition);
      for (const value of condition.values) checkLiteral(field, value, { scope, inList: true });
      warnOfRelations(field, condition.values, scope);
      return;
    case 'include':
    case 'exclude':
      if (condition.values.length === 0)
        throw new CalError('CAL-E002', `${operator} of nothing`, { at, expected: ['a value'] });
      checkCount(condition.values.length, condition);
      for (const value of condition.values) {
        if (value.kind === 'parameter') scope.expect(value, ['user'], 'an array takes single strings');
        else checkLiteral(field, value, { scope });
      }
      return;
    default:
      checkLiteral(field, condition.value, { scope });
      warnOfRelations(field, [condition.value], scope);
  }
}

function checkCount(count: number, { at }: Condition): void {
  if (count === 0) throw new CalError('CAL-E002', 'IN of nothing', { at, expected: ['a value'] });
  if (count > CAL_LIMITS.inValuesMax)
    throw new CalError('CAL-E011', `the list has ${count} values, and ${CAL_LIMITS.inValuesMax} are the most`, { at });
}

/** W001: a relation in the prefix of the standard that the standard does not have is likely a slip. */
function warnOfRelations(field: Field | DomainField, values: readonly Value[], scope: Scope): void {
  if (field.name !== 'relation') return;
  for (const value of values) {
    if (value.kind !== 'string' || !value.value.startsWith('mg:') || KNOWN_RELATIONS.has(value.value)) continue;
    const meant = didYouMean(value.value, KNOWN_RELATIONS);
    scope.warn('CAL-W001', `unknown relation ${value.value}${meant === undefined ? '' : `. ${meant}`}`);
  }
}

/** W002: data of a domain carries the tag of its profile. */
function warnOfProfile(prefix: string, conditions: readonly Condition[], scope: Scope): void {
  const tag = `profile:${DOMAIN_PROFILES.get(prefix)!}`;
  const asked = conditions.some(
    (condition) =>
      condition.field.word === 'tags' &&
      condition.op === 'include' &&
      condition.values.some((value) => value.kind === 'string' && value.value === tag),
  );
  if (!asked)
    scope.warn('CAL-W002', `fields of ${prefix}: belong to grains with the tag ${tag}; add tags INCLUDE ["${tag}"]`);
}
