// Runs a query and builds its answer, with the `_cal` block that every answer has.

import { type Clock, steadyMs } from '../../base/clock.ts';
import type { CalCall, CalRefused, CalReply } from '../../calls/cal.ts';
import type { CallContext } from '../../calls/context.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import type { CalError } from '../errors.ts';
import type { CheckedQuery } from '../query.ts';
import { tookTooLong } from './assemble.ts';
import { asCalError } from './failure.ts';
import { statementType, tierOf } from './kinds.ts';
import { type Answer, withBlock } from './payload.ts';
import { planOf } from './plans.ts';
import { runQuery } from './query.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';
import { written } from './within-answer.ts';

/** Runs `call` for the caller in `context`. Returns an error answer, instead of throwing, if the query is wrong. */
export function* answerCal(
  call: CalCall,
  context: CallContext | Omit<CallContext, 'partition'>,
  clock: Clock,
): Running<CalReply> {
  const startedMs = performance.now();
  try {
    return yield* answerChecked(planOf(call.query, call.session.strict === true), call, context, { clock, startedMs });
  } catch (error) {
    return refusal(asCalError(error).located(call.query));
  }
}

function* answerChecked(
  checked: CheckedQuery,
  { query: source, session, vectors }: CalCall,
  { namespace, userId, deadlineMs }: Pick<CallContext, 'namespace' | 'userId' | 'deadlineMs'>,
  { clock, startedMs }: { readonly clock: Clock; readonly startedMs: number },
): Running<CalReply> {
  const { statement } = checked.query;
  const nowMs = clock.nowMs();
  const own = steadyMs(clock) + (statement.kind === 'assemble' ? session.assembleTimeoutMs : session.queryTimeoutMs);
  const run: Run = {
    session,
    source,
    sourceHash: checked.sourceHash,
    namespace,
    userId,
    nowMs,
    clockMs: () => steadyMs(clock),
    untilMs: deadlineMs === undefined ? own : Math.min(own, deadlineMs),
    lets: new Map(),
    recallMax: null,
    extensions: checked.extensions,
    vectors: new Map(vectors.map((vector) => [vector.of, vector])),
    spent: { scanned: 0, heldBytes: 0, warnings: [], withoutVector: new Set() },
  };
  let answer: Answer;
  try {
    answer = yield* runQuery(checked.query, run);
  } catch (error) {
    // A part of it that has no code of its own was late.
    throw statement.kind === 'assemble' && asCalError(error).code === 'CAL-E031' ? tookTooLong() : error;
  }
  const { sourceHash } = checked;
  const { json, warning } = written(
    withBlock(answer, statement, { sourceHash, startedMs, scanned: run.spent.scanned }),
  );
  if (warning !== undefined) run.spent.warnings.push(warning);
  return {
    resultJson: json,
    statementType: statementType(statement),
    resultCount: answer.count,
    warnings: [...new Set([...checked.warnings, ...run.spent.warnings])],
    tier: tierOf(statement),
    withoutVector: [...run.spent.withoutVector],
  };
}

/** Converts an error to an answer. */
export function refusal(error: CalError): CalRefused {
  const { error: members } = error.toJson();
  return { refused: error.code, message: error.message, error: members as JsonObject }; // It consists of JSON values.
}
