// Tells a text that no embedder survives from an embedder that is out of order. What failed is tried again grain by grain,
// each attempt right after the embedder has shown that it works: with a text of our own, or with the grain before. Who fails
// alone then so many times is at fault. Also where each attempt takes a service down for a while: counts are kept between.

import type { Embedder } from '../../embed/embedder.ts';
import { FOLLOW_SUSPECTS_MAX, FOLLOW_TRIES_ALONE } from '../../engine/base/limits.ts';
import type { BacklogPage } from './backlog.ts';
import { embedGrains } from './embed-grains.ts';
import type { PageKeeper } from './page-keeper.ts';

/** Nobody's text. */
const PROBE = 'a word';

interface Failures {
  count: number;
  error: unknown;
}

/** The grains of one shard that failed alone. */
export class Suspects {
  /** By memory and ordinal, the oldest suspicion first. */
  readonly #failures = new Map<string, Failures>();
  /** Memories whose page failed when it was last tried. */
  readonly #memories = new Set<number>();

  /** True for a page that is to be tried grain by grain. */
  has({ memory }: BacklogPage): boolean {
    return this.#memories.has(memory);
  }

  /** The page failed as a whole. */
  add({ memory }: BacklogPage): void {
    if (this.#memories.size < FOLLOW_SUSPECTS_MAX) this.#memories.add(memory);
  }

  /** The page's vectors are kept: nothing of it is tried again. */
  clear({ memory, grains }: BacklogPage): void {
    this.#memories.delete(memory);
    if (this.#failures.size > 0) for (const { ordinal } of grains) this.#failures.delete(`${memory} ${ordinal}`);
  }

  /**
   * What is left of the page, grain by grain. Rejects with the embedder's error when it does not work for our own text either:
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
