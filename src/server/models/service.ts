// Calls a model service with one POST. There is one attempt: a caller waits, and continues without an answer.
import { type Post, post } from '../../embed/remote/request.ts';
import { MODEL_CALLS_MAX, MODEL_WAIT_MS } from '../../engine/base/limits.ts';

export interface ModelServiceOptions {
  /** Full URL, http or https. */
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  /** Its name in errors. */
  readonly name: string;
  readonly fetch?: typeof fetch | undefined;
}

/** The service gave no usable answer. The message quotes neither question nor answer. */
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

  /** The parsed JSON answer to `body`, which is sent with the model's name. Rejects with ModelError. */
  async ask(body: Readonly<Record<string, unknown>>, waitMs: number): Promise<unknown> {
    const { url, model, apiKey, name, fetch: own = fetch } = this.#options;
    if (this.#running >= MODEL_CALLS_MAX) throw new ModelError(`${name} has too many requests waiting`);
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
      if (error instanceof SyntaxError) throw new ModelError(`the answer of ${name} is not JSON`);
      throw error instanceof Error ? new ModelError(error.message, { cause: error }) : error;
    } finally {
      this.#running--;
    }
  }
}

/** The timeout ends a call; callers do not cancel it. */
const NEVER = new AbortController().signal;
