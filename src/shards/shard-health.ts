// Collects the health of each shard. A worker that packs an answer of 16 MiB is busy for hundreds of milliseconds, and
// a health check must not wait for that. So a shard that does not answer at once is reported with its last known
// health, as long as that is recent enough. Otherwise the check waits for the shard.
import { HEALTH_LATE_MS, HEALTH_WAIT_MS } from '../engine/base/limits.ts';
import type { ShardHealth } from './protocol.ts';

interface Entry {
  /** Set while a health call is in flight. */
  asking: Promise<void> | undefined;
  heard: { readonly health: ShardHealth; readonly atMs: number } | undefined;
}

export interface ShardHealthOptions {
  readonly shards: number;
  readonly ask: (shard: number) => Promise<ShardHealth>;
  /** The health to report for a shard that cannot be reached. */
  readonly unreachable: (shard: number, reason: unknown) => ShardHealth;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Resolves when the check stops waiting for a late shard. */
  readonly late?: (() => Promise<void>) | undefined;
}

export class ShardsHealth {
  readonly #options: ShardHealthOptions;
  readonly #entries: readonly Entry[];
  readonly #nowMs: () => number;
  readonly #late: () => Promise<void>;

  constructor(options: ShardHealthOptions) {
    this.#options = options;
    this.#entries = Array.from({ length: options.shards }, () => ({ asking: undefined, heard: undefined }));
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#late = options.late ?? (() => new Promise((resolve) => setTimeout(resolve, HEALTH_LATE_MS).unref()));
  }

  /** The health of all shards, by index. Never rejects. */
  async all(): Promise<readonly ShardHealth[]> {
    const answers = this.#entries.map((entry, shard) => this.#asked(entry, shard));
    const everyOne = Promise.all(answers);
    await Promise.race([everyOne, this.#late()]);
    const overdue = this.#entries.filter((entry) => entry.asking !== undefined && !this.#isRecent(entry));
    await Promise.all(overdue.map(({ asking }) => asking));
    return this.#entries.map(({ heard }, shard) => heard?.health ?? this.#options.unreachable(shard, 'not heard'));
  }

  #isRecent({ heard }: Entry): boolean {
    return heard !== undefined && this.#nowMs() - heard.atMs < HEALTH_WAIT_MS;
  }

  #asked(entry: Entry, shard: number): Promise<void> {
    entry.asking ??= this.#ask(shard).then((health) => {
      entry.heard = { health, atMs: this.#nowMs() };
      entry.asking = undefined;
    });
    return entry.asking;
  }

  async #ask(shard: number): Promise<ShardHealth> {
    try {
      return await this.#options.ask(shard);
    } catch (error) {
      return this.#options.unreachable(shard, error);
    }
  }
}
