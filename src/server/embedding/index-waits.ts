// Lets reads wait until vectors cover what was acknowledged before them; text is covered on acknowledgement. Waiters do
// not poll: they check again when a follower stored vectors or found nothing pending.
import type { MemoryRecord } from '../control/records.ts';

export interface IndexWaitsOptions {
  /** Grains of a memory without vectors, up to these sequences; default: up to now. By partition. */
  readonly lagOf: (memory: number, upTo?: readonly number[]) => Promise<VectorLag>;
  /** Whether the memory will get vectors: its embedder is available, and its texts may be sent to it. */
  readonly isFollowed: (memory: MemoryRecord) => boolean;
  /** Ends the followers' pauses. */
  readonly wake: () => void;
  /** Calls `run` once after so many milliseconds; the result cancels it. */
  readonly after?: ((ms: number, run: () => void) => () => void) | undefined;
}

export interface VectorLag {
  readonly waiting: number;
  /** By partition. */
  readonly upTo: readonly number[];
}

export const INDEX_NOT_READY = 'the index did not catch up in time: recent writes may be found only by their words';
const NOT_FOLLOWED = 'did not wait: the vectors of this memory are not being computed at the moment';

export class IndexWaits {
  readonly #options: IndexWaitsOptions;
  /** Called once at the next progress. */
  #waiters: (() => void)[] = [];
  #waiting = 0;

  constructor(options: IndexWaitsOptions) {
    this.#options = options;
  }

  /** True while a read waits. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** A follower made progress. */
  progressed(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter();
  }

  /** Resolves when vectors cover everything written before the call; after `ms`, to a warning instead. */
  async wait(memory: MemoryRecord, ms: number): Promise<string | undefined> {
    const { lagOf, isFollowed, wake, after = afterByTimer } = this.#options;
    let { waiting, upTo } = await lagOf(memory.number);
    if (waiting === 0) return undefined;
    if (!isFollowed(memory)) return NOT_FOLLOWED;
    let isOver = ms <= 0;
    let endWait: () => void = () => undefined;
    const takeBack = after(Math.max(0, ms), () => {
      isOver = true;
      endWait();
    });
    this.#waiting += 1;
    try {
      while (!isOver) {
        // Register before checking, so that progress in between is not missed.
        const progress = new Promise<void>((resolve) => {
          endWait = resolve;
          this.#waiters.push(resolve);
        });
        ({ waiting } = await lagOf(memory.number, upTo));
        if (waiting === 0) return undefined;
        wake();
        if (!isOver) await progress;
      }
      return INDEX_NOT_READY;
    } finally {
      this.#waiting -= 1;
      takeBack();
    }
  }
}

function afterByTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
