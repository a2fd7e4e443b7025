// Splits what is to be stored into requests of the size that the server takes.
import { LIMITS } from './gen/operations.ts';

/** One turn of a conversation. */
export interface Turn {
  /** The speaker: user, assistant, system or tool. */
  readonly role: string;
  readonly content: string;
  readonly time?: Date | undefined;
}

/** Half of what a request may have: the server counts the whole body. */
const BATCH_BYTES_MAX = LIMITS.requestBytes / 2;

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** The items as bodies, in batches. An item that is too large alone is a batch of its own, which the server refuses. */
export async function* batches<T>(
  items: Iterable<T> | AsyncIterable<T>,
  bodyOf: (item: T) => object,
): AsyncGenerator<object[], void, undefined> {
  let batch: object[] = [];
  let bytes = 0;
  for await (const item of items) {
    const body = bodyOf(item);
    const size = bytesOf(JSON.stringify(body));
    if (batch.length > 0 && (batch.length === LIMITS.batchGrains || bytes + size > BATCH_BYTES_MAX)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(body);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** The turns in batches that `remember` takes: by number, and by the bytes of their texts. */
export function* turnBatches(turns: readonly Turn[]): Generator<readonly Turn[], void, undefined> {
  let from = 0;
  let bytes = 0;
  for (const [at, { content }] of turns.entries()) {
    const size = bytesOf(content);
    if (at > from && (at - from === LIMITS.batchGrains || bytes + size > LIMITS.rememberBytes)) {
      yield turns.slice(from, at);
      from = at;
      bytes = 0;
    }
    bytes += size;
  }
  if (from < turns.length) yield turns.slice(from);
}
