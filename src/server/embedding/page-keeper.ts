// Gives a page's vectors to its shard in stretches while others are being made: the embedder has always something to do, and
// what was made is kept though the rest of its page fails.

import { FOLLOW_STRETCH_GRAINS, FOLLOW_STRETCH_VECTORS } from '../../engine/base/limits.ts';
import type { Backlog, BacklogPage, EmbeddedPage } from './backlog.ts';

type Grain = EmbeddedPage['grains'][number];

export interface PassedOver {
  readonly ordinal: number;
  readonly error: unknown;
}

export class PageKeeper {
  readonly #backlog: Backlog;
  readonly #page: BacklogPage;
  readonly #embedder: EmbeddedPage['embedder'];
  /** Grains of the page that were added. */
  #added = 0;
  /** Those of them that were not handed to the shard yet. */
  #waiting: Grain[] = [];
  #waitingVectors = 0;
  /** Where the last stretch ends that was handed over. */
  #after: number;
  #storing: Promise<void> = Promise.resolve();
  #stored = 0;
  readonly #passedOver: PassedOver[] = [];

  constructor(backlog: Backlog, page: BacklogPage, { name, dimensions }: EmbeddedPage['embedder']) {
    this.#backlog = backlog;
    this.#page = page;
    this.#embedder = { name, dimensions };
    this.#after = page.after;
  }

  /** The grains that were not added yet, in order. */
  get rest(): BacklogPage['grains'] {
    return this.#page.grains.slice(this.#added);
  }

  /** Vectors of the next grain, none for one without words. */
  add(vectors: readonly Float32Array[]): void {
    const { ordinal } = this.#page.grains[this.#added]!;
    this.#added += 1;
    this.#waiting.push({ ordinal, vectors });
    this.#waitingVectors += vectors.length;
    const isFull = this.#waiting.length >= FOLLOW_STRETCH_GRAINS || this.#waitingVectors >= FOLLOW_STRETCH_VECTORS;
    if (isFull && this.#added < this.#page.grains.length) this.#handOver(ordinal);
  }

  /** The next grain goes without. */
  passOver(error: unknown): void {
    this.#passedOver.push({ ordinal: this.#page.grains[this.#added]!.ordinal, error });
    this.add([]);
  }

  /**
   * Hands over what was added, and resolves when all is kept: to the grains that got vectors and those passed over. Rejects when the
   * shard did not take a stretch; nothing behind that one was handed over.
   */
  async finish(): Promise<{ readonly stored: number; readonly passedOver: readonly PassedOver[] }> {
    const isWhole = this.#added === this.#page.grains.length;
    const last = this.#waiting.at(-1);
    if (isWhole) this.#handOver(this.#page.upTo);
    else if (last !== undefined) this.#handOver(last.ordinal);
    await this.#storing;
    return { stored: this.#stored, passedOver: this.#passedOver };
  }

  #handOver(upTo: number): void {
    const grains = this.#waiting.filter(({ vectors }) => vectors.length > 0);
    const after = this.#after;
    this.#waiting = [];
    this.#waitingVectors = 0;
    this.#after = upTo;
    const { memory, aheadOf } = this.#page;
    const ahead = aheadOf === undefined ? {} : { aheadOf };
    this.#storing = this.#storing.then(async () => {
      await this.#backlog.store({ memory, embedder: this.#embedder, after, upTo, ...ahead, grains });
      this.#stored += grains.length;
    });
    // A failure is met by whoever finishes.
    this.#storing.catch(() => undefined);
  }
}
