// Waiting between tries.

const FIRST_MS = 200;
const LONGEST_MS = 10_000;
/** Times of a server are believed up to this. */
const ASKED_MS_MAX = 60_000;
/** A timer of a longer time ends at once. 24.8 days. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** As setTimeout; a time beyond its longest one, such as Infinity, ends after that. */
export function timerOf(done: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(done, Math.min(ms, TIMER_MS_MAX));
}

/**
 * Milliseconds before try `attempt` (from 1): a random part of a time that doubles, so that clients that failed together do not come back
 * together; no less than the server asked for.
 */
export function backoffMs(attempt: number, askedMs = 0, random: () => number = Math.random): number {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  const asked = Math.min(askedMs, ASKED_MS_MAX);
  return asked + Math.ceil((asked > 0 ? FIRST_MS : most) * (0.5 + random() / 2));
}

/** Resolves after the time; rejects with the signal's reason when it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const done = (): void => {
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    const timer = timerOf(done, ms);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}
