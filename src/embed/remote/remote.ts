// A client for embedding services with the API of OpenAI, Ollama, vLLM and many others: POST {base}/v1/embeddings.
import { type Clock, steadyMs, systemClock } from '../../engine/base/clock.ts';
import {
  EMBED_ATTEMPTS_MAX,
  EMBED_BATCH_BYTES_MAX,
  EMBED_BATCH_TEXTS_MAX,
  EMBED_CONCURRENCY_MAX,
  EMBED_RETRY_AFTER_MAX_MS,
  EMBED_TEXT_CHARS_MAX,
  EMBED_WAITING_MAX,
} from '../../engine/base/limits.ts';
import { type Embedder, EmbedError, type EmbedOptions } from '../embedder.ts';
import { readAnswer } from './answer.ts';
import { Lanes, type Priority } from './lanes.ts';
import { type Outcome, post } from './request.ts';
import { backoffMs, retryAfterMs, waitMs } from './retry.ts';

export interface RemoteOptions {
  /** URL of the service, with or without a final `/v1`; http or https, without query or credentials. */
  readonly baseUrl: string;
  /** Full URL of the interface; default: `/v1/embeddings` of `baseUrl`. */
  readonly endpoint?: string | undefined;
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** Length of the model's vectors. Without it, opening sends one request with a text of our own to find out. */
  readonly dimensions?: number | undefined;
  /** Ask the service to shorten its vectors to `dimensions`; not every model can. */
  readonly shorten?: boolean | undefined;
  /** Maximum texts per request; default and upper limit are EMBED_BATCH_TEXTS_MAX. */
  readonly batch?: number | undefined;
  /** Concurrent requests. With two or more, one slot is reserved for queries. */
  readonly concurrency?: number | undefined;
  /** Timeout of one attempt, and of all attempts of a query together. */
  readonly timeoutMs?: number | undefined;
  /** Called before each request with its texts. If it returns false or throws, they are not sent. */
  readonly allowEgress?: ((texts: readonly string[]) => boolean | Promise<boolean>) | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** Returns [0, 1), for the jitter. */
  readonly random?: (() => number) | undefined;
  /** Resolves after `ms` or rejects with the signal's reason. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

const TIMEOUT_MS = 30_000;
const CONCURRENCY = 4;
/** The text sent to find the length of the model's vectors; no user's text. */
const PROBE = 'length';
/** Prefix of these embedders' names. */
export const REMOTE_NAME_START = 'remote:';
/** Version of text splitting and vector handling, as part of the name. */
const TREATMENT = 1;

/**
 * Opens an embedder over a service. Its name is `remote:MODEL-DIMENSIONS/1`. Rejects with EmbedError: invalid options
 * (not retryable), or a service that does not report its dimensions.
 */
export async function openRemoteEmbedder(options: RemoteOptions): Promise<Embedder> {
  const { dimensions } = options;
  check(options);
  const service = new Service(options);
  if (dimensions !== undefined) return new RemoteEmbedder(options.model, dimensions, service);
  const [probe] = await service.ask([PROBE], 'query', new AbortController().signal);
  if (probe === undefined)
    throw new EmbedError('the embedding service returned no vector for a test word: check the model', {
      retryable: false,
    });
  return new RemoteEmbedder(options.model, probe.length, service);
}

function check(options: RemoteOptions): void {
  const { baseUrl, apiKey, model, dimensions, batch = 1, concurrency = 1, timeoutMs = 1 } = options;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw needs('an http or https address');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw needs('an address without credentials, query and fragment');
  if (apiKey !== undefined && !/^[\x21-\x7e]{1,4096}$/.test(apiKey)) throw needs('a key of printable ASCII characters');
  if (model === '') throw needs('a model');
  const isCount = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max;
  if (dimensions !== undefined && !isCount(dimensions, 65_536)) throw needs('dimensions between 1 and 65536');
  if (!isCount(batch, EMBED_BATCH_TEXTS_MAX)) throw needs(`a batch between 1 and ${EMBED_BATCH_TEXTS_MAX}`);
  if (!isCount(concurrency, EMBED_CONCURRENCY_MAX)) throw needs(`a concurrency between 1 and ${EMBED_CONCURRENCY_MAX}`);
  if (!isCount(timeoutMs, 600_000)) throw needs('a timeout between 1 and 600000 ms');
}

function needs(what: string): EmbedError {
  return new EmbedError(`a remote embedder needs ${what}`, { retryable: false });
}

/** The name of the vectors that a model of a service makes. */
export function remoteName(model: string, dimensions: number): string {
  return `${REMOTE_NAME_START}${model}-${dimensions}/${TREATMENT}`;
}

class RemoteEmbedder implements Embedder {
  readonly name: string;
  readonly dimensions: number;
  readonly #service: Service;
  readonly #calls = new Map<AbortController, Promise<unknown>>();
  #closed = false;

  constructor(model: string, dimensions: number, service: Service) {
    this.name = remoteName(model, dimensions);
    this.dimensions = dimensions;
    this.#service = service;
    service.dimensions = dimensions;
  }

  embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly (Float32Array | undefined)[]> {
    if (this.#closed) return Promise.reject(closed());
    if (options.signal?.aborted) return Promise.reject(options.signal.reason);
    const controller = new AbortController();
    const give = (): void => controller.abort(options.signal?.reason);
    options.signal?.addEventListener('abort', give, { once: true });
    const call = this.#all(texts, options.priority ?? 'backlog', controller).finally(() => {
      options.signal?.removeEventListener('abort', give);
      this.#calls.delete(controller);
    });
    this.#calls.set(controller, call);
    return call;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const controller of this.#calls.keys()) controller.abort(closed());
    await Promise.allSettled(this.#calls.values());
  }

  async #all(
    texts: readonly string[],
    priority: Priority,
    controller: AbortController,
  ): Promise<readonly (Float32Array | undefined)[]> {
    const vectors = new Array<Float32Array | undefined>(texts.length).fill(undefined);
    const batches = this.#service.batches(texts);
    const follow = async (): Promise<void> => {
      for (const places of batches) {
        const sent = places.map((place) => sendable(texts[place]!));
        const answer = await this.#service.ask(sent, priority, controller.signal);
        places.forEach((place, i) => {
          vectors[place] = answer[i];
        });
      }
    };
    // At most as many batches wait as can run, however long the call is.
    const followers = Array.from({ length: this.#service.concurrency }, follow);
    try {
      await Promise.all(followers);
    } catch (error) {
      controller.abort(error); // The call has failed, so its other requests are useless.
      await Promise.allSettled(followers);
      throw error;
    }
    return vectors;
  }
}

function closed(): EmbedError {
  return new EmbedError('the embedder is closed', { retryable: false });
}

/** The part of a text to send. Lone surrogates, also those left by the cut, are replaced. */
function sendable(text: string): string {
  return text.slice(0, EMBED_TEXT_CHARS_MAX).toWellFormed();
}

/** One service: how to query it, and what is known about it. */
class Service {
  dimensions: number | undefined;
  readonly concurrency: number;
  readonly #options: RemoteOptions;
  readonly #url: string;
  readonly #lanes: Lanes;
  readonly #timeoutMs: number;
  /**
   * Base64 takes a quarter of the bytes of JSON numbers, but not every service supports it: request it until one
   * rejects it.
   */
  #base64: 'untried' | 'answered' | 'refused' = 'untried';

  constructor(options: RemoteOptions) {
    this.#options = options;
    const base = options.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#url = options.endpoint ?? `${base}/v1/embeddings`;
    this.concurrency = options.concurrency ?? CONCURRENCY;
    this.#lanes = new Lanes(this.concurrency, EMBED_WAITING_MAX);
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  /** Positions of texts with words, split into requests. */
  *batches(texts: readonly string[]): Generator<number[], void, void> {
    const { batch = EMBED_BATCH_TEXTS_MAX } = this.#options;
    let places: number[] = [];
    let bytes = 0;
    for (let place = 0; place < texts.length; place++) {
      const text = sendable(texts[place]!);
      if (!/[\p{L}\p{N}]/u.test(text)) continue;
      const size = Buffer.byteLength(text);
      if (places.length > 0 && (places.length >= batch || bytes + size > EMBED_BATCH_BYTES_MAX)) {
        yield places;
        places = [];
        bytes = 0;
      }
      places.push(place);
      bytes += size;
    }
    if (places.length > 0) yield places;
  }

  /** The vectors for one request's texts, after as many attempts as needed. */
  ask(
    texts: readonly string[],
    priority: Priority,
    signal: AbortSignal,
  ): Promise<readonly (Float32Array | undefined)[]> {
    return this.#lanes.run(priority, signal, () => this.#attempts(texts, priority, signal));
  }

  async #attempts(
    texts: readonly string[],
    priority: Priority,
    signal: AbortSignal,
  ): Promise<readonly (Float32Array | undefined)[]> {
    const { clock = systemClock, random = Math.random, wait = waitMs } = this.#options;
    const deadlineMs = priority === 'query' ? steadyMs(clock) + this.#timeoutMs : Number.POSITIVE_INFINITY;
    for (let failures = 0; ; ) {
      const timeoutMs = Math.max(1, Math.min(this.#timeoutMs, deadlineMs - steadyMs(clock)));
      const outcome = await this.#attempt(texts, timeoutMs, signal);
      if (outcome.kind === 'answer') return readAnswer(outcome.text, texts.length, this.dimensions);
      if (outcome.kind === 'refused') throw outcome.error;
      failures++;
      const asked = retryAfterMs(outcome.retryAfter, clock.nowMs()) ?? 0;
      const pause = Math.max(asked, backoffMs(failures, random));
      const late = asked > EMBED_RETRY_AFTER_MAX_MS || steadyMs(clock) + pause >= deadlineMs;
      if (failures >= EMBED_ATTEMPTS_MAX || late) throw outcome.error;
      await wait(pause, signal);
    }
  }

  async #attempt(texts: readonly string[], timeoutMs: number, signal: AbortSignal): Promise<Outcome> {
    await this.#allowed(texts);
    if (this.#base64 !== 'refused') {
      const outcome = await this.#post(texts, true, timeoutMs, signal);
      if (outcome.kind === 'answer') this.#base64 = 'answered';
      // A service that has answered base64 before rejects the request for another reason.
      if (outcome.kind !== 'refused' || this.#base64 === 'answered') return outcome;
    }
    const outcome = await this.#post(texts, false, timeoutMs, signal);
    if (outcome.kind === 'answer') this.#base64 = 'refused';
    return outcome;
  }

  async #allowed(texts: readonly string[]): Promise<void> {
    const { allowEgress } = this.#options;
    if (allowEgress === undefined) return;
    let allowed: boolean;
    try {
      allowed = await allowEgress(texts);
    } catch (cause) {
      throw new EmbedError('could not find out whether texts may be sent', { retryable: true, cause });
    }
    if (allowed !== true)
      throw new EmbedError('policy forbids sending these texts to the embedding service', { retryable: false });
  }

  #post(texts: readonly string[], base64: boolean, timeoutMs: number, signal: AbortSignal): Promise<Outcome> {
    const { model, apiKey, shorten, dimensions, fetch: own = fetch } = this.#options;
    const body = JSON.stringify({
      model,
      input: texts,
      encoding_format: base64 ? 'base64' : undefined,
      dimensions: shorten === true && dimensions !== undefined ? dimensions : undefined,
    });
    return post({ fetch: own, url: this.#url, apiKey, body, timeoutMs, signal });
  }
}
