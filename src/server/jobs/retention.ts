// Removes expired grains every hour, memory by memory. They are hidden already: this frees their space, and ensures
// that nothing is kept longer than its memory's policy allows.
import { EngineError } from '../../engine/base/errors.ts';
import { RETENTION_SWEEP_MS } from '../../engine/base/limits.ts';
import type { Memories } from '../control/memories.ts';
import type { Logger } from '../log.ts';
import type { Shards } from '../shards.ts';

const SYSTEM = { actor: 'system', requestId: 'retention' };

export class RetentionSweeps {
  readonly #memories: Pick<Memories, 'list'>;
  readonly #shards: Pick<Shards, 'call'>;
  readonly #log: Pick<Logger, 'info' | 'error'>;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #closed = false;
  readonly #counts = { sweeps: 0, grains: 0 };

  constructor(parts: {
    readonly memories: Pick<Memories, 'list'>;
    readonly shards: Pick<Shards, 'call'>;
    readonly log: Pick<Logger, 'info' | 'error'>;
  }) {
    this.#memories = parts.memories;
    this.#shards = parts.shards;
    this.#log = parts.log;
  }

  /** Completed sweeps, and grains that they removed, since the start. */
  get counts(): { readonly sweeps: number; readonly grains: number } {
    return this.#counts;
  }

  start(): void {
    this.#timer = setInterval(() => void this.sweep(), RETENTION_SWEEP_MS);
    this.#timer.unref();
  }

  /** Sweeps every memory once, one after the other; joins a running sweep. Never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweepAll(): Promise<void> {
    let forgotten = 0;
    for (const { number, id } of this.#memories.list()) {
      if (this.#closed) break;
      try {
        const done = await this.#shards.call('enforceRetention', { ...SYSTEM, memory: number }, { dryRun: false });
        forgotten += done.forgotten;
        this.#counts.grains += done.forgotten;
      } catch (error) {
        // A memory deleted in the meantime has nothing left to expire.
        if (error instanceof EngineError && error.code === 'MEM-E003') continue;
        this.#log.error({ err: error, memory: id }, 'cannot remove expired grains');
      }
    }
    this.#counts.sweeps += 1;
    if (forgotten > 0) this.#log.info({ grains: forgotten }, 'expired grains were removed');
  }

  /** Ends after the current memory. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#sweeping;
  }
}
