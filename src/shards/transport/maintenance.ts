// Schedules maintenance of a worker's engines in time slices between batches. Under load a slice is short and is
// followed by a pause of the same length, so maintenance takes at most half of the worker's time. Without load slices
// are longer and have no pause; a new request waits for at most one slice.
import { assert } from '../../engine/base/assert.ts';
import { IDLE_AFTER_MS, IDLE_SLICE_MS, MAINTENANCE_TICK_MS, SLICE_MS } from '../../engine/base/limits.ts';
import type { EngineDoor } from './engine-door.ts';

export interface MaintenanceOptions {
  /** The open engines, by shard. They may change. */
  readonly engines: ReadonlyMap<number, Pick<EngineDoor, 'maintain'>>;
  /** Called with an error in a slice that only a bug can cause. No slice follows. */
  readonly onBug: (error: unknown) => void;
  /** Duration of a slice while no requests arrive. Default: IDLE_SLICE_MS. */
  readonly idleSliceMs?: number | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Runs its argument after `delayMs`; 0 means later in this turn of the event loop. */
  readonly schedule?: ((run: () => void, delayMs: number) => void) | undefined;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #nowMs: () => number;
  readonly #schedule: (run: () => void, delayMs: number) => void;
  /** Engines that may have work; the next slice starts with the first. */
  #due: Pick<EngineDoor, 'maintain'>[] = [];
  #scheduled = false;
  #stopped = false;
  #lastBatchMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  readonly #tick: NodeJS.Timeout;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#schedule = options.schedule ?? scheduleInLoop;
    this.#tick = setInterval(() => this.wake(), MAINTENANCE_TICK_MS);
    // The timer must not keep a closed worker alive.
    this.#tick.unref();
  }

  /** Call after each batch: there may be new work, and the worker is under load. */
  batchRan(): void {
    this.#lastBatchMs = this.#nowMs();
    this.wake();
  }

  /** Offers time to every engine, from the next slice on, until none has more to do. */
  wake(): void {
    for (const engine of this.#options.engines.values()) if (!this.#due.includes(engine)) this.#due.push(engine);
    this.#next();
  }

  /** The engine is about to close. */
  leave(engine: Pick<EngineDoor, 'maintain'>): void {
    this.#due = this.#due.filter((other) => other !== engine);
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#tick);
  }

  #isIdle(nowMs: number): boolean {
    return nowMs - this.#lastBatchMs > IDLE_AFTER_MS;
  }

  #next(): void {
    if (this.#scheduled || this.#stopped || this.#due.length === 0) return;
    const nowMs = this.#nowMs();
    const restMs = this.#isIdle(nowMs) ? 0 : Math.max(0, this.#restUntilMs - nowMs);
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      if (this.#stopped) return;
      this.#slice();
      this.#next();
    }, restMs);
  }

  /** Runs engines in turn until the slice's time is used up. An engine with more work goes to the end of the queue. */
  #slice(): void {
    const startMs = this.#nowMs();
    const endMs = startMs + (this.#isIdle(startMs) ? (this.#options.idleSliceMs ?? IDLE_SLICE_MS) : SLICE_MS);
    const again: Pick<EngineDoor, 'maintain'>[] = [];
    let nowMs = startMs;
    try {
      while (nowMs < endMs) {
        const engine = this.#due.shift();
        if (engine === undefined) break;
        if (engine.maintain(endMs - nowMs)) again.push(engine);
        nowMs = this.#nowMs();
      }
    } catch (error) {
      this.stop();
      this.#options.onBug(error);
      return;
    }
    this.#due.push(...again);
    assert(this.#due.length <= this.#options.engines.size, 'an engine is due once');
    this.#restUntilMs = nowMs + (nowMs - startMs);
  }
}

function scheduleInLoop(run: () => void, delayMs: number): void {
  if (delayMs === 0) setImmediate(run);
  else setTimeout(run, delayMs);
}
