// Work that must not overlap, by what it is about: first come, first served. Work about other things runs beside it.

export class Turns {
  /** By subject: settled once the last work about it has ended. A subject without work has no entry. */
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` once all earlier work about any of these subjects has ended, however it ended. */
  async take<T>(subjects: readonly string[], work: () => Promise<T>): Promise<T> {
    const distinct = new Set(subjects);
    const before = [...distinct].flatMap((subject) => this.#last.get(subject) ?? []);
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const subject of distinct) this.#last.set(subject, promise);
    // Each waits for earlier ones alone, so no two wait for each other.
    await Promise.all(before);
    try {
      return await work();
    } finally {
      for (const subject of distinct) if (this.#last.get(subject) === promise) this.#last.delete(subject);
      resolve();
    }
  }

  /** Subjects with work that runs or waits. */
  get size(): number {
    return this.#last.size;
  }
}
