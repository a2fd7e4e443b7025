// Spreads heavy steps of chat turns over the turns of the event loop, one in each. Between them, tokens of streams that
// are under way are passed on: without this, two hundred chats that begin at once make the others wait for all of them.

export class Pace {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a turn of the event loop of its own, first come, first served. */
  async step(): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#next);
    });
  }

  readonly #next = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#next);
  };
}
