// Checks the statements of tier 1 (fields that may or must be set, and the reason) and DEFINE TEMPLATE. The session's
// permission is checked when the statement runs.

import { GRAIN_TYPE_NAMES, type GrainType } from '../../grain/grain.ts';
import type { QueryField } from '../../grain/types/query-field.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';
import type { Add, Assignments, DefineTemplate, Revert, Span, Supersede, Value, Word } from '../ast.ts';
import { CalError } from '../errors.ts';
import { checkTemplate, TEMPLATE_NAMES_RESERVED } from '../output/template.ts';
import { didYouMean, joined } from '../parser/spelling.ts';
import { commonField, TYPE_FIELDS } from '../vocabulary/fields.ts';
import { typeOfSingular } from '../vocabulary/grain-types.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { checkLength } from './assemble.ts';
import { checkLiteral } from './literals.ts';
import type { Scope } from './scope.ts';

const REQUIRED = ['subject', 'relation', 'object'] as const;
const EVOLVABLE = ['object', 'confidence', 'importance', 'tags'] as const;

/** The fields that ADD can set, by type. Types that are missing cannot be added. */
export const ADDABLE: ReadonlyMap<GrainType, readonly string[]> = new Map(
  GRAIN_TYPE_NAMES.filter((type) => GRAIN_TYPES[type].cal.addable).map((type) => [type, settableOf(type)]),
);

function settableOf(type: GrainType): readonly string[] {
  return [...REQUIRED, 'confidence', 'importance', 'tags', ...TYPE_FIELDS[type].map(({ name }) => name)];
}

/** Throws E051, E017, E002, E020 and the like for values, E050, E018, E016. */
export function checkAdd({ grainType, set, reason, at }: Add, scope: Scope): void {
  const type = typeOfSingular(grainType.word)!;
  const allowed = ADDABLE.get(type);
  if (allowed === undefined)
    throw new CalError('CAL-E051', `a ${type} cannot be added`, {
      at: grainType.at,
      validValues: [...ADDABLE.keys()],
    });
  checkAssignments(set, { type, allowed, scope });
  const missing = REQUIRED.filter((name) => !set.some(({ field }) => field.word === name));
  if (missing.length > 0)
    throw new CalError('CAL-E050', `ADD ${type} sets no ${joined(missing, 'and no')}`, {
      at,
      suggestion: `Add ${missing.map((name) => `SET ${name} = "…"`).join(' ')}.`,
    });
  checkReason(reason, at);
}

/** Throws E019, E017, E002, E020, E018, E016. */
export function checkSupersede({ grain, set, reason, at }: Supersede, scope: Scope): void {
  if (grain.kind === 'parameter') scope.expect(grain, ['hashes'], 'SUPERSEDE takes a hash');
  if (set.length === 0) throw new CalError('CAL-E019', 'SUPERSEDE sets nothing', { at, validValues: EVOLVABLE });
  checkAssignments(set, { type: 'belief', allowed: EVOLVABLE, scope });
  checkReason(reason, at);
}

/** Throws E018, E016. */
export function checkRevert({ grain, reason, at }: Revert, scope: Scope): void {
  if (grain.kind === 'parameter') scope.expect(grain, ['hashes'], 'REVERT takes a hash');
  checkReason(reason, at);
}

interface Place {
  readonly type: GrainType;
  readonly allowed: readonly string[];
  readonly scope: Scope;
}

function checkAssignments(set: Assignments, { type, allowed, scope }: Place): void {
  const seen = new Set<string>();
  for (const { field, value } of set) {
    if (!allowed.includes(field.word)) throw notAllowed(field, allowed);
    if (seen.has(field.word)) throw new CalError('CAL-E002', `${field.word} is set twice`, { at: field.at });
    seen.add(field.word);
    const known = commonField(field.word) ?? TYPE_FIELDS[type].find((one) => one.name === field.word)!;
    checkAssigned(known, value, field, scope);
  }
}

function notAllowed(field: Word, allowed: readonly string[]): CalError {
  const suggestion =
    field.word === 'namespace' || field.word === 'user_id'
      ? 'The session sets it. A query cannot.'
      : (didYouMean(field.word, allowed) ?? `Set ${joined(allowed)}.`);
  return new CalError('CAL-E017', `${field.word} cannot be set`, { at: field.at, suggestion, validValues: allowed });
}

function checkAssigned(known: QueryField, value: Value, field: Word, scope: Scope): void {
  const at = value.at ?? field.at;
  if (known.type === 'array' || known.name === 'depends_on') {
    const items = value.kind === 'array' ? value.items : known.type === 'array' ? undefined : [value];
    if (items === undefined)
      throw new CalError('CAL-E020', `${known.name} takes an array of strings`, { at, example: '["a", "b"]' });
    for (const item of items) checkLiteral(known, item, { scope });
    return;
  }
  checkLiteral(known, value, { scope });
  if (known.type === 'number' && value.kind === 'number' && !(value.value >= 0 && value.value <= 1))
    throw new CalError('CAL-E020', `${known.name} must be from 0 to 1, not ${value.value}`, { at });
}

function checkReason(reason: string, at: Span | undefined): void {
  if (reason.trim() === '') throw new CalError('CAL-E018', 'the reason is blank', { at });
  const length = reason.length > CAL_LIMITS.reasonMax ? [...reason].length : reason.length;
  if (length > CAL_LIMITS.reasonMax)
    throw new CalError('CAL-E016', `the reason has ${length} characters; the limit is ${CAL_LIMITS.reasonMax}`, {
      at,
    });
}

/** Throws E088 for the name of a format, E002 for a long name, and the errors of a template. */
export function checkDefinition({ name, extends: parent, body, at }: DefineTemplate): void {
  checkLength('the name', name, CAL_LIMITS.templateNameMax, { at });
  if (TEMPLATE_NAMES_RESERVED.has(name.toLowerCase()))
    throw new CalError('CAL-E088', `${name} is the name of a format`, { at });
  checkTemplate(body, { extends: parent?.toLowerCase(), at });
}
