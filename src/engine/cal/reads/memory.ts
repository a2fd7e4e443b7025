// A CAL query on a memory of one partition: all of it in one call, every question answered from the same parts.
import { unreachable } from '../../assert.ts';
import type { CallContext, MemoryCalls } from '../../calls.ts';
import { EngineError } from '../../errors.ts';
import { history } from '../../recall/history.ts';
import { recall } from '../../recall/recall.ts';
import { shardVectors } from '../../recall/shard-vectors.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { CalError } from '../errors.ts';
import { answerCal } from '../run/answer.ts';
import type {
  CalAnswer,
  CalAsk,
  PartitionAnswer,
  PartitionRead,
  Settled,
  SingleAnswer,
  SingleAsk,
} from '../run/asks.ts';
import { findAddresses } from './find.ts';
import { countGrains, estimateGrains, selectGrains } from './select.ts';

export function cal(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['cal']['input'],
): MemoryCalls['cal']['output'] {
  const running = answerCal(input, context, store.clock);
  const ask = (one: SingleAsk): SingleAnswer => answer(store, memory, context, one);
  let step = running.next();
  while (step.done !== true) step = proceed(running, step.value, ask);
  return step.value;
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
      const vectors = shardVectors(store, memory.number, ask.input);
      const { hits, total } = recall(store, memory, context, ask.input, { vectors });
      return { kind: 'search', output: { hits, total } };
    }
    case 'history':
      return { kind: 'history', output: { versions: versionsOf(store, memory, context, ask.input.hash) } };
    case 'add':
    case 'supersede':
      throw new CalError('CAL-E044', 'a read changes nothing');
    default:
      return calRead(store, memory, context, ask);
  }
}

function versionsOf(store: Store, memory: Memory, context: CallContext, hash: string) {
  try {
    return history(store, memory, context, hash).versions;
  } catch (error) {
    if (error instanceof EngineError && (error.code === 'MEM-E001' || error.code === 'MEM-E006')) return [];
    throw error;
  }
}

/** What one partition is asked of a query over several. */
export function calRead(store: Store, memory: Memory, context: CallContext, ask: PartitionRead): PartitionAnswer {
  switch (ask.kind) {
    case 'select':
      return { kind: 'select', output: selectGrains(store, memory, context, ask.input) };
    case 'count':
      return { kind: 'count', output: countGrains(store, memory, context, ask.input) };
    case 'find':
      return { kind: 'find', output: findAddresses(store, memory, context, ask.input) };
    case 'estimate':
      return { kind: 'estimate', output: estimateGrains(store, memory, context, ask.input) };
    default:
      return unreachable(ask);
  }
}
