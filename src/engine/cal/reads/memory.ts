// A CAL query on a memory of one partition: all of it in one call, every question answered from the same parts.
import { unreachable } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { SHORT_READ_GRAINS_MAX } from '../../base/limits.ts';
import type { PartitionAnswer, PartitionRead } from '../../calls/cal.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import type { Sliced } from '../../index/files/section.ts';
import { history } from '../../recall/history.ts';
import { shardVectors } from '../../recall/legs/shard-vectors.ts';
import { recall } from '../../recall/recall.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { CalError } from '../errors.ts';
import { answerCal } from '../run/answer.ts';
import type { CalAnswer, CalAsk, Settled, SingleAnswer, SingleAsk } from '../run/asks.ts';
import { findAddresses } from './find.ts';
import { groupGrains } from './group.ts';
import { drained } from './open-each.ts';
import { inScope } from './places.ts';
import { rivalStands } from './rivals.ts';
import { countGrains, estimateGrains, selectGrains, spokenPairs } from './select.ts';
import { distinctValues } from './values.ts';

/** `tooLong` where it would hold up the shard: then its questions are asked one by one, from outside. */
export function cal(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['cal']['input'],
): MemoryCalls['cal']['output'] {
  const running = answerCal(input, context, store.clock);
  const ask = (one: SingleAsk): SingleAnswer => answer(store, memory, context, one);
  try {
    let step = running.next();
    while (step.done !== true) step = proceed(running, step.value, ask);
    return step.value;
  } catch (error) {
    if (error instanceof TooLong) return { tooLong: true };
    throw error;
  }
}

type Queries = ReturnType<typeof answerCal>;

function proceed(running: Queries, asked: CalAsk, ask: (one: SingleAsk) => SingleAnswer): ReturnType<Queries['next']> {
  let answered: CalAnswer;
  try {
    answered =
      asked.kind === 'several' ? { kind: 'several', settled: asked.asks.map((one) => settle(one, ask)) } : ask(asked);
  } catch (error) {
    return running.throw(error);
  }
  return running.next(answered);
}

function settle(one: SingleAsk, ask: (one: SingleAsk) => SingleAnswer): Settled {
  try {
    return { answer: ask(one) };
  } catch (error) {
    return { error };
  }
}

function answer(store: Store, memory: Memory, context: CallContext, ask: SingleAsk): SingleAnswer {
  switch (ask.kind) {
    case 'search': {
      const query = { ...ask.input, filter: inScope(memory, ask.input.filter) };
      const vectors = shardVectors(store, memory.number, query);
      const { hits, total } = recall(store, memory, context, query, { vectors });
      return { kind: 'search', output: { hits, total } };
    }
    case 'cap':
      return { kind: 'cap', output: { recallMax: memory.governed.rules['access.max_recall_limit'] } };
    case 'history':
      return { kind: 'history', output: { versions: versionsOf(store, memory, context, ask.input.hash) } };
    case 'add':
    case 'supersede':
      throw new CalError('CAL-E044', 'a read changes nothing');
    default:
      return shortRead(store, memory, context, ask);
  }
}

/** Thrown where a query has to look at more than is done in one go. */
class TooLong extends Error {
  override name = 'TooLong';
}

function shortRead(store: Store, memory: Memory, context: CallContext, ask: PartitionRead): PartitionAnswer {
  if (ask.kind === 'find' || ask.kind === 'estimate') return calRead(store, memory, context, ask);
  const { scanMax } = ask.input;
  // The kind stays with its input.
  const short = { kind: ask.kind, input: { ...ask.input, scanMax: Math.min(scanMax, SHORT_READ_GRAINS_MAX) } };
  const answer = calRead(store, memory, context, short as PartitionRead);
  const { stopped } = answer.output as { readonly stopped?: string };
  if (stopped === 'scan' && scanMax > SHORT_READ_GRAINS_MAX) throw new TooLong();
  return answer;
}

function versionsOf(store: Store, memory: Memory, context: CallContext, hash: string) {
  try {
    return history(store, memory, context, { hash }).versions;
  } catch (error) {
    if (error instanceof EngineError && (error.code === 'MEM-E001' || error.code === 'MEM-E006')) return [];
    throw error;
  }
}

/** What one partition is asked of a query over several, at once. */
export function calRead(store: Store, memory: Memory, context: CallContext, ask: PartitionRead): PartitionAnswer {
  return drained(calReadSteps(store, memory, context, ask));
}

/** The same in steps of some grains each. */
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
