// Sends a page's vectors to its shard in ranges while others are computed. The embedder never idles, and finished
// vectors survive a failure in the same page.

import { defined } from '../../engine/base/defined.ts';
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
  /** Grains of the page added so far. */
  #added = 0;
  /** Added grains not yet sent to the shard. */
  #waiting: Grain[] = [];
  #waitingVectors = 0;
  /** End of the last range sent. */
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

  /** The grains not added yet, in order. */
  get rest(): BacklogPage['grains'] {
    return this.#page.grains.slice(this.#added);
  }

  /** Adds the vectors of the next grain; none for one without words. */
  add(vectors: readonly Float32Array[]): void {
    const { ordinal } = this.#page.grains[this.#added]!;
    this.#added += 1;
    this.#waiting.push({ ordinal, vectors });
    this.#waitingVectors += vectors.length;
    const isFull = this.#waiting.length >= FOLLOW_STRETCH_GRAINS || this.#waitingVectors >= FOLLOW_STRETCH_VECTORS;
    if (isFull && this.#added < this.#page.grains.length) this.#handOver(ordinal);
  }

  /** Skips the next grain. */
  passOver(error: unknown): void {
    this.#passedOver.push({ ordinal: this.#page.grains[this.#added]!.ordinal, error });
    this.add([]);
  }

  /**
   * Sends what was added, and resolves when all is stored, with the grains embedded and skipped. Rejects when the shard
   * rejected a range; no range after it was sent.
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
    const ahead = defined({ aheadOf });
    this.#storing = this.#storing.then(async () => {
      await this.#backlog.store({ memory, embedder: this.#embedder, after, upTo, ...ahead, grains });
      this.#stored += grains.length;
    });
    // `finish` reports the failure.
    this.#storing.catch(() => undefined);
  }
}
