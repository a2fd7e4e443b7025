// The interface of rerankers, as Cohere, Jina, vLLM and others have it: `{model, query, documents, top_n}` to `{results:
// [{index, relevance_score}]}`.
import { post } from '../../embed/remote/request.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { EMBED_RESPONSE_BYTES_MAX } from '../../engine/base/limits.ts';
import type { Outgoing } from './outgoing.ts';
import type { Provider } from './roles.ts';

/** Indexes of passages, best first: all of them, each once. */
export type Order = readonly number[];

export class Reranker {
  readonly #provider: Provider;
  readonly #model: string;
  readonly #outgoing: Pick<Outgoing, 'fetcher'>;

  constructor(provider: Provider, model: string, outgoing: Pick<Outgoing, 'fetcher'>) {
    this.#provider = provider;
    this.#model = model;
    this.#outgoing = outgoing;
  }

  /** One try: a caller waits, and continues without the order. Throws LLM-E002. */
  async order(query: string, documents: readonly string[], timeoutMs: number): Promise<Order> {
    const { id, baseUrl, apiKey } = this.#provider;
    const failed = (what: string): EngineError => new EngineError('LLM-E002', `the provider ${id} ${what}`);
    const outcome = await post({
      service: `the provider ${id}`,
      fetch: this.#outgoing.fetcher(id, EMBED_RESPONSE_BYTES_MAX),
      url: `${baseUrl}/rerank`,
      apiKey,
      body: JSON.stringify({ model: this.#model, query, documents, top_n: documents.length }),
      timeoutMs,
      signal: NEVER,
    }).catch((error: Error) => {
      throw new EngineError('LLM-E002', error.message);
    });
    if (outcome.kind !== 'answer') throw new EngineError('LLM-E002', outcome.error.message);
    const results = resultsOf(outcome.text);
    if (results === undefined) throw failed('answered without results');
    const judged = results.slice(0, documents.length).map((result: unknown) => {
      const { index, relevance_score: score } = isObject(result) ? result : { index: undefined, relevance_score: 0 };
      if (typeof index !== 'number' || typeof score !== 'number' || !Number.isFinite(score))
        throw failed('answered with a result without index and score');
      return { index, score };
    });
    judged.sort((one, other) => other.score - one.score);
    return completed(
      judged.map(({ index }) => index),
      documents.length,
    );
  }
}

/** The timeout ends a call; callers do not cancel it. */
const NEVER = new AbortController().signal;

/** The listed passages, each once, then the others in their order. Invalid numbers are skipped. */
export function completed(named: readonly number[], count: number): Order {
  const places = new Set(named.filter((at) => Number.isInteger(at) && at >= 0 && at < count));
  for (let at = 0; at < count; at++) places.add(at);
  return [...places];
}

function resultsOf(text: string): readonly unknown[] | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    return isObject(answer) && Array.isArray(answer['results']) ? answer['results'] : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
