// Counts acts that come in bursts when something is wrong: removals, refusals by policy, exports and failed keys. A count
// above its threshold within an hour raises one alarm until it falls again, and a second one at ten times the threshold.
import { MONITORED_MEMORIES_MAX } from '../../engine/base/limits.ts';

/** Acts within an hour that are still usual (service contract, section 9; exports and failed keys have it from here). */
export const THRESHOLDS = {
  excessive_forget: 100,
  policy_violations: 20,
  excessive_export: 20,
  failed_keys: 100,
} as const;
export type Burst = keyof typeof THRESHOLDS;

export interface Alarm {
  readonly burst: Burst;
  /** Number of the memory; undefined for what concerns the deployment. */
  readonly memory: number | undefined;
  /** Acts within the last hour. */
  readonly count: number;
  readonly severity: 'warning' | 'critical';
}

/** The result of an invented burst, by which a check tests the monitor. */
export interface Drill {
  readonly threshold: number;
  /** True when an alarm came at the threshold already. */
  readonly tooEarly: boolean;
  /** True when an alarm came above it. */
  readonly raised: boolean;
}

/** An hour is counted in parts, so that old acts leave the count little by little. */
const PARTS = 12;
const PART_MS = 300_000;
const CRITICAL_FACTOR = 10;

/** Acts of one kind in one memory. */
class Hour {
  readonly #counts = new Array<number>(PARTS).fill(0);
  #part = 0;
  #level = 0;

  /** The severity of the alarm that this act raises, if it raises one. */
  add(acts: number, threshold: number, nowMs: number): Pick<Alarm, 'count' | 'severity'> | undefined {
    this.#moveTo(Math.floor(nowMs / PART_MS));
    const at = this.#part % PARTS;
    this.#counts[at] = (this.#counts[at] ?? 0) + acts;
    const count = this.#counts.reduce((sum, some) => sum + some, 0);
    const level = count > threshold * CRITICAL_FACTOR ? 2 : count > threshold ? 1 : 0;
    const isNew = level > this.#level;
    this.#level = level;
    return isNew ? { count, severity: level === 2 ? 'critical' : 'warning' } : undefined;
  }

  #moveTo(part: number): void {
    // After the clock was set back, acts count in the newest part.
    const passed = Math.min(PARTS, part - this.#part);
    for (let i = 1; i <= passed; i++) this.#counts[(part - passed + i) % PARTS] = 0;
    this.#part = Math.max(this.#part, part);
  }
}

export class Monitor {
  readonly #nowMs: () => number;
  readonly #raise: (alarm: Alarm) => void;
  /** The least recently active first. */
  readonly #hours = new Map<string, Hour>();

  constructor(parts: { readonly nowMs: () => number; readonly raise: (alarm: Alarm) => void }) {
    this.#nowMs = parts.nowMs;
    this.#raise = parts.raise;
  }

  saw(burst: Burst, memory: number | undefined, acts = 1): void {
    if (acts === 0) return;
    const key = `${burst} ${memory ?? ''}`;
    const hour = this.#hours.get(key) ?? new Hour();
    this.#hours.delete(key);
    this.#hours.set(key, hour);
    if (this.#hours.size > MONITORED_MEMORIES_MAX) this.#hours.delete(this.#hours.keys().next().value ?? key);
    const alarm = hour.add(acts, THRESHOLDS[burst], this.#nowMs());
    if (alarm !== undefined) this.#raise({ burst, memory, ...alarm });
  }

  /** Sends a burst of removals through a monitor that records its alarms only. */
  drill(): Drill {
    const alarms: Alarm[] = [];
    const twin = new Monitor({ nowMs: this.#nowMs, raise: (alarm) => void alarms.push(alarm) });
    const threshold = THRESHOLDS.excessive_forget;
    for (let i = 0; i < threshold; i++) twin.saw('excessive_forget', 0);
    const tooEarly = alarms.length > 0;
    twin.saw('excessive_forget', 0);
    return { threshold, tooEarly, raised: alarms.length > 0 };
  }
}
