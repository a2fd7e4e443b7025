// Work that another thread does, as the steps of this one wait for it.
import type { Sliced } from './files/section.ts';

export interface RemoteWork<T> {
  /** Resolves to undefined when the other thread did not do it: the caller then does. Rejects with STO-E001. */
  end(): Promise<T | undefined>;
  /** Gives the work up: `end` rejects with STO-E002. Resolves when the other thread no longer writes its file. */
  cancel(): Promise<void>;
}

export class Elsewhere {
  readonly #open = new Set<RemoteWork<unknown>>();
  #ended: Promise<void> | undefined;

  /** While `result` waits: resolves when the work has ended. The steps have nothing to do until then. */
  get ended(): Promise<void> | undefined {
    return this.#ended;
  }

  /** From now on `cancel` reaches the work. */
  begin(work: RemoteWork<unknown>): void {
    this.#open.add(work);
  }

  /** Waits for the work that has begun. A return from these steps gives it up. */
  *result<T>(work: RemoteWork<T>): Sliced<T | undefined> {
    let outcome: { readonly value: T | undefined } | { readonly error: unknown } | undefined;
    const ended = work.end().then(
      (value) => {
        outcome = { value };
      },
      (error: unknown) => {
        outcome = { error };
      },
    );
    const forgotten = ended.then(() => {
      this.#open.delete(work);
      if (this.#ended === forgotten) this.#ended = undefined;
    });
    this.#ended = forgotten;
    try {
      while (outcome === undefined) yield;
    } finally {
      if (outcome === undefined) void work.cancel();
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  /** Gives up all work. Resolves when the other thread writes no file any more. */
  async cancel(): Promise<void> {
    await Promise.all([...this.#open].map((work) => work.cancel()));
  }
}
