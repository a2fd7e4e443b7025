// Embeds the texts of grains. Windows are cut in short slices, because this thread also answers requests, and are
// embedded in calls of bounded size: one is prepared while another runs.

import { type Embedder, EmbedError } from '../../embed/embedder.ts';
import { eachWindow } from '../../embed/windows.ts';
import { EMBED_CALL_WINDOWS_MAX, FOLLOW_SLICE_MS } from '../../engine/base/limits.ts';

/** Tolerance for the norm of a unit vector. */
const UNIT_TOLERANCE = 0.01;

interface Window {
  /** Index of its grain. */
  readonly grain: number;
  readonly text: string;
}

/**
 * Calls `done` for each text in order with the vectors of its windows; windows without words have none. Rejects with
 * EmbedError, also for a vector that is not a unit vector of the embedder's dimensions, or with the signal's reason;
 * then nothing is running, and `done` was called for the earlier texts. `between` runs between two calls of the
 * embedder, while the previous one runs; the next call waits for it.
 */
export async function embedGrains(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
  done: (vectors: readonly Float32Array[]) => void,
  between?: () => Promise<unknown>,
): Promise<void> {
  const made = texts.map((): Float32Array[] => []);
  let reported = 0;
  const report = (count: number): void => {
    for (; reported < count; reported++) done(made[reported]!);
  };
  const call = async (windows: readonly Window[], before: Promise<void>, given: AbortSignal): Promise<void> => {
    const vectors = await embedder.embed(
      windows.map(({ text }) => text),
      { priority: 'backlog', signal: given },
    );
    if (vectors.length !== windows.length) throw broken(`${vectors.length} vectors for ${windows.length} texts`);
    // The vectors of a long text follow those of its earlier windows.
    await before;
    vectors.forEach((vector, i) => {
      if (vector !== undefined) made[windows[i]!.grain]!.push(checked(vector, embedder));
    });
    // The last text may continue in the next call.
    report(windows.at(-1)!.grain);
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
      // Its failure is handled where it is awaited.
      last.catch(() => undefined);
      await before;
    }
    await last;
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled([last]);
    throw error;
  }
  report(texts.length);
}

/** The windows of all texts, in groups for one call each. */
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

/** Shards do not validate vectors: an invalid one would crash them. */
function checked(vector: Float32Array, { dimensions }: Embedder): Float32Array {
  if (vector.length !== dimensions) throw broken(`a vector of ${vector.length} numbers instead of ${dimensions}`);
  if (!isUnit(vector, { dimensions })) throw broken('a vector whose length is not 1');
  return vector;
}

/** Whether a vector can be stored. */
export function isUnit(vector: Float32Array, { dimensions }: Pick<Embedder, 'dimensions'>): boolean {
  let sum = 0;
  for (let i = 0; i < dimensions; i++) sum += vector[i]! * vector[i]!;
  return vector.length === dimensions && Math.abs(Math.sqrt(sum) - 1) <= UNIT_TOLERANCE;
}

export function broken(what: string): EmbedError {
  return new EmbedError(`the embedder gave ${what}`, { retryable: false });
}
