// Serialises work on the same subject, first come, first served. Work on different subjects runs in parallel.

export class Turns {
  /** For each subject with work: a promise that settles when its last work has ended. */
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` after all earlier work on any of these subjects has ended, even if that failed. */
  async take<T>(subjects: readonly string[], work: () => Promise<T>): Promise<T> {
    const distinct = new Set(subjects);
    const before = [...distinct].flatMap((subject) => this.#last.get(subject) ?? []);
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const subject of distinct) this.#last.set(subject, promise);
    // Work waits only for earlier work, so there is no deadlock.
    await Promise.all(before);
    try {
      return await work();
    } finally {
      for (const subject of distinct) if (this.#last.get(subject) === promise) this.#last.delete(subject);
      resolve();
    }
  }

  /** Number of subjects with running or waiting work. */
  get size(): number {
    return this.#last.size;
  }
}
