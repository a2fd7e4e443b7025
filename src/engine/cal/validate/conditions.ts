// Checks WHERE: the field, operator and values of each condition, and the conditions as a whole.

import type { Extractor } from '../../calls/cal.ts';
import type { GrainType } from '../../grain/grain.ts';
import type { Operator, QueryField } from '../../grain/types/query-field.ts';
import {
  type Condition,
  type FieldCondition,
  fieldConditions,
  isJunction,
  type Recall,
  type Value,
  type Word,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import { didYouMean, joined } from '../parser/spelling.ts';
import type { ExtensionName } from '../vocabulary/extensions.ts';
import { DOMAIN_PROFILES, fieldNamed, TIME_ALIAS } from '../vocabulary/fields.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { KNOWN_RELATIONS } from '../vocabulary/relations.ts';
import { type DomainField, resolveField } from './fields.ts';
import { checkLiteral } from './literals.ts';
import type { Scope } from './scope.ts';

interface Place {
  readonly type: GrainType | undefined;
  readonly scope: Scope;
  /** Checks a subquery, one level deeper. */
  readonly subquery: (recall: Recall, extract: Extractor) => void;
}

export function checkConditions(conditions: readonly Condition[], place: Place): void {
  const prefixes = new Set<string>();
  const all = fieldConditions(conditions);
  checkJunctions(conditions, all.length, place.scope);
  const alone = new Set<Condition>(conditions);
  for (const condition of all) {
    const field = resolveField(aliased(condition.field, place.scope), place.type);
    if (field.type === 'domain') prefixes.add(field.prefix);
    if (!alone.has(condition)) checkInJunction(condition, field);
    checkCondition(condition, field, place);
  }
  for (const prefix of prefixes) warnOfProfile(prefix, conditions, place.scope);
}

/** Maximum number of conditions under OR, NOT and parentheses, because each may have to open grains. */
const JUNCTION_CONDITIONS_MAX = 64;

/** Throws E002 for too many conditions under OR, NOT and parentheses. */
function checkJunctions(conditions: readonly Condition[], count: number, scope: Scope): void {
  const first = conditions.find(isJunction);
  if (first === undefined) return;
  scope.extensions.use('boolean', first.at);
  if (count > JUNCTION_CONDITIONS_MAX)
    throw new CalError(
      'CAL-E002',
      `${count} conditions are joined with OR and NOT; the limit is ${JUNCTION_CONDITIONS_MAX}`,
      {
        at: first.at,
        suggestion: 'Write several values of one field as IN ( … ).',
      },
    );
}

/** Resolves the alias `created_at` in a condition or an order, and records it as an extension. */
export function aliased(word: Word, scope: Scope): Word {
  if (word.word !== TIME_ALIAS) return word;
  scope.extensions.use('created_at', word.at);
  return { ...word, word: fieldNamed(word.word) };
}

/** Throws E020 for `score` and search fields. They apply to the whole search and cannot be part of one branch. */
function checkInJunction({ at }: FieldCondition, field: QueryField | DomainField): void {
  if (field.name !== 'score' && !('search' in field && field.search === true)) return;
  const name = field.name === 'query' ? 'query' : field.name;
  throw new CalError('CAL-E020', `${name} ranks the results, so it cannot be part of OR or NOT`, {
    at,
    suggestion: `Join it by AND, outside of parentheses, or search each alternative with UNION.`,
  });
}

function checkCondition(condition: FieldCondition, field: QueryField | DomainField, { scope, subquery }: Place): void {
  const { at } = condition;
  if (condition.op === 'is' && field.name !== 'relation')
    throw new CalError('CAL-E002', `IS compares relations with categories, but ${field.name} is not a relation`, {
      at,
      expected: field.operators,
    });
  const operator = condition.op.toUpperCase().replace('_', ' ') as Operator; // The tree's operators are the tables' words.
  if (!field.operators.includes(operator)) checkExtended(condition, field, scope);
  switch (condition.op) {
    case 'is':
      return;
    case 'between':
      for (const value of condition.value) checkLiteral(field, value, { scope });
      return;
    case 'in':
    case 'not_in':
      if ('recall' in condition) {
        if (field.type === 'temporal' || field.type === 'number' || field.type === 'boolean')
          throw new CalError('CAL-E020', `${field.name} takes ${field.type}s, but a subquery returns strings`, { at });
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
        throw new CalError('CAL-E002', `${operator} has no values`, { at, expected: ['a value'] });
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

/** Records an operator that only this server accepts for the field. Throws E020 for any other operator. */
function checkExtended(condition: FieldCondition, field: QueryField | DomainField, scope: Scope): void {
  const { op, at } = condition;
  const used = scope.extensions.isStrict && op !== 'not_in' ? [] : extensionsOf(condition, field);
  for (const name of used) scope.extensions.use(name, at);
  if (used.length > 0) return;
  const suggestion = extendedHint(condition, field);
  throw new CalError('CAL-E020', `${field.name} does not take ${op.toUpperCase().replace('_', ' ')}`, {
    at,
    suggestion: suggestion ?? `${field.name} takes ${joined(field.operators)}.`,
    validValues: field.operators,
  });
}

/** The extensions that allow an operator on a field; empty if none does. */
function extensionsOf({ op }: FieldCondition, field: QueryField | DomainField): readonly ExtensionName[] {
  const takesEquals = field.operators.includes('=') && !('search' in field && field.search === true);
  if (op === 'in') return takesEquals ? ['in_any'] : [];
  if (op === 'not_in' && takesEquals) return field.operators.includes('IN') ? ['not_in'] : ['not_in', 'in_any'];
  return field.type === 'temporal' && (op === '<' || op === '<=' || op === '>' || op === '>=') ? ['time_order'] : [];
}

function extendedHint(
  { op }: FieldCondition,
  { name, type, operators, ...field }: QueryField | DomainField,
): string | undefined {
  if (type === 'array')
    return `Write ${name} INCLUDE ["a"]${operators.includes('EXCLUDE') ? `, or ${name} EXCLUDE ["a"]` : ''}.`;
  if ('search' in field && field.search === true)
    return `Write ${name} = "words" to search, or LIKE "words" beside WHERE.`;
  if (op === '!=' && operators.includes('=')) return `Write NOT ${name} = …`;
  if (op === 'between' && type === 'number') return `Write ${name} >= 0.5 AND ${name} <= 0.9.`;
  return undefined;
}

function checkCount(count: number, { at }: FieldCondition): void {
  if (count === 0) throw new CalError('CAL-E002', 'IN has no values', { at, expected: ['a value'] });
  if (count > CAL_LIMITS.inValuesMax)
    throw new CalError('CAL-E011', `the list has ${count} values; the limit is ${CAL_LIMITS.inValuesMax}`, { at });
}

/** Warns (W001) of unknown relations with the standard's prefix `mg:`. They are probably mistakes. */
function warnOfRelations(field: QueryField | DomainField, values: readonly Value[], scope: Scope): void {
  if (field.name !== 'relation') return;
  for (const value of values) {
    if (value.kind !== 'string' || !value.value.startsWith('mg:') || KNOWN_RELATIONS.has(value.value)) continue;
    const meant = didYouMean(value.value, KNOWN_RELATIONS);
    scope.warn('CAL-W001', `unknown relation ${value.value}${meant === undefined ? '' : `. ${meant}`}`);
  }
}

/** Warns (W002) of a domain field without a condition on the tag of its profile. */
function warnOfProfile(prefix: string, conditions: readonly Condition[], scope: Scope): void {
  const tag = `profile:${DOMAIN_PROFILES.get(prefix)!}`;
  const asked = fieldConditions(conditions).some(
    (condition) =>
      condition.field.word === 'tags' &&
      condition.op === 'include' &&
      condition.values.some((value) => value.kind === 'string' && value.value === tag),
  );
  if (!asked)
    scope.warn('CAL-W002', `fields of ${prefix}: belong to grains with the tag ${tag}; add tags INCLUDE ["${tag}"]`);
}
