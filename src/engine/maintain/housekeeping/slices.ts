import { SLICE_MS } from '../../base/limits.ts';
import type { Store } from '../../store/store.ts';

/**
 * Runs work in slices of `SLICE_MS` with a turn of the event loop between them. While `awaited` returns a promise, the
 * work waits for it and has nothing to do. Resolves with the work's result.
 */
export async function inSlices<T>(
  work: Iterator<void, T, void>,
  awaited?: () => Promise<void> | undefined,
): Promise<T> {
  for (;;) {
    const until = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (awaited?.() === undefined && performance.now() < until);
    await (awaited?.() ?? new Promise((resolve) => setImmediate(resolve)));
  }
}

/** The same for work that reads parts of the index in more than one slice: a merge closes no file that it may read. */
export async function readInSlices<T>({ index }: Pick<Store, 'index'>, work: Iterator<void, T, void>): Promise<T> {
  const end = index.beginRead();
  try {
    return await inSlices(work);
  } finally {
    end();
  }
}
