// Checks a chain of stages: the input and output of each, and its fields.

import type { GrainType } from '../../grain/grain.ts';
import type { QueryField } from '../../grain/types/query-field.ts';
import type { Span, Stage, Word } from '../ast.ts';
import { CalError } from '../errors.ts';
import { joined } from '../parser/spelling.ts';
import { fieldsOf } from '../vocabulary/fields.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { aliased } from './conditions.ts';
import { type DomainField, resolveField } from './fields.ts';
import type { Scope } from './scope.ts';

/** The kind of a chain's final result. */
export type Outcome = 'grains' | 'number' | 'values' | 'groups';

interface Place {
  readonly type: GrainType | undefined;
  readonly scope: Scope;
  /** Stages that are not in the list: the extractor of LET or a subquery counts as one. */
  readonly more?: number;
}

/** Fields that formatted text never shows, so PROJECT refuses them. */
const ENVELOPE: ReadonlySet<string> = new Set(['hash', 'namespace', 'user_id']);

/** Checks a chain and returns the kind of its result. Throws E012, E021, E022, E010, E020 and the errors of a field. */
export function checkStages(stages: readonly Stage[], place: Place): Outcome {
  const count = stages.length + (place.more ?? 0);
  if (count > CAL_LIMITS.stagesMax)
    throw new CalError('CAL-E012', `the query has ${count} stages; the limit is ${CAL_LIMITS.stagesMax}`, {
      at: stages.at(CAL_LIMITS.stagesMax)?.at,
    });
  let outcome: Outcome = 'grains';
  for (const stage of stages) {
    if (outcome === 'values' && (stage.stage === 'count' || stage.stage === 'limit')) {
      place.scope.extensions.use('values_stage', stage.at);
      outcome = checkStage(stage, place) === 'number' ? 'number' : 'values';
      continue;
    }
    expectGrains(outcome, `${nameOf(stage)} takes grains`, stage.at);
    outcome = checkStage(stage, place);
  }
  return outcome;
}

/** Throws E021 unless `outcome` is grains. */
export function expectGrains(outcome: Outcome, what: string, at: Span | undefined): void {
  if (outcome === 'grains') return;
  throw new CalError('CAL-E021', `${what}, not ${GIVEN[outcome]}`, { at });
}

const GIVEN: Readonly<Record<Outcome, string>> = {
  grains: 'grains',
  number: 'a number',
  values: 'values',
  groups: 'groups',
};

function checkStage(stage: Stage, { type, scope }: Place): Outcome {
  switch (stage.stage) {
    case 'select':
      for (const word of stage.fields) checkAble(word, type, 'projectable');
      return 'grains';
    case 'order_by':
      checkAble(aliased(stage.field, scope), type, 'sortable');
      if (stage.next !== undefined) {
        scope.extensions.use('sort_keys', stage.next.field.at);
        checkAble(aliased(stage.next.field, scope), type, 'sortable');
      }
      return 'grains';
    case 'limit':
      checkLimit('LIMIT', stage.count, stage.at);
      return 'grains';
    case 'offset':
      if (typeof stage.count !== 'number') scope.expect(stage.count, [], 'OFFSET takes a count');
      else if (!Number.isSafeInteger(stage.count) || stage.count < 0)
        throw new CalError('CAL-E010', 'OFFSET must be a whole number from 0', { at: stage.at });
      return 'grains';
    case 'first':
      return 'grains';
    case 'count':
      return 'number';
    case 'subjects':
    case 'objects':
      if (type !== 'belief') throw notBeliefs(stage.stage, stage.at);
      return 'values';
    case 'hashes':
      return 'values';
    case 'group_by':
      checkAble(stage.field, type, 'groupable');
      return 'groups';
    case 'project':
      for (const { fields } of stage.parts) for (const word of fields) checkProjected(word, type);
      return 'grains';
  }
}

/** The E022 error of SUBJECTS and OBJECTS, which read a triple. Only beliefs have one. */
export function notBeliefs(extract: string, at: Span | undefined): CalError {
  return new CalError('CAL-E022', `${extract.toUpperCase()} takes beliefs`, { at });
}

/** Throws E010 unless `count` is 1 to 1000. */
export function checkLimit(word: string, count: number, at: Span | undefined): void {
  if (Number.isInteger(count) && count >= 1 && count <= CAL_LIMITS.limitMax) return;
  throw new CalError('CAL-E010', `${word} must be from 1 to ${CAL_LIMITS.limitMax}, not ${count}`, { at });
}

const ABILITIES = {
  sortable: 'sort by',
  groupable: 'group by',
  projectable: 'select',
} as const;

/** The field of `word`. Throws E021 if it lacks the ability. */
export function checkAble(
  word: Word,
  type: GrainType | undefined,
  ability: keyof typeof ABILITIES,
): QueryField | DomainField {
  const field = resolveField(word, type);
  if (field[ability]) return field;
  const able = fieldsOf(type).filter((one) => one[ability]);
  throw new CalError('CAL-E021', `${field.name} is not a field to ${ABILITIES[ability]}`, {
    at: word.at,
    suggestion: `Use ${joined(able.map((one) => one.name))}.`,
    validValues: able.map((one) => one.name),
  });
}

function checkProjected(word: Word, type: GrainType | undefined): void {
  // The short name under which the attribute is printed.
  if (word.word === 'observer' && type === 'observation') return;
  const field = checkAble(word, type, 'projectable');
  if (ENVELOPE.has(field.name))
    throw new CalError('CAL-E021', `${field.name} is never shown in formatted text`, {
      at: word.at,
      suggestion: 'Read it from the grains beside the text.',
    });
}

function nameOf(stage: Stage): string {
  return stage.stage.toUpperCase().replace('_', ' ');
}
