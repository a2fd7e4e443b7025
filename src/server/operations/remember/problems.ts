// Warnings of an extraction.
import { EngineError } from '../../../engine/base/errors.ts';

/** Collects distinct problems, so that a thousand grains with the same problem cause one warning. */
export class Problems {
  readonly #texts = new Set<string>();
  readonly #notices = new Set<string>();
  #hasMore = false;

  note(text: string): void {
    this.#add(this.#texts, text);
  }

  /** Adds a warning that is no failure: a retry would give the same result. */
  addNotice(text: string): void {
    this.#add(this.#notices, text);
  }

  #add(texts: Set<string>, text: string): void {
    if (texts.size < PROBLEMS_MAX || texts.has(text)) texts.add(text);
    else this.#hasMore = true;
  }

  /** Runs `work` and notes an EngineError as a problem. */
  async noted(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.note(error.message);
    }
  }

  get any(): boolean {
    return this.#texts.size > 0;
  }

  get warnings(): string[] {
    return [...this.#texts, ...this.#notices, ...(this.#hasMore ? ['further problems were omitted'] : [])].map(
      (text) => `extraction: ${text}`,
    );
  }
}

const PROBLEMS_MAX = 10;
