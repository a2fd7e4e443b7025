// The questions that stages ask: further searches, similar words, and vectors.

import { type Asking, ask, askAll } from '../../asking/asking.ts';
import type { RecallQuestion } from '../../asking/questions.ts';
import { assert } from '../../base/assert.ts';
import type { GrainFilter, GrainView } from '../../calls/grain.ts';
import type { RecallQuery } from '../../calls/recall.ts';
import type { StageHit } from './hit.ts';
import { stageHits } from './recall-hit.ts';

/** A running recall. The shard or several partitions answer its questions. */
export type Recalling<T> = Asking<T, RecallQuestion>;

/** The hits of each query, in the order of the queries; the searches run together. */
export function* search(queries: readonly RecallQuery[]): Recalling<(readonly StageHit[])[]> {
  const found = yield* askAll('search', queries);
  return found.map(({ hits }, at) => stageHits(hits, queries[at]!));
}

export function* fetchGrains(hashes: readonly string[]): Recalling<readonly (GrainView | null)[]> {
  return hashes.length === 0 ? [] : (yield* ask('fetch', { hashes })).grains;
}

/** Similar words of the memory for each word, in input order, most likely first. */
export function* askAlike(words: readonly string[], limit: number): Recalling<readonly (readonly string[])[]> {
  if (words.length === 0) return [];
  const alike = yield* ask('alike', { words, limit });
  assert(alike.words.length === words.length, 'each word has a list of similar words');
  return alike.words;
}

/** Vectors by hash, without grains that have none. */
export function* askVectors(hits: readonly StageHit[]): Recalling<ReadonlyMap<string, Float32Array>> {
  const byHash = new Map<string, Float32Array>();
  if (hits.length === 0) return byHash;
  const hashes = hits.map(({ grain }) => grain.hash);
  const { vectors } = yield* ask('vectors', { hashes });
  assert(vectors.length === hashes.length, 'each grain has a vector or undefined');
  for (const [at, vector] of vectors.entries()) if (vector !== undefined) byHash.set(hashes[at]!, vector);
  return byHash;
}

/** Candidates of a further query. Kept low, because there may be fifty such queries. */
const FOLLOW_UP_CANDIDATES = 50;

/** A further query under the first one's conditions, with an optional new text (null: none) and a changed filter. */
export function followUp(
  { query, operators, filter, vector }: RecallQuery,
  asked: {
    readonly text?: string | null | undefined;
    readonly limit: number;
    readonly filter?: Partial<GrainFilter> | undefined;
    readonly structural?: boolean | undefined;
    /** Rank by BM25 only. */
    readonly wordsOnly?: boolean | undefined;
  },
): RecallQuery {
  const text = asked.text === undefined ? query : asked.text;
  const narrowed = { ...filter, ...asked.filter };
  const { subject, relation, object, entity } = narrowed;
  const structural = [subject, relation, object, entity].some((value) => value !== undefined);
  return {
    query: text ?? undefined,
    operators,
    // The vector belongs to the original text, and there is none for another text.
    vector: vector === undefined || text !== query || asked.wordsOnly === true ? undefined : vector,
    filter: narrowed,
    limit: asked.limit,
    candidateLimit: Math.max(asked.limit, FOLLOW_UP_CANDIDATES),
    structural: asked.structural ?? structural,
    wordsOnly: asked.wordsOnly === true || undefined,
  };
}

/** The filter with an entity condition instead of triple conditions. */
export function aboutEntity(filter: GrainFilter, entity: string): GrainFilter {
  const { subject: _subject, relation: _relation, object: _object, ...rest } = filter;
  return { ...rest, entity };
}
