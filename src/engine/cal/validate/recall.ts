// Checks RECALL: each clause, and clauses that exclude each other.
import type { Extractor } from '../../calls/cal.ts';
import type { GrainType } from '../../grain/grain.ts';
import { fieldConditions, type Recall, type Span } from '../ast.ts';
import { CalError } from '../errors.ts';
import { fieldNamed } from '../vocabulary/fields.ts';
import { typeOfPlural } from '../vocabulary/grain-types.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { checkConditions } from './conditions.ts';
import { checkFormat } from './formats.ts';
import { checkMoment } from './literals.ts';
import { checkOptions } from './options.ts';
import type { Scope } from './scope.ts';
import { checkLimit, checkStages, expectGrains, notBeliefs, type Outcome } from './stages.ts';

/**
 * Checks a recall and returns the kind of its result. `depth` is the number of recalls around it, at most three (E007).
 */
export function checkRecall(recall: Recall, scope: Scope, { depth = 0, more = 0 } = {}): Outcome {
  if (depth > CAL_LIMITS.subqueryDepthMax)
    throw new CalError('CAL-E007', `subqueries are nested more than ${CAL_LIMITS.subqueryDepthMax} deep`, {
      at: recall.at,
    });
  const type = typeOf(recall);
  checkShortcuts(recall, type, scope);
  checkConditions(recall.where, {
    type,
    scope,
    subquery: (inner, extract) => checkExtracting(inner, extract, scope, depth + 1),
  });
  checkOptions(recall.with, { types: [type], scope });
  const outcome = checkStages(recall.stages, { type, scope, more });
  if (recall.format !== undefined) {
    expectGrains(outcome, 'a format takes grains', recall.format.at);
    checkFormat(recall.format);
  }
  return outcome;
}

/** Checks a recall with an extractor, in LET or in a subquery. */
export function checkExtracting(recall: Recall, extract: Extractor, scope: Scope, depth: number): void {
  const outcome = checkRecall(recall, scope, { depth, more: 1 });
  expectGrains(outcome, `${extract.toUpperCase()} takes grains`, recall.at);
  if (extract !== 'hashes' && typeOf(recall) !== 'belief') throw notBeliefs(extract, recall.at);
  if (recall.format !== undefined)
    throw new CalError('CAL-E021', 'a format takes grains, but this recall extracts values', {
      at: recall.format.at,
    });
}

/** The type of a recall; undefined if it names none. The parser has already refused unknown types. */
export function typeOf(recall: Recall): GrainType | undefined {
  return recall.grainType === undefined ? undefined : typeOfPlural(recall.grainType.word);
}

function checkShortcuts(recall: Recall, type: GrainType | undefined, scope: Scope): void {
  const { about, like, since, between, thread, recent, places = {} } = recall;
  const fields = new Set(fieldConditions(recall.where).map(({ field }) => fieldNamed(field.word)));
  const ordered = recall.stages.some((stage) => stage.stage === 'order_by');
  const limited = recall.stages.some((stage) => stage.stage === 'limit');
  const conflict = (first: string, second: string, at: Span | undefined): never => {
    throw new CalError('CAL-E060', `${first} and ${second} contradict each other`, { at });
  };
  if (about !== undefined && like !== undefined) conflict('ABOUT', 'LIKE', places['like']);
  if (like !== undefined && fields.has('query')) conflict('LIKE', 'a condition on query', places['like']);
  if (since !== undefined) {
    if (between !== undefined) conflict('SINCE', 'BETWEEN', places['between']);
    if (fields.has('time')) conflict('SINCE', 'a condition on time', places['since']);
    checkMoment('SINCE', since, scope);
  }
  if (between !== undefined) {
    if (fields.has('time')) conflict('BETWEEN', 'a condition on time', places['between']);
    for (const value of between) checkMoment('BETWEEN', value, scope);
  }
  if (recall.my === true && fields.has('user_id')) conflict('MY', 'a condition on user_id', recall.at);
  if (recent !== undefined) {
    if (limited) conflict('RECENT', 'LIMIT', places['recent']);
    if (ordered) conflict('RECENT', 'ORDER BY', places['recent']);
    checkLimit('RECENT', recent, places['recent']);
  }
  if (thread !== undefined) {
    if (type !== undefined && type !== 'event') conflict('THREAD', 'a type other than events', places['thread']);
    if (fields.has('session_id')) conflict('THREAD', 'a condition on session_id', places['thread']);
    if (ordered) conflict('THREAD', 'ORDER BY', places['thread']);
    if (recent !== undefined) conflict('THREAD', 'RECENT', places['thread']);
    if ('from' in thread && thread.from.kind === 'parameter')
      scope.expect(thread.from, ['hashes'], 'THREAD FROM takes a hash');
  }
}
