// Checks of a query that need no data: fields, operators, types, limits, names. Trees of both forms are checked here, so
// the JSON form obeys the same rules.

import { unreachable } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import type { GrainReference, HistoryOfPair, Query, Statement } from './ast.ts';
import { CalError } from './errors.ts';
import { checkAssemble } from './validate/assemble.ts';
import { checkLets } from './validate/lets.ts';
import { checkMoment } from './validate/literals.ts';
import { checkRecall } from './validate/recall.ts';
import { Scope } from './validate/scope.ts';
import { checkBatchEntries, checkCoalesce, checkSetOperation } from './validate/sets.ts';
import { checkAdd, checkDefinition, checkRevert, checkSupersede } from './validate/writes.ts';
import type { Extensions } from './vocabulary/extensions.ts';

/** The warnings of a query, each with its code in front. Throws `CalError` for the first error. */
export function validate(query: Query, extensions?: Extensions): readonly string[] {
  const scope = new Scope(extensions);
  checkLets(query, scope);
  checkStatement(query.statement, scope);
  return [...scope.warnings, ...scope.extensions.warnings];
}

function checkStatement(statement: Statement, scope: Scope): void {
  switch (statement.kind) {
    case 'recall':
      checkRecall(statement, scope);
      return;
    case 'set_op':
      checkSetOperation(statement, scope);
      return;
    case 'assemble':
      checkAssemble(statement, scope);
      return;
    case 'exists':
    case 'history':
      checkReference(statement.grain, scope);
      return;
    case 'history_diff':
      checkReference(statement.from, scope);
      checkReference(statement.to, scope);
      return;
    case 'history_of_pair':
      checkPair(statement, scope);
      return;
    case 'explain':
      checkStatement(statement.statement, scope);
      return;
    case 'describe':
      if (statement.target === 'primer') scope.extensions.use('primer', statement.at);
      return;
    case 'batch':
      checkBatchEntries(statement);
      for (const entry of statement.entries) checkStatement(entry.statement, scope);
      return;
    case 'coalesce':
      checkCoalesce(statement, scope);
      return;
    case 'define_template':
      checkDefinition(statement);
      return;
    case 'add':
      checkAdd(statement, scope);
      return;
    case 'supersede':
      checkSupersede(statement, scope);
      return;
    case 'revert':
      checkRevert(statement, scope);
      return;
    default:
      unreachable(statement);
  }
}

function checkReference(reference: GrainReference, scope: Scope): void {
  if (reference.kind === 'parameter') scope.expect(reference, ['hashes'], 'the statement takes a hash');
}

function checkPair({ subject, relation, asOf, at }: HistoryOfPair, scope: Scope): void {
  for (const [name, value] of [
    ['subject', subject],
    ['relation', relation],
  ] as const) {
    if (value.kind === 'parameter') scope.expect(value, ['user'], `${name} is one string`);
    else if (value.kind !== 'string') throw new CalError('CAL-E020', `${name} takes a string`, { at: value.at });
  }
  if (asOf !== undefined) checkMoment('AS OF', defined({ kind: 'string', value: asOf, at }), scope);
}
