// Logs problems of shards when they first appear; health reports them only on request.
import { HEALTH_LOG_MS, HEALTH_LOG_REASONS_MAX } from '../engine/base/limits.ts';
import type { Logger } from './log.ts';

/** A shard, or the control log, with its problems. */
interface Looked {
  readonly shard: number | 'control';
  readonly reasons: readonly string[];
}

export class HealthLog {
  readonly #log: Pick<Logger, 'warn'>;
  #logged = new Set<string>();

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  /** Logs new reasons. A reason that disappears and returns is logged again. */
  take(shards: readonly Looked[]): void {
    const now = new Set<string>();
    for (const { shard, reasons } of shards)
      for (const reason of reasons) {
        if (now.size >= HEALTH_LOG_REASONS_MAX) break;
        const key = `${shard} ${reason}`;
        now.add(key);
        if (!this.#logged.has(key)) this.#log.warn({ shard, reason }, 'a shard has a problem');
      }
    this.#logged = now;
  }
}

/** Checks periodically. Returns a function that stops it. */
export function watchHealth(health: () => Promise<readonly Looked[]>, log: Logger): () => void {
  const healthLog = new HealthLog(log);
  let isAsking = false;
  const look = async (): Promise<void> => {
    // The pool reports workers that are down; a slow one is not asked twice.
    if (isAsking) return;
    isAsking = true;
    try {
      healthLog.take(await health());
    } catch {
      // The pool logs it.
    } finally {
      isAsking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), HEALTH_LOG_MS);
  timer.unref();
  return () => clearInterval(timer);
}
