// Token buckets by name (a key, an address). Idle buckets are dropped, because a full bucket equals none.

import { assert } from '../../engine/base/assert.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { RATE_BUCKETS_MAX } from '../../engine/base/limits.ts';

interface Bucket {
  tokens: number;
  atMs: number;
}

/** State of a bucket, as reported to its caller. */
export interface Allowance {
  readonly granted: boolean;
  /** Requests per minute. */
  readonly limit: number;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number;
  /** Seconds until the next token; 0 when granted. */
  readonly retryAfterSeconds: number;
}

export class RateLimiter {
  readonly #perMinute: number;
  readonly #burst: number;
  readonly #clock: Clock;
  readonly #max: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: { perMinute: number; burst: number; clock: Clock; bucketsMax?: number | undefined }) {
    assert(options.perMinute > 0 && options.burst >= 1, 'a bucket fills and holds a token');
    this.#perMinute = options.perMinute;
    this.#burst = options.burst;
    this.#clock = options.clock;
    this.#max = options.bucketsMax ?? RATE_BUCKETS_MAX;
  }

  /** Takes a token from bucket `name` if one is left. */
  take(name: string): Allowance {
    const bucket = this.#filled(name);
    const granted = bucket.tokens >= 1;
    if (granted) bucket.tokens -= 1;
    // Delete and set: the map then keeps order of use, and its first entry is the least recently used.
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > this.#max) this.#forget();
    const perSecond = this.#perMinute / 60;
    return {
      granted,
      limit: this.#perMinute,
      remaining: Math.floor(bucket.tokens),
      resetSeconds: Math.ceil((this.#burst - bucket.tokens) / perSecond),
      retryAfterSeconds: granted ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
    };
  }

  #filled(name: string): Bucket {
    const now = this.#clock.nowMs();
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return { tokens: this.#burst, atMs: now };
    const gained = (Math.max(0, now - bucket.atMs) * this.#perMinute) / 60_000;
    return { tokens: Math.min(this.#burst, bucket.tokens + gained), atMs: now };
  }

  #forget(): void {
    const idlest = this.#buckets.keys().next();
    if (!idlest.done) this.#buckets.delete(idlest.value);
  }

  get size(): number {
    return this.#buckets.size;
  }
}
