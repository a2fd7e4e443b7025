// Schedules a bounded number of concurrent jobs, queries before backlog.
import { assert } from '../../engine/base/assert.ts';
import { EmbedError } from '../embedder.ts';

export type Priority = 'query' | 'backlog';

interface Waiting {
  readonly enter: () => void;
}

/** Queues for jobs. With two or more `slots` the backlog never takes the last one. */
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
   * Resolves to the result of `job`, which runs when a slot is free. Rejects with the signal's reason if it aborts
   * first, and with a retryable EmbedError when the queue is full. A running job must watch the signal itself.
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

  /** Jobs that run or wait, of both priorities. */
  get size(): number {
    const { query, backlog } = this.#queues;
    return this.#running.query + this.#running.backlog + query.size + backlog.size;
  }

  #free(priority: Priority): boolean {
    const { query, backlog } = this.#running;
    if (query + backlog >= this.#slots) return false;
    return priority === 'query' || backlog < Math.max(1, this.#slots - 1);
  }

  /** Resolves once a slot is taken. */
  #turn(priority: Priority, signal: AbortSignal): Promise<void> {
    const queue = this.#queues[priority];
    if (queue.size >= this.#waitingMax) {
      return Promise.reject(
        new EmbedError('too many requests wait for the embedding service: try again later', { retryable: true }),
      );
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
