// What is wrong with the shards, said once in the log when it is first seen: health tells it only to those who ask.
import { HEALTH_LOG_MS, HEALTH_LOG_REASONS_MAX } from '../engine/base/limits.ts';
import type { Logger } from './log.ts';

/** A shard, or the control log, and what is wrong with it. */
interface Looked {
  readonly shard: number | 'control';
  readonly reasons: readonly string[];
}

export class HealthLog {
  readonly #log: Pick<Logger, 'warn'>;
  #said = new Set<string>();

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  /** Says what was not said yet. A reason that went away and comes back is said again. */
  take(shards: readonly Looked[]): void {
    const now = new Set<string>();
    for (const { shard, reasons } of shards)
      for (const reason of reasons) {
        if (now.size >= HEALTH_LOG_REASONS_MAX) break;
        const key = `${shard} ${reason}`;
        now.add(key);
        if (!this.#said.has(key)) this.#log.warn({ shard, reason }, 'a shard is not as it should be');
      }
    this.#said = now;
  }
}

/** Looks now and again. Returns what ends it. */
export function watchHealth(health: () => Promise<readonly Looked[]>, log: Logger): () => void {
  const told = new HealthLog(log);
  let isAsking = false;
  const look = async (): Promise<void> => {
    // A worker that is down is the pool's to tell; one that is slow is not asked twice.
    if (isAsking) return;
    isAsking = true;
    try {
      told.take(await health());
    } catch {
      // Said by the pool.
    } finally {
      isAsking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), HEALTH_LOG_MS);
  timer.unref();
  return () => clearInterval(timer);
}
