// Measures held heap after collecting all garbage.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** One full collection. */
export const collect = runInNewContext('gc') as () => void; // V8's own function, of no module

/** Bytes of the heap and of buffers outside it, after full collections: with fewer passes, some garbage counts too. */
export async function heldBytes(passes = 3): Promise<number> {
  for (let pass = 0; pass < passes; pass++) {
    collect();
    // Finalizers of buffers run between turns.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
