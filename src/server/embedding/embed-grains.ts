// From the texts of grains to their vectors: windows are cut in short slices, since the thread that cuts them answers
// requests too, and embedded in calls of a bounded number, one of which is made ready while another is under way.

import { type Embedder, EmbedError } from '../../embed/embedder.ts';
import { eachWindow } from '../../embed/windows.ts';
import { EMBED_CALL_WINDOWS_MAX, FOLLOW_SLICE_MS } from '../../engine/base/limits.ts';

/** A unit vector's length may differ from 1 by so much. */
const UNIT_TOLERANCE = 0.01;

interface Window {
  /** Place of its grain. */
  readonly grain: number;
  readonly text: string;
}

/**
 * Calls `done` for each text in order with the vectors of its windows, in order; windows without words have none. Rejects
 * with EmbedError, also for what is no unit vector of the embedder's dimensions, or with the reason of the signal; then
 * nothing of it is under way, and `done` was called for the texts before. `between` runs between two calls of the embedder, while
 * the one before is under way; the next waits for it.
 */
export async function embedGrains(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
  done: (vectors: readonly Float32Array[]) => void,
  between?: () => Promise<unknown>,
): Promise<void> {
  const made = texts.map((): Float32Array[] => []);
  let told = 0;
  const tell = (count: number): void => {
    for (; told < count; told++) done(made[told]!);
  };
  const call = async (windows: readonly Window[], before: Promise<void>, given: AbortSignal): Promise<void> => {
    const vectors = await embedder.embed(
      windows.map(({ text }) => text),
      { priority: 'backlog', signal: given },
    );
    if (vectors.length !== windows.length) throw broken(`${vectors.length} vectors for ${windows.length} texts`);
    // Vectors of a long text go behind those of its windows before.
    await before;
    vectors.forEach((vector, i) => {
      if (vector !== undefined) made[windows[i]!.grain]!.push(checked(vector, embedder));
    });
    // The last one may go on in the next call.
    tell(windows.at(-1)!.grain);
  };
  const failed = new AbortController();
  const given = AbortSignal.any([signal, failed.signal]);
  let last = Promise.resolve();
  try {
    let calls = 0;
    for await (const windows of callsOf(texts, signal)) {
      if (calls++ > 0) await between?.();
      const before = last;
      last = call(windows, before, given);
      // Its failure is met where it is awaited.
      last.catch(() => undefined);
      await before;
    }
    await last;
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled([last]);
    throw error;
  }
  tell(texts.length);
}

/** The windows of all texts, as many at a time as one call has. */
async function* callsOf(texts: readonly string[], signal: AbortSignal): AsyncGenerator<readonly Window[]> {
  let windows: Window[] = [];
  let sliceEndMs = performance.now() + FOLLOW_SLICE_MS;
  for (const [grain, whole] of texts.entries()) {
    for (const text of eachWindow(whole)) {
      windows.push({ grain, text });
      if (windows.length === EMBED_CALL_WINDOWS_MAX) {
        yield windows;
        windows = [];
      }
      if (performance.now() < sliceEndMs) continue;
      await new Promise(setImmediate);
      signal.throwIfAborted();
      sliceEndMs = performance.now() + FOLLOW_SLICE_MS;
    }
  }
  if (windows.length > 0) yield windows;
}

/** What a shard is given it takes for granted: a vector that is none would be its end. */
function checked(vector: Float32Array, { dimensions }: Embedder): Float32Array {
  if (vector.length !== dimensions) throw broken(`a vector of ${vector.length} numbers instead of ${dimensions}`);
  let sum = 0;
  for (let i = 0; i < dimensions; i++) sum += vector[i]! * vector[i]!;
  if (!(Math.abs(Math.sqrt(sum) - 1) <= UNIT_TOLERANCE)) throw broken('a vector that is not of length 1');
  return vector;
}

function broken(what: string): EmbedError {
  return new EmbedError(`the embedder gave ${what}`, { retryable: false });
}
