// A recall of a memory with one partition, its stages included: every further question is answered from the same parts.
import { unreachable } from '../base/assert.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { GrainView } from '../calls/grain.ts';
import type { RecallQuery } from '../calls/recall.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { alikeWords } from './legs/alike.ts';
import { countedParts } from './legs/counted.ts';
import { meanings } from './legs/meanings.ts';
import { shardVectors } from './legs/shard-vectors.ts';
import { namespaces } from './namespaces.ts';
import { type RecallLegs, recall } from './recall.ts';
import { alikeOf } from './stages/expansion.ts';
import { recallStagedNow } from './stages/recall-output.ts';

export function stagedRecall(
  store: Store,
  memory: Memory,
  context: CallContext,
  query: RecallQuery,
  fetch: (hash: string) => GrainView | null,
  legs: Omit<RecallLegs, 'vectors'> = {},
): MemoryCalls['recall']['output'] {
  return recallStagedNow(
    query,
    { nowMs: store.clock.nowMs() },
    (plain) => recall(store, memory, context, plain, { ...legs, vectors: shardVectors(store, memory.number, plain) }),
    (ask) => {
      switch (ask.kind) {
        case 'fetch':
          return { kind: 'fetch', grains: ask.hashes.map(fetch) };
        case 'namespaces':
          return { kind: 'namespaces', ...namespaces(store, memory, context, query.filter) };
        case 'alike': {
          const counted = countedParts(store, store.parts(memory.number), context);
          const found = alikeWords(counted, memory.analyzer, ask.words, ask.limit);
          return { kind: 'alike', words: alikeOf([found], ask.limit) };
        }
        case 'vectors':
          return { kind: 'vectors', vectors: meanings(store, memory, ask.hashes) };
        default:
          return unreachable(ask);
      }
    },
  );
}
