// Reads that wait until vectors cover what was acknowledged before them. Text is covered by the acknowledgement itself. Nobody
// polls: a waiter looks again when a follower has given vectors back, or has seen that nothing waits.
import type { MemoryRecord } from '../control/records.ts';

export interface IndexWaitsOptions {
  /** Grains of a memory up to these places that have no vectors yet; without places, up to now. By partition. */
  readonly lagOf: (memory: number, upTo?: readonly number[]) => Promise<VectorLag>;
  /** Whether the memory will have vectors: its embedder is there, and its texts may go to it. */
  readonly isFollowed: (memory: MemoryRecord) => boolean;
  /** Ends the followers' rest. */
  readonly wake: () => void;
  /** Calls back once after so many milliseconds; the result takes that back. */
  readonly after?: (ms: number, run: () => void) => () => void;
}

export interface VectorLag {
  readonly waiting: number;
  /** By partition. */
  readonly upTo: readonly number[];
}

export const INDEX_NOT_READY =
  'the index did not come as far in time: what was just written may be found by its words alone';
const NOT_FOLLOWED = 'nothing was waited for: the vectors of this memory are not followed at the moment';

export class IndexWaits {
  readonly #options: IndexWaitsOptions;
  /** Called once at the next progress. */
  #waiters: (() => void)[] = [];

  constructor(options: IndexWaitsOptions) {
    this.#options = options;
  }

  /** A follower has got on. */
  progressed(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter();
  }

  /** Resolves when vectors cover what was there at the call, or after `ms`: then to the warning that says so. */
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
    try {
      while (!isOver) {
        // Heard before the look, so that what comes in between is not missed.
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
      takeBack();
    }
  }
}

function afterByTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
