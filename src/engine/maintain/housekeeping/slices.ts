import { SLICE_MS } from '../../base/limits.ts';

/** Runs work in slices of `SLICE_MS` with a turn of the event loop between them. Resolves with the work's result. */
export async function inSlices<T>(work: Iterator<void, T, void>): Promise<T> {
  for (;;) {
    const until = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
