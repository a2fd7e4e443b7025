// Waits for results of background work: a condition is checked until it holds, as long as a slow machine under load may
// need. No test depends on the duration.
import assert from 'node:assert/strict';

/** After this time the result will not come. */
export const WAIT_MS_MAX = 120_000;
const LOOK_MS = 25;

/** Resolves once `isSo` gives true; fails with `what` when that never comes, or when a look itself does not end. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const failed = () => late.reject(new assert.AssertionError({ message: `${what}: not within ${WAIT_MS_MAX} ms` }));
  const timer = setTimeout(failed, WAIT_MS_MAX);
  try {
    while (!(await Promise.race([late.promise, isSo()]))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  } finally {
    clearTimeout(timer);
  }
}
