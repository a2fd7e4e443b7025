// The vector of a question, if it can be had in time: recall answers from words alone otherwise, and says so.
import { packVectors } from '../../engine/index/vectors/transfer.ts';
import { QUERY_VECTOR_WAIT_MS } from '../../engine/limits.ts';
import type { RecallQuery } from '../../shards/protocol.ts';
import type { Embedders } from './embedders.ts';

export interface QueryVector {
  /** Absent without vectors, and for a text that has none. */
  readonly vector?: NonNullable<RecallQuery['vector']>;
  /** Why the answer is of words alone. */
  readonly warning?: string;
}

/** Never rejects. Waits `waitMs` at most. */
export async function queryVector(
  embedders: Pick<Embedders, 'of' | 'status'>,
  text: string,
  waitMs: number,
): Promise<QueryVector> {
  const embedder = embedders.of('');
  if (embedder === undefined) {
    const { state } = embedders.status();
    if (state === 'none') return {};
    return { warning: `found by words alone: the embedder is ${state === 'failed' ? 'out of order' : 'being loaded'}` };
  }
  const signal = AbortSignal.timeout(Math.max(1, Math.min(waitMs, QUERY_VECTOR_WAIT_MS)));
  try {
    const [vector] = await embedder.embed([text], { priority: 'query', signal });
    if (vector === undefined) return {};
    return { vector: { bytes: packVectors([vector]), of: text, embedder: embedder.name } };
  } catch {
    return {
      warning: `found by words alone: the embedder ${signal.aborted ? 'did not answer in time' : 'is out of order'}`,
    };
  }
}
