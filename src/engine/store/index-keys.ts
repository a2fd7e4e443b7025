// The keys that the index needs: index keys by memory and by id, and the blind tokens of a memory.

import { EngineError } from '../base/errors.ts';
import { type IndexKeys, LostKey } from '../index/index-keys.ts';
import { facetTokenOf, indexTokens } from '../index/index-tokens.ts';
import type { Facet } from '../index/parts/part.ts';
import type { Memory } from './memory.ts';
import type { Store } from './store.ts';

/** The blind token of a facet's value, the same in every sealed part of the memory: 16 bytes as latin1. */
export function facetToken(memory: Memory, facet: Facet, value: string): string {
  return facetTokenOf(memory.tokens, facet, value).toString('latin1');
}

export function indexKeys(store: Store): IndexKeys {
  return {
    indexKey: (memory) =>
      orLost(store, memory, () => {
        const { index } = store.memory(memory).keyIds;
        return { id: index, key: store.keys.get(index) };
      }),
    indexKeyById: (id, memory) => orLost(store, memory, () => store.keys.get(id)),
    formerIndexKey: (id, memory) => {
      try {
        return store.keys.get(id);
      } catch (error) {
        if (!(error instanceof EngineError) || !store.holds(memory)) throw error;
        throw new EngineError('STO-E002', 'the index was purged while this call read it: try again', {
          retryable: true,
        });
      }
    },
    tokens: (memory) => indexTokens(orLost(store, memory, () => store.memory(memory)).tokens),
    tokenKey: (memory) => orLost(store, memory, () => store.keys.get(store.memory(memory).keyIds.token)),
  };
}

/**
 * An existing memory should have its key. If the key is missing, the memory's index is marked damaged, and other
 * memories are not affected.
 */
function orLost<T>(store: Store, memory: number, ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof EngineError) || error instanceof LostKey || !store.holds(memory)) throw error;
    store.damage.note(memory, error.message);
    throw new LostKey(memory, error.message);
  }
}
