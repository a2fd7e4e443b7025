// Runs a CAL query on a memory with one partition in one call. All questions are answered from the same parts.
import { type AnswersNow, answerNow } from '../../asking/asking.ts';
import type { CalQuestion, QuestionInput, QuestionOutput } from '../../asking/questions.ts';
import { unreachable } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { SHORT_QUERY_GRAINS_MAX, SHORT_READ_GRAINS_MAX } from '../../base/limits.ts';
import type { AllReads, PartitionAnswer, PartitionRead } from '../../calls/cal.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import type { Sliced } from '../../index/files/section.ts';
import { history } from '../../recall/history.ts';
import { KnownQuestions } from '../../recall/known-questions.ts';
import { searchHere } from '../../recall/staged.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { CalError } from '../errors.ts';
import { answerCal } from '../run/answer.ts';
import { findAddresses } from './find.ts';
import { groupGrains } from './group.ts';
import { drained } from './open-each.ts';
import { inScope } from './places.ts';
import { rivalStands } from './rivals.ts';
import { countGrains, estimateGrains, selectGrains, spokenPairs } from './select.ts';
import { distinctValues } from './values.ts';

/** `tooLong` if the query would block the shard: the caller then asks its questions one by one. */
export function cal(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['cal']['input'],
): MemoryCalls['cal']['output'] {
  try {
    return answerNow(answerCal(input, context, store.clock), answersHere(store, memory, context));
  } catch (error) {
    if (error instanceof TooLong) return { tooLong: true };
    throw error;
  }
}

/** Answers a read-only query's questions from the shard's store. */
function answersHere(store: Store, memory: Memory, context: CallContext): AnswersNow<CalQuestion> {
  let left = SHORT_QUERY_GRAINS_MAX;
  const read =
    <K extends keyof AllReads>(kind: K) =>
    (asked: QuestionInput<K>): QuestionOutput<K> => {
      const answer = shortRead(store, memory, context, { kind, input: asked } as PartitionRead, left);
      if ('scanned' in answer.output) left -= answer.output.scanned;
      return answer.output as QuestionOutput<K>; // A partition answers a kind with its output.
    };
  const questions = new KnownQuestions();
  const refuse = (): never => {
    throw new CalError('CAL-E044', 'a read-only query cannot write');
  };
  return {
    select: read('select'),
    count: read('count'),
    group: read('group'),
    values: read('values'),
    find: read('find'),
    estimate: read('estimate'),
    pairs: read('pairs'),
    rivals: read('rivals'),
    search: (query) =>
      searchHere(store, memory, context, { ...query, filter: inScope(memory, query.filter) }, questions),
    cap: () => ({ recallMax: memory.governed.rules['access.max_recall_limit'] }),
    history: (asked) => ({ versions: versionsOf(store, memory, context, asked) }),
    add: refuse,
    supersede: refuse,
  };
}

/** Thrown if a query has too much work for a single call. */
class TooLong extends Error {
  override name = 'TooLong';
}

/** `left`: grains that the query may still open in this call. */
function shortRead(
  store: Store,
  memory: Memory,
  context: CallContext,
  ask: PartitionRead,
  left: number,
): PartitionAnswer {
  if (ask.kind === 'find' || ask.kind === 'estimate') return calRead(store, memory, context, ask);
  const { scanMax } = ask.input;
  const most = Math.max(0, Math.min(left, SHORT_READ_GRAINS_MAX));
  // The kind stays with its input.
  const short = { kind: ask.kind, input: { ...ask.input, scanMax: Math.min(scanMax, most) } };
  const answer = calRead(store, memory, context, short as PartitionRead);
  const stopped = 'stopped' in answer.output ? answer.output.stopped : undefined;
  if (stopped === 'scan' && scanMax > most) throw new TooLong();
  return answer;
}

function versionsOf(store: Store, memory: Memory, context: CallContext, asked: QuestionInput<'history'>) {
  try {
    return history(store, memory, context, asked).versions;
  } catch (error) {
    if (error instanceof EngineError && (error.code === 'MEM-E001' || error.code === 'MEM-E006')) return [];
    throw error;
  }
}

/** Answers one read of a query over several partitions, synchronously. */
export function calRead(store: Store, memory: Memory, context: CallContext, ask: PartitionRead): PartitionAnswer {
  return drained(calReadSteps(store, memory, context, ask));
}

/** Like the synchronous read, but in steps of a few grains. */
export function* calReadSteps(
  store: Store,
  memory: Memory,
  context: CallContext,
  ask: PartitionRead,
): Sliced<PartitionAnswer> {
  switch (ask.kind) {
    case 'select':
      return { kind: 'select', output: yield* selectGrains(store, memory, context, ask.input) };
    case 'count':
      return { kind: 'count', output: yield* countGrains(store, memory, context, ask.input) };
    case 'group':
      return { kind: 'group', output: yield* groupGrains(store, memory, context, ask.input) };
    case 'pairs':
      return { kind: 'pairs', output: yield* spokenPairs(store, memory, context, ask.input) };
    case 'rivals':
      return { kind: 'rivals', output: yield* rivalStands(store, memory, context, ask.input) };
    case 'values':
      return { kind: 'values', output: yield* distinctValues(store, memory, context, ask.input) };
    case 'find':
      return { kind: 'find', output: findAddresses(store, memory, context, ask.input) };
    case 'estimate':
      return { kind: 'estimate', output: estimateGrains(store, memory, context, ask.input) };
    default:
      return unreachable(ask);
  }
}
