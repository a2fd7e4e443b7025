// How each shard is. A worker that answers with 16 MiB is busy for some hundred milliseconds, and health is not to wait for it: a shard
// that does not answer at once is told as it was last heard, for as long as health may be kept waiting. One that was not heard for
// longer is waited for.
import { HEALTH_LATE_MS, HEALTH_WAIT_MS } from '../engine/base/limits.ts';
import type { ShardHealth } from './protocol.ts';

interface Entry {
  /** There while it is asked. */
  asking: Promise<void> | undefined;
  heard: { readonly health: ShardHealth; readonly atMs: number } | undefined;
}

export interface ShardHealthOptions {
  readonly shards: number;
  readonly ask: (shard: number) => Promise<ShardHealth>;
  /** What is told of a shard that cannot be asked. */
  readonly unreachable: (shard: number, reason: unknown) => ShardHealth;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number;
  /** Resolves when a shard is late. */
  readonly late?: () => Promise<void>;
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

  /** Never rejects. */
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
