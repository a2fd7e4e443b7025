// A service with models, asked by one POST. One attempt: somebody waits for the answer, and does without it when there is none.
import { type Post, post } from '../../embed/remote/request.ts';
import { MODEL_CALLS_MAX, MODEL_WAIT_MS } from '../../engine/base/limits.ts';

export interface ModelServiceOptions {
  /** The whole address, http or https. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  /** What errors call it. */
  readonly name: string;
  readonly fetch?: typeof fetch;
}

/** It gave no usable answer; the message says why, without what was asked or answered. */
export class ModelError extends Error {
  override name = 'ModelError';
}

export class ModelService {
  readonly #options: ModelServiceOptions;
  #running = 0;

  constructor(options: ModelServiceOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** The parsed JSON of the answer to `body`, which is sent with the model's name. Rejects with ModelError. */
  async ask(body: Readonly<Record<string, unknown>>, waitMs: number): Promise<unknown> {
    const { url, model, apiKey, name, fetch: own = fetch } = this.#options;
    if (this.#running >= MODEL_CALLS_MAX) throw new ModelError(`${name} has too much to do`);
    const timeoutMs = Math.min(waitMs, MODEL_WAIT_MS);
    if (timeoutMs < 1) throw new ModelError(`no time is left for ${name}`);
    const request: Post = {
      service: name,
      fetch: own,
      url,
      apiKey,
      body: JSON.stringify({ model, ...body }),
      timeoutMs,
      signal: NEVER,
    };
    this.#running++;
    try {
      const outcome = await post(request);
      if (outcome.kind !== 'answer') throw outcome.error;
      return JSON.parse(outcome.text);
    } catch (error) {
      if (error instanceof SyntaxError) throw new ModelError(`${name} answered something that is not JSON`);
      throw error instanceof Error ? new ModelError(error.message, { cause: error }) : error;
    } finally {
      this.#running--;
    }
  }
}

/** The time that is given ends a call; nobody takes one back. */
const NEVER = new AbortController().signal;
