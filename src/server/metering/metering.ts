// Computes metrics on demand and answers them again for 30 seconds. An entry serves only callers that see the same: the
// key says what that is.
import type { Clock } from '../../engine/base/clock.ts';
import { METRICS_CACHED_MAX, METRICS_CACHED_MS, METRICS_RUNNING_MAX } from '../../engine/base/limits.ts';
import { type Measured, type Metric, type MetricId, metricOf } from './rows.ts';
import { RequestWindows } from './windows.ts';

export interface ComputedMetrics {
  /** Milliseconds since 1970. */
  readonly computedAtMs: number;
  readonly metrics: readonly Metric[];
}

/** Values by the ids of metrics, in the order of the answer. */
export type MeasuredRows = Readonly<Partial<Record<MetricId, Measured>>>;

interface Kept {
  readonly fromMs: number;
  readonly computed: Promise<ComputedMetrics>;
}

export class Metering {
  readonly windows: RequestWindows;
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.windows = new RequestWindows(clock);
  }

  /** The metrics under a key: those of the last 30 seconds, or computed now. Errors are not kept. */
  of(key: string, measure: () => Promise<MeasuredRows>): Promise<ComputedMetrics> {
    const nowMs = this.#clock.nowMs();
    const known = this.#kept.get(key);
    if (known !== undefined && nowMs >= known.fromMs && nowMs < known.fromMs + METRICS_CACHED_MS) return known.computed;
    const computed = this.#inTurn(measure);
    this.#kept.delete(key);
    this.#kept.set(key, { fromMs: nowMs, computed });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= METRICS_CACHED_MAX) break;
      this.#kept.delete(oldest);
    }
    computed.catch(() => {
      if (this.#kept.get(key)?.computed === computed) this.#kept.delete(key);
    });
    return computed;
  }

  /** Few at a time, because each one walks the columns of a memory. */
  async #inTurn(measure: () => Promise<MeasuredRows>): Promise<ComputedMetrics> {
    if (this.#running >= METRICS_RUNNING_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      const rows = await measure();
      return {
        computedAtMs: this.#clock.nowMs(),
        // The keys are ids of metrics; TypeScript's entries lose that.
        metrics: Object.entries(rows).map(([id, measured]) => metricOf(id as MetricId, measured)),
      };
    } finally {
      // The turn goes to the next one that waits.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
