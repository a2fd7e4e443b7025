// Removes what has expired, memory by memory, every hour. What has expired is hidden without this: it gives back the place,
// and sees to it that nothing lies about for longer than its memory's policy says.
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

  constructor(parts: {
    readonly memories: Pick<Memories, 'list'>;
    readonly shards: Pick<Shards, 'call'>;
    readonly log: Pick<Logger, 'info' | 'error'>;
  }) {
    this.#memories = parts.memories;
    this.#shards = parts.shards;
    this.#log = parts.log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.sweep(), RETENTION_SWEEP_MS);
    this.#timer.unref();
  }

  /** Goes through every memory once, one after the other; joins the sweep that is under way. Never rejects. */
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
      } catch (error) {
        // One that was deleted meanwhile has nothing left to expire.
        if (error instanceof EngineError && error.code === 'MEM-E003') continue;
        this.#log.error({ err: error, memory: id }, 'what has expired was not removed');
      }
    }
    if (forgotten > 0) this.#log.info({ grains: forgotten }, 'expired grains were removed');
  }

  /** Ends after the memory that is at work. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#sweeping;
  }
}
