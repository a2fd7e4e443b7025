// The vector leg of a recall over the vectors that a shard keeps.
import type { RecallQuery } from '../calls.ts';
import { lowerBound } from '../index/text/tail.ts';
import { unpackVectors } from '../index/vectors/transfer.ts';
import type { Store } from '../store/store.ts';
import type { VectorLeg } from './vector-leg.ts';

/** Beyond this share of grains without vectors, a ranking with vectors is one of what happens to have been embedded. */
const BEHIND_SHARE_MAX = 0.05;

function isFarBehind(store: Store, memory: number): boolean {
  if (!store.vectorsBehind.has(memory)) return false;
  const reached = store.vectors.embeddedUpTo(memory);
  let all = 0;
  let behind = 0;
  for (const { docCount, ordinals } of store.parts(memory)) {
    all += docCount;
    behind += docCount - lowerBound(ordinals, reached + 1, 0, docCount);
  }
  return behind > all * BEHIND_SHARE_MAX;
}

/** For an answer: there when the query has a vector that is compared with none, as too much is still to be embedded. */
export function vectorsNote(
  store: Store,
  memory: number,
  { vector }: Pick<RecallQuery, 'vector'>,
): { vectorsBehind?: true } {
  return vector !== undefined && isFarBehind(store, memory) ? { vectorsBehind: true } : {};
}

/**
 * Undefined when the query has no vector, or one that cannot be compared with those that serve the memory, and while a good
 * part of the memory is still to be embedded. VAL-E001 for a
 * caller's own vector of other dimensions than theirs.
 */
export function shardVectors(
  store: Store,
  memory: number,
  { vector, query: text }: Pick<RecallQuery, 'vector' | 'query'>,
): VectorLeg | undefined {
  if (vector === undefined || vector.of !== text) return undefined;
  const serving = store.vectors.serving(memory);
  if (serving === undefined || isFarBehind(store, memory)) return undefined;
  if (vector.embedder !== undefined && vector.embedder !== serving.name) return undefined;
  const query = unpackVectors(vector.bytes, vector.bytes.length / Float32Array.BYTES_PER_ELEMENT)[0];
  if (query === undefined) return undefined;
  const { vectors } = store;
  return {
    search: ({ limit, isAllowed, allowedOrdinals }) =>
      vectors.search(memory, query, {
        limit,
        allowed: isAllowed,
        ...(allowedOrdinals === undefined ? {} : { allowedOrdinals }),
      }),
    cosinesOf: (ordinals) => vectors.cosineOf(memory, query, ordinals),
  };
}
