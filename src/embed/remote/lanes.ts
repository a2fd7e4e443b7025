// Who goes next: a bounded number of jobs at a time, queries before backlog.
import { assert } from '../../engine/base/assert.ts';
import { EmbedError } from '../embedder.ts';

export type Priority = 'query' | 'backlog';

interface Waiting {
  readonly enter: () => void;
}

/** Where jobs wait. Of `slots` (at least 1) the backlog never takes the last one when there are two or more. */
export class Lanes {
  readonly #slots: number;
  readonly #waitingMax: number;
  readonly #queues: Readonly<Record<Priority, Set<Waiting>>> = { query: new Set(), backlog: new Set() };
  readonly #running: Record<Priority, number> = { query: 0, backlog: 0 };

  constructor(slots: number, waitingMax: number) {
    assert(slots >= 1 && waitingMax >= 1, 'lanes have room');
    this.#slots = slots;
    this.#waitingMax = waitingMax;
  }

  /**
   * What `job` gives, once it was its turn. Rejects with the signal's reason when that aborts while it waits, and with
   * a retryable EmbedError when too much waits already. A running job has to look at the signal itself.
   */
  async run<T>(priority: Priority, signal: AbortSignal, job: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (!this.#free(priority)) await this.#turn(priority, signal);
    else this.#running[priority]++;
    try {
      return await job();
    } finally {
      this.#running[priority]--;
      this.#next();
    }
  }

  /** Jobs of both kinds that run or wait. */
  get size(): number {
    const { query, backlog } = this.#queues;
    return this.#running.query + this.#running.backlog + query.size + backlog.size;
  }

  #free(priority: Priority): boolean {
    const { query, backlog } = this.#running;
    if (query + backlog >= this.#slots) return false;
    return priority === 'query' || backlog < Math.max(1, this.#slots - 1);
  }

  /** Resolves with the slot taken. */
  #turn(priority: Priority, signal: AbortSignal): Promise<void> {
    const queue = this.#queues[priority];
    if (queue.size >= this.#waitingMax) {
      return Promise.reject(new EmbedError('too much waits for the embedding service', { retryable: true }));
    }
    return new Promise((resolve, reject) => {
      const give = (): void => {
        queue.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        enter: () => {
          signal.removeEventListener('abort', give);
          this.#running[priority]++;
          resolve();
        },
      };
      signal.addEventListener('abort', give, { once: true });
      queue.add(waiting);
    });
  }

  #next(): void {
    for (const priority of ['query', 'backlog'] as const) {
      for (const waiting of this.#queues[priority]) {
        if (!this.#free(priority)) break;
        this.#queues[priority].delete(waiting);
        waiting.enter();
      }
    }
  }
}
