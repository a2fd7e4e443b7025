// Retry delays: exponential backoff with full jitter (uniform between zero and the step), so that clients that failed
// together do not retry together.
import { EMBED_RETRY_MAX_MS, EMBED_RETRY_MIN_MS } from '../../engine/base/limits.ts';

/** Milliseconds to wait after failure number `failures` (from 1). `random` gives [0, 1). */
export function backoffMs(failures: number, random: () => number): number {
  return random() * Math.min(EMBED_RETRY_MAX_MS, EMBED_RETRY_MIN_MS * 2 ** (failures - 1));
}

/** Milliseconds requested by a Retry-After header (seconds, or an HTTP date); undefined when absent or invalid. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d{1,9}(\.\d{1,3})?$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms - nowMs);
}

/** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
export function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const give = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', give);
      resolve();
    }, ms);
    signal.addEventListener('abort', give, { once: true });
  });
}
