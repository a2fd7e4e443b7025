// Stages that need more than the hits at hand say what they want and are given it: generators, driven without waiting in
// the engine and with promises where several partitions answer. What is asked together is answered together.
import { assert } from '../../base/assert.ts';
import type { GrainFilter, GrainView } from '../../calls/grain.ts';
import type { RecallQuery } from '../../calls/recall.ts';
import type { StageHit } from '../stages/hit.ts';

export type Ask =
  /** Legs and fusion of another query, no stages: the best hits, `limit` of it. */
  | { readonly kind: 'search'; readonly query: RecallQuery }
  /** The grains of these hashes, null for what there is none of (any more) or the caller may not see. */
  | { readonly kind: 'fetch'; readonly hashes: readonly string[] }
  /** Namespaces of grains that the caller may see, in any order. */
  | { readonly kind: 'namespaces' }
  /** For each of these words of a query: words of the memory that may be meant by it, where it holds none of its own. */
  | { readonly kind: 'alike'; readonly words: readonly string[]; readonly limit: number }
  /** A unit vector for what each of these grains says, undefined for one without. */
  | { readonly kind: 'vectors'; readonly hashes: readonly string[] }
  /** The order that a model would put these hits in. */
  | { readonly kind: 'rerank'; readonly hits: readonly StageHit[] };

export type Answer =
  | { readonly kind: 'search'; readonly hits: readonly StageHit[] }
  | { readonly kind: 'fetch'; readonly grains: readonly (GrainView | null)[] }
  | { readonly kind: 'namespaces'; readonly namespaces: readonly string[] }
  | { readonly kind: 'alike'; readonly words: readonly (readonly string[])[] }
  | { readonly kind: 'vectors'; readonly vectors: readonly (Float32Array | undefined)[] }
  /** Places of the hits, the best first: all of them, each once. Undefined: they stay as they are. */
  | { readonly kind: 'rerank'; readonly order: readonly number[] | undefined };

export type Asking<T> = Generator<readonly Ask[], T, readonly Answer[]>;

/** Runs to the end with answers at hand. */
export function answerNow<T>(asking: Asking<T>, answer: (ask: Ask) => Answer): T {
  let step = asking.next();
  while (step.done !== true) step = asking.next(step.value.map(answer));
  return step.value;
}

/** Runs to the end; asks that come together are under way together. */
export async function answerLater<T>(asking: Asking<T>, answer: (ask: Ask) => Promise<Answer>): Promise<T> {
  let step = asking.next();
  while (step.done !== true) step = asking.next(await Promise.all(step.value.map(answer)));
  return step.value;
}

/** The hits of each query, in the order of the queries. */
export function* search(queries: readonly RecallQuery[]): Asking<(readonly StageHit[])[]> {
  if (queries.length === 0) return [];
  const answers = yield queries.map((query): Ask => ({ kind: 'search', query }));
  return answers.map((answer) => {
    assert(answer.kind === 'search', 'a search is answered with hits');
    return answer.hits;
  });
}

export function* fetchGrains(hashes: readonly string[]): Asking<readonly (GrainView | null)[]> {
  if (hashes.length === 0) return [];
  const [answer] = yield [{ kind: 'fetch', hashes }];
  assert(answer?.kind === 'fetch', 'a fetch is answered with grains');
  return answer.grains;
}

export function* askNamespaces(): Asking<readonly string[]> {
  const [answer] = yield [{ kind: 'namespaces' }];
  assert(answer?.kind === 'namespaces', 'namespaces are answered with namespaces');
  return answer.namespaces;
}

/** For each word, in their order, the likeliest words of the memory first. */
export function* askAlike(words: readonly string[], limit: number): Asking<readonly (readonly string[])[]> {
  if (words.length === 0) return [];
  const [answer] = yield [{ kind: 'alike', words, limit }];
  assert(answer?.kind === 'alike' && answer.words.length === words.length, 'words are answered with words, one by one');
  return answer.words;
}

/** By hash; without those that have none. */
export function* askVectors(hits: readonly StageHit[]): Asking<ReadonlyMap<string, Float32Array>> {
  const vectors = new Map<string, Float32Array>();
  if (hits.length === 0) return vectors;
  const hashes = hits.map(({ grain }) => grain.hash);
  const [answer] = yield [{ kind: 'vectors', hashes }];
  assert(answer?.kind === 'vectors' && answer.vectors.length === hashes.length, 'grains are answered with vectors');
  for (const [at, vector] of answer.vectors.entries()) if (vector !== undefined) vectors.set(hashes[at]!, vector);
  return vectors;
}

/** First-stage candidates of a further query: each is small, and there may be fifty. */
const FOLLOW_UP_CANDIDATES = 50;

/** Another query within the conditions of the first: with its text (or another, or none: null) and a changed filter. */
export function followUp(
  { query, filter, vector }: RecallQuery,
  asked: {
    readonly text?: string | null;
    readonly limit: number;
    readonly filter?: Partial<GrainFilter>;
    readonly structural?: boolean;
    /** Ranked by BM25 alone. */
    readonly wordsOnly?: boolean;
  },
): RecallQuery {
  const text = asked.text === undefined ? query : asked.text;
  const narrowed = { ...filter, ...asked.filter };
  const { subject, relation, object, entity } = narrowed;
  const structural = [subject, relation, object, entity].some((value) => value !== undefined);
  return {
    ...(text === undefined || text === null ? {} : { query: text }),
    // Other words have another vector, which nobody has made.
    ...(vector === undefined || text !== query || asked.wordsOnly === true ? {} : { vector }),
    filter: narrowed,
    limit: asked.limit,
    candidateLimit: Math.max(asked.limit, FOLLOW_UP_CANDIDATES),
    structural: asked.structural ?? structural,
    ...(asked.wordsOnly === true ? { wordsOnly: true } : {}),
  };
}

/** The filter about an entity instead of a triple. */
export function aboutEntity(filter: GrainFilter, entity: string): GrainFilter {
  const { subject: _subject, relation: _relation, object: _object, ...rest } = filter;
  return { ...rest, entity };
}
