// Shutdown of a server: parts close once, in the reverse order of opening.
import type { Logger } from './log.ts';

interface Opened {
  readonly what: string;
  readonly close: () => void | Promise<void>;
}

export class Lifecycle {
  readonly #log: Logger;
  readonly #opened: Opened[] = [];
  #closing: Promise<void> | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** True once shutdown has begun: health reports unavailable. */
  get isEnding(): boolean {
    return this.#closing !== undefined;
  }

  /** Registers a part, to be closed before all parts opened earlier. */
  opened(what: string, close: () => void | Promise<void>): void {
    this.#opened.push({ what, close });
  }

  /** Closes everything. A failing part is logged, and the others are closed nevertheless. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (let last = this.#opened.pop(); last !== undefined; last = this.#opened.pop()) {
      try {
        await last.close();
      } catch (error) {
        this.#log.error({ err: error }, `${last.what} did not close`);
      }
    }
  }
}
