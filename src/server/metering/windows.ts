// The requests of the last 15 minutes: latencies of writes and recalls, and the share of failures. They are of this
// process and begin again with it.
import type { Clock } from '../../engine/base/clock.ts';
import { statusOf } from '../status.ts';

export const WINDOW_S = 900;
const SLOT_MS = 60_000;
const SLOTS = WINDOW_S / (SLOT_MS / 1000);
/** Upper bounds of latencies: the first in ms, and the factor from each to the next. The last bucket holds the rest. */
const FIRST_MS = 0.25;
const FACTOR = 1.15;
const BUCKETS = 90;

/** The operations whose latencies count, by their names in the table. */
const CLASS_OF: Readonly<Record<string, 'write' | 'recall'>> = {
  add: 'write',
  batch_add: 'write',
  supersede: 'write',
  accumulate: 'write',
  recall: 'recall',
  search: 'recall',
};

/** The requests of one minute. */
class Slot {
  minute = -1;
  requests = 0;
  failures = 0;
  readonly write = new Uint32Array(BUCKETS);
  readonly recall = new Uint32Array(BUCKETS);

  begin(minute: number): void {
    this.minute = minute;
    this.requests = 0;
    this.failures = 0;
    this.write.fill(0);
    this.recall.fill(0);
  }
}

export class RequestWindows {
  readonly #clock: Clock;
  readonly #slots = Array.from({ length: SLOTS }, () => new Slot());

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `code` is `ok` or an error code. */
  take(operation: string, code: string, seconds: number): void {
    const minute = Math.floor(this.#clock.nowMs() / SLOT_MS);
    const slot = this.#slots[minute % SLOTS]!;
    if (slot.minute !== minute) slot.begin(minute);
    slot.requests += 1;
    if (code !== 'ok' && isFailure(code)) slot.failures += 1;
    const kind = CLASS_OF[operation];
    if (kind !== undefined) slot[kind][bucketOf(seconds * 1000)]! += 1;
  }

  /** Requests of the window, and those that failed by the server's fault. */
  requests(): { readonly requests: number; readonly failures: number } {
    const slots = this.#recent();
    return {
      requests: slots.reduce((sum, slot) => sum + slot.requests, 0),
      failures: slots.reduce((sum, slot) => sum + slot.failures, 0),
    };
  }

  /** Number of requests of that kind, and the latency below which a share `q` of them lies, in ms. */
  latency(kind: 'write' | 'recall', q: number): { readonly samples: number; readonly ms: number } {
    const sums = new Float64Array(BUCKETS);
    for (const slot of this.#recent()) for (let at = 0; at < BUCKETS; at++) sums[at]! += slot[kind][at]!;
    const samples = sums.reduce((sum, count) => sum + count, 0);
    let below = 0;
    for (let at = 0; at < BUCKETS && samples > 0; at++) {
      const count = sums[at]!;
      if (below + count >= q * samples && count > 0) {
        const low = at === 0 ? 0 : boundOf(at - 1);
        return { samples, ms: low + (boundOf(at) - low) * ((q * samples - below) / count) };
      }
      below += count;
    }
    return { samples, ms: 0 };
  }

  #recent(): readonly Slot[] {
    const minute = Math.floor(this.#clock.nowMs() / SLOT_MS);
    return this.#slots.filter((slot) => slot.minute > minute - SLOTS && slot.minute <= minute);
  }
}

function boundOf(bucket: number): number {
  return FIRST_MS * FACTOR ** bucket;
}

function bucketOf(ms: number): number {
  if (ms <= FIRST_MS) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / FIRST_MS) / Math.log(FACTOR)));
}

/** True for an answer with a status of 500 or above: the caller could not have avoided it. */
function isFailure(code: string): boolean {
  return statusOf(code)!.http >= 500;
}
