// The vector leg of a recall over the vectors that a shard keeps.

import { VECTORS_LOADED_AT_ONCE_MAX } from '../../base/limits.ts';
import type { RecallQuery } from '../../calls/recall.ts';
import { lowerBound } from '../../index/text/tail.ts';
import { unpackVectors } from '../../index/vectors/transfer.ts';
import { wrongDimensions } from '../../index/vectors/vector-index.ts';
import type { EmbedderStamp } from '../../index/vectors/vector-set.ts';
import type { Store } from '../../store/store.ts';
import { KnownQuestions } from '../known-questions.ts';
import type { VectorLeg } from './vector-leg.ts';

/**
 * Above this share of grains without vectors, words alone rank better, because too few cosines are known to judge one.
 * Below it, a grain without a vector gets the median similarity (text-leg.ts). A query without a word to search for is
 * compared with the vectors that there are: words would find nothing.
 */
const BEHIND_SHARE_MAX = 0.75;
/** Above this share the answer reports that some grains have no vector. */
const PARTLY_SHARE_MIN = 0.05;

/**
 * Why a query with a vector is answered by words only. `behind`: too much of the memory is not embedded yet. `loading`:
 * the vectors are being loaded. `other`: they are from another embedder than the query's.
 */
type WordsAlone = 'behind' | 'loading' | 'other';

type Question = Pick<RecallQuery, 'vector' | 'query' | 'wordsOnly' | 'operators'>;

/**
 * The vector leg; undefined if the query has no comparable vector, if too much of the memory is not embedded yet, or
 * while many vectors have to be loaded (this call starts the loading). Throws VAL-E001 if a caller's own vector has a
 * different dimension than the memory's vectors have or will have.
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
        allowedOrdinals,
      }),
    cosinesOf: (ordinals) => vectors.cosineOf(memory, query, ordinals),
  };
}

/** True while many of the memory's vectors have to be loaded before a recall can use them. Starts the loading. */
export function isLoading({ vectors }: Pick<Store, 'vectors'>, memory: number): boolean {
  if (vectors.rowsToLoad(memory) <= VECTORS_LOADED_AT_ONCE_MAX) return false;
  vectors.prepare(memory);
  return true;
}

/**
 * A vector without an embedder name comes from the caller. Its dimension must match the vectors that the memory has or
 * will have.
 */
function checkDimensions(store: Store, memory: number, { vector }: Question): void {
  if (vector === undefined || vector.embedder !== undefined) return;
  const { vectorBackend = '' } = store.memory(memory).settings;
  const stamp = store.vectors.serving(memory) ?? store.embedders.get(vectorBackend);
  const given = vector.bytes.length / Float32Array.BYTES_PER_ELEMENT;
  if (stamp !== undefined && stamp.dimensions !== given) throw wrongDimensions(given, stamp.dimensions);
}

/** Undefined if the vector leg runs or is not needed. Starts the loading of vectors if necessary. */
function wordsAlone(store: Store, memory: number, question: Question): WordsAlone | undefined {
  if (question.vector === undefined || question.vector.of !== question.query) return undefined;
  if (isLoading(store, memory)) return 'loading';
  // Load first: only then the readable vectors are known.
  store.vectors.bring(memory);
  const serving = store.vectors.serving(memory);
  if (serving === undefined) return store.vectorsBehind.has(memory) && hasGrains(store, memory) ? 'behind' : undefined;
  if (bytesFor(serving, question) === undefined) return 'other';
  const isBehind = shareBehind(store, memory, serving) > BEHIND_SHARE_MAX;
  return isBehind && hasWords(store, memory, question) ? 'behind' : undefined;
}

function hasWords(store: Store, memory: number, question: Question): boolean {
  const { analyzer } = store.memory(memory);
  return new KnownQuestions().parsed(question.query ?? '', question, analyzer).terms.length > 0;
}

/**
 * The answer's note on vectors: true if the query's vector was compared with none although the memory has or will have
 * vectors, `partly` if many grains have none yet.
 */
export function vectorsNote(store: Store, memory: number, question: Question): { vectorsBehind?: true | 'partly' } {
  if (wordsAlone(store, memory, question) !== undefined) return { vectorsBehind: true };
  const serving = question.vector === undefined ? undefined : store.vectors.serving(memory);
  if (serving === undefined || question.vector?.of !== question.query) return {};
  return shareBehind(store, memory, serving) > PARTLY_SHARE_MIN ? { vectorsBehind: 'partly' } : {};
}

/** The query's vector from the embedder `serving`, if there is one. */
function bytesFor(serving: EmbedderStamp, { vector, query }: Question): Uint8Array | undefined {
  if (vector === undefined || vector.of !== query) return undefined;
  if (vector.embedder === undefined || vector.embedder === serving.name) return vector.bytes;
  return vector.also?.find(({ embedder }) => embedder === serving.name)?.bytes;
}

function hasGrains(store: Store, memory: number): boolean {
  return store.parts(memory).some(({ docCount }) => docCount > 0);
}

/** Share of the memory's grains that the embedder has not processed yet. */
function shareBehind(store: Store, memory: number, serving: EmbedderStamp): number {
  if (!store.vectorsBehind.has(memory)) return 0;
  // Progress of the serving embedder: a new one in progress does not matter here.
  const reached = store.vectors.embeddedUpTo(memory, serving);
  let all = 0;
  let behind = 0;
  for (const { docCount, ordinals } of store.parts(memory)) {
    all += docCount;
    behind += docCount - lowerBound(ordinals, reached + 1, 0, docCount);
  }
  return all === 0 ? 0 : behind / all;
}
