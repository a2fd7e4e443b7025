// Answers the questions of a recall and of a CAL query with calls on the memory, whatever its number of partitions.
// Runs on the main thread, which may wait for a model between two questions.

import type { AnswersLater } from '../../engine/asking/asking.ts';
import { isLongRead } from '../../engine/asking/long-reads.ts';
import type { CalQuestion, QuestionInput, QuestionOutput, RecallQuestion } from '../../engine/asking/questions.ts';
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { AllReads, PartitionRead } from '../../engine/calls/cal.ts';
import { flat, withLoosest } from '../../engine/govern/policy/rules.ts';
import type { PolicyValue } from '../../engine/govern/policy/values.ts';
import { isUnknownScope } from '../../engine/govern/scope-tree.ts';
import { floatsOf } from '../../engine/recall/legs/meanings.ts';
import { alikeOf } from '../../engine/recall/stages/expansion.ts';
import type { Rerank } from '../../engine/recall/stages/recall-output.ts';
import type { Input, MemoryCalls, Output } from '../protocol.ts';
import { isNotFound } from './fan.ts';

/** Calls one memory, whatever its number of partitions. `reason` goes into the audit entry of a change. */
export type CallMemory<Methods extends keyof MemoryCalls = keyof MemoryCalls> = <M extends Methods>(
  method: M,
  input: Input<M>,
  extras?: { readonly reason: string },
) => Promise<Output<M>>;

/** The calls behind the questions of a recall. */
export type RecallMethod = 'recall' | 'fetch' | 'namespaces' | 'alike' | 'meanings';

/** `call` must answer recalls without options. A `rerank` question is a bug when no `rerank` is given. */
export function recallAnswers(call: CallMemory<RecallMethod>, rerank?: Rerank): AnswersLater<RecallQuestion> {
  return {
    search: (query) => call('recall', query),
    fetch: (input) => call('fetch', input),
    namespaces: (input) => call('namespaces', input),
    alike: async (input) => ({ words: alikeOf([await call('alike', input)], input.limit) }),
    vectors: async (input) => {
      const { vectors } = await call('meanings', input);
      return { vectors: vectors.map((bytes) => (bytes === null ? undefined : floatsOf(bytes))) };
    },
    rerank: async ({ hits }) => {
      assert(rerank !== undefined, 'a rerank question needs a reranker');
      return { order: await rerank(hits) };
    },
  };
}

export function calAnswers(call: CallMemory): AnswersLater<CalQuestion> {
  return {
    select: partitionRead(call, 'select'),
    count: partitionRead(call, 'count'),
    group: partitionRead(call, 'group'),
    values: partitionRead(call, 'values'),
    find: partitionRead(call, 'find'),
    estimate: partitionRead(call, 'estimate'),
    pairs: partitionRead(call, 'pairs'),
    rivals: partitionRead(call, 'rivals'),
    search: (query) => call('recall', query).catch(nothingInUnknownScope),
    cap: async () => ({ recallMax: await capOf(call) }),
    history: async (input) => ({ versions: await versionsOf(call, input) }),
    add: ({ grainType, fields, reason }) => call('add', { grainType, fields, sync: false }, { reason }),
    supersede: ({ reason, ...version }) => call('supersede', version, { reason }),
  };
}

/** Reads from every partition. A read that may open many grains runs in slices. */
function partitionRead<K extends keyof AllReads>(call: CallMemory, kind: K) {
  return async (input: QuestionInput<K>): Promise<QuestionOutput<K>> => {
    const read = { kind, input } as PartitionRead; // The caller paired kind and input.
    const { output } = await call(isLongRead(read) ? 'calScan' : 'calRead', read);
    return output as QuestionOutput<K>; // A partition answers a kind with its output.
  };
}

function nothingInUnknownScope(error: unknown): QuestionOutput<'search'> {
  if (isUnknownScope(error)) return { hits: [], total: 0, coverage: null };
  throw error;
}

/**
 * The policy's cap, read from the first partition. That is safe: a stricter policy reaches every partition before its
 * change is answered.
 */
async function capOf(call: CallMemory): Promise<number | null> {
  const { policy } = await call('policy', {});
  return withLoosest(flat((policy?.['rules'] ?? null) as PolicyValue))['access.max_recall_limit']; // the wire form of a sealed policy
}

async function versionsOf(call: CallMemory, input: QuestionInput<'history'>) {
  try {
    return (await call('history', input)).versions;
  } catch (error) {
    if (error instanceof EngineError && isNotFound(error)) return [];
    throw error;
  }
}
