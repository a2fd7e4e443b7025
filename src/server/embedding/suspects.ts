// Distinguishes a text that breaks every embedder from an embedder that is out of order. After a failure, grains are
// tried one by one, each right after the embedder has proved to work: with a text of ours, or with the previous grain.
// A grain that fails this way several times is at fault. Counts survive outages, since each attempt may take a service
// down.

import type { Embedder } from '../../embed/embedder.ts';
import { FOLLOW_SUSPECTS_MAX, FOLLOW_TRIES_ALONE } from '../../engine/base/limits.ts';
import type { BacklogPage } from './backlog.ts';
import { embedGrains } from './embed-grains.ts';
import type { PageKeeper } from './page-keeper.ts';

/** Not a user's text. */
const PROBE = 'a word';

interface Failures {
  count: number;
  error: unknown;
}

/** The grains of one shard that failed on their own. */
export class Suspects {
  /** By memory and ordinal, the oldest suspicion first. */
  readonly #failures = new Map<string, Failures>();
  /** Memories whose page failed last time. */
  readonly #memories = new Set<number>();

  /** True for a page to be tried grain by grain. */
  has({ memory }: BacklogPage): boolean {
    return this.#memories.has(memory);
  }

  /** The page failed as a whole. */
  add({ memory }: BacklogPage): void {
    if (this.#memories.size < FOLLOW_SUSPECTS_MAX) this.#memories.add(memory);
  }

  /** The page's vectors are stored: none of it is tried again. */
  clear({ memory, grains }: BacklogPage): void {
    this.#memories.delete(memory);
    if (this.#failures.size > 0) for (const { ordinal } of grains) this.#failures.delete(`${memory} ${ordinal}`);
  }

  /**
   * Embeds the rest of the page grain by grain. Rejects with the embedder's error when it also fails on our own text:
   * then the embedder is out of order.
   */
  async embedApart(embedder: Embedder, page: BacklogPage, keeper: PageKeeper, signal: AbortSignal): Promise<void> {
    await probe(embedder, signal);
    for (const { ordinal, text } of keeper.rest) {
      const failures = this.#failuresOf(`${page.memory} ${ordinal}`);
      let isDone = false;
      while (!isDone && failures.count < FOLLOW_TRIES_ALONE) {
        try {
          await embedGrains(embedder, [text], signal, (vectors) => keeper.add(vectors));
          isDone = true;
        } catch (error) {
          signal.throwIfAborted();
          failures.count += 1;
          failures.error = error;
          await probe(embedder, signal);
        }
      }
      if (!isDone) keeper.passOver(failures.error);
    }
  }

  #failuresOf(key: string): Failures {
    let failures = this.#failures.get(key);
    if (failures !== undefined) return failures;
    if (this.#failures.size >= FOLLOW_SUSPECTS_MAX)
      for (const oldest of this.#failures.keys()) {
        this.#failures.delete(oldest);
        break;
      }
    failures = { count: 0, error: undefined };
    this.#failures.set(key, failures);
    return failures;
  }
}

async function probe(embedder: Embedder, signal: AbortSignal): Promise<void> {
  await embedGrains(embedder, [PROBE], signal, () => undefined);
}
