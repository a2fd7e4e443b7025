// Runs a checked query: its bindings, then its statement. The switch over statements is exhaustive, so nothing outside
// the language can run.

import { ask } from '../../asking/asking.ts';
import { unreachable } from '../../base/assert.ts';
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import type { BatchStatement, Coalesce, LetBinding, Query, SetOperation, Statement, WithOption } from '../ast.ts';
import { CalError } from '../errors.ts';
import { runAssemble } from './assemble.ts';
import { checkTime } from './bounds.ts';
import { contested, showsContested } from './contested.ts';
import { describe } from './describe.ts';
import { runExplain } from './explain.ts';
import { asCalError } from './failure.ts';
import { OF_TEXT, warnOfIdle } from './idle.ts';
import { statementType, tierOf } from './kinds.ts';
import { type Answer, has, outcomeAnswer, shownHash, withBlock } from './payload.ts';
import { runRecall, runValues } from './recall.ts';
import { resolveReference } from './references.ts';
import type { Running } from './running.ts';
import type { Bound, Run } from './session.ts';
import { runSetOperation } from './set-op.ts';
import type { Outcome } from './stages.ts';
import { runAdd, runRevert, runSupersede } from './tier-one.ts';
import { runDiff, runHistory, runPairHistory } from './versions.ts';
import { whyOf } from './why.ts';

/** Returns the answer or throws CalError. Fills `run.lets` with the query's bindings. */
export function* runQuery({ lets, statement }: Query, run: Run): Running<Answer> {
  checkTier(statement, run);
  const known = new Map<string, Bound>(run.lets);
  const isRecall = READS_MANY.has(statement.kind) || (lets.length > 0 && statement.kind !== 'explain');
  const { recallMax } = isRecall ? yield* ask('cap', {}) : run;
  const within: Run = { ...run, lets: known, recallMax };
  // EXPLAIN reads nothing.
  if (statement.kind !== 'explain') for (const binding of lets) known.set(binding.name, yield* bind(binding, within));
  return yield* runStatement(statement, within);
}

/** Statements that contain recalls. */
const READS_MANY: ReadonlySet<Statement['kind']> = new Set(['recall', 'set_op', 'assemble', 'batch', 'coalesce']);

/** Runs after all checks on the text and before any read (section 2.3). */
function checkTier(statement: Statement, { session }: Run): void {
  if (tierOf(statement) === 1 && (session.tier !== 1 || !session.tierOneEnabled))
    throw new CalError('CAL-E044', `${statementType(statement).toUpperCase()} is not enabled for this session`, {
      at: statement.at,
    });
  if (statement.kind === 'define_template' && !session.mayDefine)
    throw new CalError('CAL-E044', 'DEFINE TEMPLATE needs the scope admin', { at: statement.at });
}

function* bind({ recall, extract }: LetBinding, run: Run): Running<Bound> {
  if (extract !== undefined) return { kind: 'values', values: yield* runValues(recall, extract, run) };
  const outcome = yield* runRecall(recall, run, 'operand');
  if (outcome.kind === 'grains') return { kind: 'grains', grains: outcome.grains, about: outcome.about };
  if (outcome.kind === 'values') return { kind: 'values', values: outcome.values };
  throw new CalError('CAL-E021', 'a LET binds grains or values', { at: recall.at });
}

function* runStatement(statement: Statement, run: Run): Running<Answer> {
  switch (statement.kind) {
    case 'recall': {
      const outcome = yield* detected(yield* runRecall(statement, run), statement.with, statement.contradictions, run);
      return outcomeAnswer(outcome, statement, run, whyOf(statement));
    }
    case 'set_op':
      return yield* runSet(statement, run);
    case 'assemble':
      return yield* runAssemble(statement, run);
    case 'exists': {
      const hash = yield* resolveReference(statement.grain, run);
      const asked = statement.grain.kind === 'hash' ? shownHash(statement.grain.hex) : null;
      return single({ type: 'exists', exists: hash !== undefined, hash: hash === undefined ? asked : shownHash(hash) });
    }
    case 'history':
      return list(yield* runHistory(statement, run), 'versions');
    case 'history_of_pair':
      return list(yield* runPairHistory(statement, run), 'versions');
    case 'history_diff':
      return list(yield* runDiff(statement, run), 'changes');
    case 'explain':
      return single(yield* runExplain(statement, run));
    case 'describe':
      return single(describe(statement, run));
    case 'batch':
      return yield* runBatch(statement.entries, run);
    case 'coalesce':
      return yield* runCoalesce(statement, run);
    case 'define_template':
      // The server stores the template after this check.
      return single({ type: 'template_defined', name: statement.name });
    case 'add':
      return single(yield* runAdd(statement, run));
    case 'supersede':
      return single(yield* runSupersede(statement, run));
    case 'revert':
      return single(yield* runRevert(statement, run));
    default:
      return unreachable(statement);
  }
}

function single(payload: JsonObject): Answer {
  return { payload, count: 1, tokensUsed: 0, grainsReturned: 0 };
}

function list(payload: JsonObject, member: 'versions' | 'changes'): Answer {
  const items: JsonValue | undefined = payload[member];
  const count = Array.isArray(items) ? items.length : 0;
  return { payload, count, tokensUsed: 0, grainsReturned: member === 'versions' ? count : 0 };
}

function* detected(
  outcome: Outcome,
  options: Parameters<typeof has>[0],
  contradictions: boolean | undefined,
  run: Run,
): Running<Outcome> {
  if (outcome.kind !== 'grains') return outcome;
  const isAsked = contradictions === true || has(options, 'contradiction_detection') || showsContested(outcome);
  if (!isAsked) return outcome;
  return { ...outcome, grains: yield* contested(outcome.grains, run) };
}

/** Options of the operands apply to the grains of the result. */
function* runSet(operation: SetOperation, run: Run): Running<Answer> {
  const all = optionsOf(operation);
  warnOfIdle(all, IDLE_IN_SETS, 'it has no meaning in an operand', run);
  const options = all.filter(({ option }, i) => TOLD_OF_SETS.has(option) && !has(all.slice(0, i), option));
  const outcome = yield* detected(yield* runSetOperation(operation, run), options, undefined, run);
  return outcomeAnswer(outcome, { stages: operation.stages, with: options }, run);
}

const TOLD_OF_SETS: ReadonlySet<string> = new Set([
  'superseded',
  'score_breakdown',
  'provenance',
  'contradiction_detection',
  'summarize',
]);
const IDLE_IN_SETS: typeof OF_TEXT = new Set([...OF_TEXT, 'explanation' as const]);

function optionsOf({ operands }: SetOperation): readonly WithOption[] {
  return operands.flatMap((operand) => (operand.kind === 'recall' ? operand.with : optionsOf(operand)));
}

/** Runs each entry separately. A failed entry has its error in its place (D-23). */
function* runBatch(
  entries: readonly { readonly label: { readonly word: string }; readonly statement: BatchStatement }[],
  run: Run,
): Running<Answer> {
  const results: JsonObject = {};
  let tokensUsed = 0;
  let grainsReturned = 0;
  for (const { label, statement } of entries) {
    const startedMs = performance.now();
    const before = run.spent.scanned;
    try {
      const answer = yield* runStatement(statement, run);
      const scanned = run.spent.scanned - before;
      results[label.word] = withBlock(answer, statement, { sourceHash: run.sourceHash, startedMs, scanned });
      tokensUsed += answer.tokensUsed;
      grainsReturned += answer.grainsReturned;
    } catch (error) {
      const located = asCalError(error).located(run.source);
      results[label.word] = located.toJson() as JsonObject; // It consists of JSON values.
    }
  }
  return { payload: { type: 'batch', results }, count: entries.length, tokensUsed, grainsReturned };
}

/** Also true if OFFSET skips every match. */
function isEmpty(outcome: Outcome): boolean {
  return outcome.total === 0 || (outcome.kind === 'grains' && outcome.grains.length === 0);
}

/** Runs branches until one returns a grain. */
function* runCoalesce({ branches }: Coalesce, run: Run): Running<Answer> {
  for (const [branch, recall] of branches.entries()) {
    const found = yield* runRecall(recall, run);
    checkTime(run);
    if (isEmpty(found)) continue;
    const outcome = yield* detected(found, recall.with, recall.contradictions, run);
    const answer = outcomeAnswer(outcome, recall, run, whyOf(recall));
    return { ...answer, payload: { ...answer.payload, branch }, extra: { ...answer.extra, branch } };
  }
  const payload: JsonObject = { type: 'grains', grains: [], total: 0, next_cursor: null, branch: null };
  return { payload, count: 0, tokensUsed: 0, grainsReturned: 0, extra: { branch: null } };
}
