// How a server ends: what was opened is closed in the opposite order, once, whoever asks.
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

  /** True from the moment the server began to end: health says no. */
  get isEnding(): boolean {
    return this.#closing !== undefined;
  }

  /** Remembers what is to be closed before everything opened earlier. */
  opened(what: string, close: () => void | Promise<void>): void {
    this.#opened.push({ what, close });
  }

  /** Closes everything. A part that fails is logged, and the others are closed all the same. */
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
