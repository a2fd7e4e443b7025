// Bounds the memory that gathers use. The answers of several partitions stay on the main thread until the gather has
// merged them, so the number of concurrent gathers is limited, and the number of large ones even more. Load beyond that
// waits instead of using more heap.
import { CAL_GATHERS_MAX, GATHER_SMALL_BYTES, GATHERS_LARGE_MAX, GATHERS_MAX } from '../../engine/base/limits.ts';

export class GatherRoom {
  readonly #all = new Places(GATHERS_MAX);
  readonly #large = new Places(GATHERS_LARGE_MAX);
  readonly #queries = new Places(CAL_GATHERS_MAX);

  /** Runs a gather as soon as a slot is free. A running gather must not call this: it could wait for its own slot. */
  async run<T>(gather: (held: Held) => Promise<T>): Promise<T> {
    const held = new Held(this.#large);
    return this.#all.run(() => gather(held).finally(() => held.release()));
  }

  /** Runs a CAL query. It has slots of its own, because its questions may be gathers that need a slot from `run`. */
  runQuery<T>(query: () => Promise<T>): Promise<T> {
    return this.#queries.run(query);
  }
}

/**
 * The bytes that one gather holds. A gather starts small. One that needs more waits for a large slot and keeps it until
 * it ends.
 */
export class Held {
  readonly #large: Places;
  #bytes = 0;
  #isLarge = false;

  constructor(large: Places) {
    this.#large = large;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The bytes that the gather may request next: `most`, or at most GATHER_SMALL_BYTES while it is small. */
  async room(most: number): Promise<number> {
    if (this.#bytes > GATHER_SMALL_BYTES / 2) await this.grow();
    return this.#isLarge ? most : Math.min(most, GATHER_SMALL_BYTES);
  }

  async grow(): Promise<void> {
    if (this.#isLarge) return;
    await this.#large.take();
    this.#isLarge = true;
  }

  release(): void {
    if (this.#isLarge) this.#large.give();
    this.#isLarge = false;
  }
}

/** A semaphore with first-in, first-out order. */
class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.take();
    try {
      return await work();
    } finally {
      this.give();
    }
  }

  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
