// What is gathered from several partitions is held on the main thread until it was chosen from. So many gathers
// run at a time, and few of them may hold much: how many are asked for does not decide how much is held.
import { CAL_GATHERS_MAX, GATHER_SMALL_BYTES, GATHERS_LARGE_MAX, GATHERS_MAX } from '../engine/base/limits.ts';

export class GatherRoom {
  readonly #all = new Places(GATHERS_MAX);
  readonly #large = new Places(GATHERS_LARGE_MAX);
  readonly #queries = new Places(CAL_GATHERS_MAX);

  /** Runs a gather when there is a place for it. Must not be called by a gather that runs: it would wait for itself. */
  async run<T>(gather: (held: Held) => Promise<T>): Promise<T> {
    const held = new Held(this.#large);
    return this.#all.run(() => gather(held).finally(() => held.release()));
  }

  /** Runs a CAL query, whose questions may be gathers with places of their own. */
  runQuery<T>(query: () => Promise<T>): Promise<T> {
    return this.#queries.run(query);
  }
}

/** What one gather holds. It begins small; one that needs more waits for the place of a large one, and keeps that to its end. */
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

  /** How many bytes it may ask for next: `most`, or less while it is small. */
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

/** So many at a time; others wait in the order in which they came. */
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
