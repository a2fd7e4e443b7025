// Rebuilds the segments of a shard from its log after a bad block, or when a damaged memory can be opened again.
import { steadyMs } from '../../base/clock.ts';
import { EngineError } from '../../base/errors.ts';
import { HOUSEKEEPING_RETRY_MS } from '../../base/limits.ts';
import { damageReason } from '../reports/health.ts';
import { type RebuildServices, rebuild } from './rebuild.ts';

/** Maximum number of repairs that are reported. */
const NAMED_MAX = 20;

export class Repairs {
  readonly #services: RebuildServices;
  readonly #onFatal: (error: unknown) => void;
  readonly #done: string[] = [];
  /** Earliest time of the next repair, a time of `steadyMs`. */
  #repairAtMs = Number.NEGATIVE_INFINITY;
  /** Earliest time to try unopenable memories again, a time of `steadyMs`. */
  #askAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();

  constructor(services: RebuildServices, onFatal: (error: unknown) => void) {
    this.#services = services;
    this.#onFatal = onFatal;
  }

  /** Problems that were repaired since the shard was opened, the newest last. */
  get done(): readonly string[] {
    return this.#done;
  }

  /** Resolves when no repair is running. */
  idle(): Promise<void> {
    return this.#running;
  }

  /** Starts a repair if one is due. */
  run(): void {
    if (this.#services.store.index.damaged || this.#hasRepairable()) this.#repair();
  }

  /** True if a memory's index is damaged and a rebuild would help. Checked at intervals. */
  #hasRepairable(): boolean {
    const { store } = this.#services;
    if (store.damage.size === 0) return false;
    const nowMs = steadyMs(store.clock);
    if (nowMs < Math.max(this.#askAtMs, this.#repairAtMs)) return false;
    if (store.repairable().length > 0) return true;
    this.#askAtMs = nowMs + HOUSEKEEPING_RETRY_MS;
    return false;
  }

  /** Rebuilds the segments, unless a rebuild is running or has just failed. */
  #repair(): void {
    const { store } = this.#services;
    if (steadyMs(store.clock) < this.#repairAtMs || store.log.poisoned !== undefined) return;
    this.#repairAtMs = Number.POSITIVE_INFINITY;
    const problems = [...store.index.problems, ...store.repairable().map((memory) => damageReason(store, memory))];
    this.#running = rebuild(this.#services, 0).then(
      () => {
        this.#repairAtMs = Number.NEGATIVE_INFINITY;
        for (const problem of problems) this.#done.push(`rebuilt from the log: ${problem}`);
        this.#done.splice(0, Math.max(0, this.#done.length - NAMED_MAX));
      },
      (error: unknown) => {
        // The disk may accept the rebuild later.
        this.#repairAtMs = steadyMs(store.clock) + HOUSEKEEPING_RETRY_MS;
        if (!(error instanceof EngineError)) this.#onFatal(error);
      },
    );
  }
}
