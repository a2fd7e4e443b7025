// A recall with stages in a memory with one partition. Every question is answered from the shard's own store.
import { type AnswersNow, answerNow } from '../asking/asking.ts';
import type { RecallQuestion } from '../asking/questions.ts';
import { AssertionError } from '../base/assert.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { GrainView } from '../calls/grain.ts';
import type { RecallQuery } from '../calls/recall.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { KnownQuestions } from './known-questions.ts';
import { alikeWords } from './legs/alike.ts';
import { countedParts } from './legs/counted.ts';
import { meanings } from './legs/meanings.ts';
import { shardVectors } from './legs/shard-vectors.ts';
import { namespaces } from './namespaces.ts';
import { recall } from './recall.ts';
import { alikeOf } from './stages/expansion.ts';
import { recallStaged } from './stages/recall-output.ts';

export function stagedRecall(
  store: Store,
  memory: Memory,
  context: CallContext,
  query: RecallQuery,
  fetch: (hash: string) => GrainView | null,
): MemoryCalls['recall']['output'] {
  const questions = new KnownQuestions();
  const answers: AnswersNow<RecallQuestion> = {
    search: (plain) => searchHere(store, memory, context, plain, questions),
    fetch: ({ hashes }) => ({ grains: hashes.map(fetch) }),
    namespaces: ({ filter }) => namespaces(store, memory, context, filter),
    alike: ({ words, limit }) => {
      const counted = countedParts(store, store.parts(memory.number), context);
      return { words: alikeOf([alikeWords(counted, memory.analyzer, words, limit)], limit) };
    },
    vectors: ({ hashes }) => ({ vectors: meanings(store, memory, hashes) }),
    rerank: () => {
      throw new AssertionError('a shard waits for no model');
    },
  };
  return answerNow(recallStaged(query, { nowMs: store.clock.nowMs(), reranks: false }), answers);
}

/** A recall without stages, with the vectors that are loaded. */
export function searchHere(
  store: Store,
  memory: Memory,
  context: CallContext,
  query: RecallQuery,
  questions?: KnownQuestions,
): MemoryCalls['recall']['output'] {
  return recall(store, memory, context, query, { vectors: shardVectors(store, memory.number, query), questions });
}
