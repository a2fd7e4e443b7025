// The vector leg of a recall over the vectors that a shard keeps.

import { VECTORS_LOADED_AT_ONCE_MAX } from '../../base/limits.ts';
import type { RecallQuery } from '../../calls/recall.ts';
import { lowerBound } from '../../index/text/tail.ts';
import type { EmbedderStamp } from '../../index/vectors/generation.ts';
import { unpackVectors } from '../../index/vectors/transfer.ts';
import { wrongDimensions } from '../../index/vectors/vector-index.ts';
import type { Store } from '../../store/store.ts';
import type { VectorLeg } from './vector-leg.ts';

/**
 * Beyond this share of grains without vectors words alone rank better: too few cosines to tell what a high one is. Below, a grain
 * without a vector counts as one of usual likeness (text-leg.ts).
 */
const BEHIND_SHARE_MAX = 0.75;
/** Beyond this share an answer says that some grains have none. */
const PARTLY_SHARE_MIN = 0.05;

/**
 * Why a query that has a vector is answered by words alone. `behind`: a good part of the memory is still to be embedded;
 * `loading`: its vectors are being brought to heap; `other`: they are of another embedder than the query's.
 */
type WordsAlone = 'behind' | 'loading' | 'other';

type Question = Pick<RecallQuery, 'vector' | 'query'>;

/**
 * Undefined when the query has no vector, or one that cannot be compared with those that serve the memory, while a good
 * part of the memory is still to be embedded, and while many vectors have to be brought to heap first, which this begins.
 * VAL-E001 for a caller's own vector of other dimensions than theirs, or than they will have.
 */
export function shardVectors(store: Store, memory: number, question: Question): VectorLeg | undefined {
  checkDimensions(store, memory, question);
  if (wordsAlone(store, memory, question) !== undefined) return undefined;
  const serving = store.vectors.serving(memory);
  if (serving === undefined) return undefined;
  const bytes = bytesFor(serving, question);
  const query =
    bytes === undefined ? undefined : unpackVectors(bytes, bytes.length / Float32Array.BYTES_PER_ELEMENT)[0];
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

/** True while many of the memory's vectors have to be brought to heap before a recall can ask them, which this begins. */
export function isLoading({ vectors }: Pick<Store, 'vectors'>, memory: number): boolean {
  if (vectors.rowsToLoad(memory) <= VECTORS_LOADED_AT_ONCE_MAX) return false;
  vectors.prepare(memory);
  return true;
}

/** A vector that nobody named an embedder of is the caller's: it must fit whatever vectors the memory has, or will have. */
function checkDimensions(store: Store, memory: number, { vector }: Question): void {
  if (vector === undefined || vector.embedder !== undefined) return;
  const { vectorBackend = '' } = store.memory(memory).settings;
  const stamp = store.vectors.serving(memory) ?? store.embedders.get(vectorBackend);
  const given = vector.bytes.length / Float32Array.BYTES_PER_ELEMENT;
  if (stamp !== undefined && stamp.dimensions !== given) throw wrongDimensions(given, stamp.dimensions);
}

/** Undefined where the vector leg runs, or nothing asks for it. Begins to load what has to be loaded. */
function wordsAlone(store: Store, memory: number, question: Question): WordsAlone | undefined {
  if (question.vector === undefined || question.vector.of !== question.query) return undefined;
  if (isLoading(store, memory)) return 'loading';
  // Only then it is known which of them can be read.
  store.vectors.bring(memory);
  const serving = store.vectors.serving(memory);
  if (serving === undefined) return store.vectorsBehind.has(memory) && hasGrains(store, memory) ? 'behind' : undefined;
  if (bytesFor(serving, question) === undefined) return 'other';
  return shareBehind(store, memory, serving) > BEHIND_SHARE_MAX ? 'behind' : undefined;
}

/**
 * For an answer: true when the query has a vector that is compared with none, though the memory has or will have some, and
 * `partly` when a good part of the memory has none yet.
 */
export function vectorsNote(store: Store, memory: number, question: Question): { vectorsBehind?: true | 'partly' } {
  if (wordsAlone(store, memory, question) !== undefined) return { vectorsBehind: true };
  const serving = question.vector === undefined ? undefined : store.vectors.serving(memory);
  if (serving === undefined || question.vector?.of !== question.query) return {};
  return shareBehind(store, memory, serving) > PARTLY_SHARE_MIN ? { vectorsBehind: 'partly' } : {};
}

/** The query's vector that can be compared with those of `serving`. */
function bytesFor(serving: EmbedderStamp, { vector, query }: Question): Uint8Array | undefined {
  if (vector === undefined || vector.of !== query) return undefined;
  if (vector.embedder === undefined || vector.embedder === serving.name) return vector.bytes;
  return vector.also?.find(({ embedder }) => embedder === serving.name)?.bytes;
}

function hasGrains(store: Store, memory: number): boolean {
  return store.parts(memory).some(({ docCount }) => docCount > 0);
}

/** Share of the memory's grains that the embedder has still to look at. */
function shareBehind(store: Store, memory: number, serving: EmbedderStamp): number {
  if (!store.vectorsBehind.has(memory)) return 0;
  // Of the embedder that serves: a new one that goes over the memory holds nobody up.
  const reached = store.vectors.embeddedUpTo(memory, serving);
  let all = 0;
  let behind = 0;
  for (const { docCount, ordinals } of store.parts(memory)) {
    all += docCount;
    behind += docCount - lowerBound(ordinals, reached + 1, 0, docCount);
  }
  return all === 0 ? 0 : behind / all;
}
