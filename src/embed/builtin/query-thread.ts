// The encoder with a second thread. One run of the backlog takes up to 50 ms, and a query would wait for it. The second
// thread starts when queries arrive during a long backlog, or when a query was slow, and serves queries at normal
// priority. While nobody asks anything and processors are idle, it takes half of a long backlog. It doubles the memory,
// so it closes when it had nothing to do for a while.
import { assert } from '../../engine/base/assert.ts';
import {
  ENCODER_BATCH_TEXTS_MAX,
  QUERY_THREAD_BACKLOG_TEXTS,
  QUERY_THREAD_IDLE_MS,
  QUERY_THREAD_SLOW_MS,
  SECOND_THREAD_BACKLOG_TEXTS,
  SECOND_THREAD_PAUSE_MS,
  SECOND_THREAD_QUERY_MS,
} from '../../engine/base/limits.ts';
import type { Embedder, EmbedOptions } from '../embedder.ts';
import { WHOLE_SHARE } from '../pace.ts';
import type { Spare } from '../spare.ts';
import type { BuiltinEmbedder } from './builtin.ts';

export interface QueryThreadOptions {
  /** Makes an encoder of the same model in another thread, not loaded yet. */
  readonly open: () => BuiltinEmbedder;
  /** The share of the processors that the backlog may take. Absent: one thread, without a rest. */
  readonly spare?: Spare | undefined;
  /** Runs its argument after this many ms; returns a function that cancels it. */
  readonly delay?: ((run: () => void, ms: number) => () => void) | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
}

type Vectors = readonly (Float32Array | undefined)[];

/** Adds the second thread to `main`, a built-in encoder. Closing the result closes both. */
export function withQueryThread(main: BuiltinEmbedder, options: QueryThreadOptions): Embedder {
  return new TwoThreads(main, options);
}

class TwoThreads implements Embedder {
  readonly name: string;
  readonly dimensions: number;
  readonly #main: BuiltinEmbedder;
  readonly #open: () => BuiltinEmbedder;
  readonly #spare: Spare | undefined;
  readonly #delay: (run: () => void, ms: number) => () => void;
  readonly #nowMs: () => number;
  #second: BuiltinEmbedder | undefined;
  #cancelIdle: (() => void) | undefined;
  #closing: Promise<void> = Promise.resolve();
  #closed = false;
  #queriedMs = Number.NEGATIVE_INFINITY;
  /** Texts of the backlog since its last pause, and when the last of them was embedded. */
  #backlogTexts = 0;
  #backlogMs = Number.NEGATIVE_INFINITY;

  constructor(main: BuiltinEmbedder, { open, spare, delay = timer, nowMs }: QueryThreadOptions) {
    this.name = main.name;
    this.dimensions = main.dimensions;
    this.#main = main;
    this.#open = open;
    this.#spare = spare;
    this.#delay = delay;
    this.#nowMs = nowMs ?? (() => performance.now());
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<Vectors> {
    if (options.priority !== 'query') return this.#backlog(texts, options);
    this.#queriedMs = this.#nowMs();
    const second = this.#second;
    if (second !== undefined) this.#rest();
    else if (this.#main.backlogTexts >= QUERY_THREAD_BACKLOG_TEXTS) this.#begin();
    // If the second thread dies, the text may be the cause, so the other thread does not try it.
    return second?.status.state === 'ready' ? second.embed(texts, options) : this.#byMain(texts, options);
  }

  /**
   * Uses the backlog's thread. It gets little CPU while shards use the whole machine, and a text may hang it for long;
   * a query that times out here starts the second thread.
   */
  async #byMain(texts: readonly string[], options: EmbedOptions): Promise<Vectors> {
    const isLoaded = this.#main.status.state === 'ready';
    const start = this.#nowMs();
    try {
      const vectors = await this.#main.embed(texts, options);
      if (isLoaded && this.#nowMs() - start > QUERY_THREAD_SLOW_MS) this.#begin();
      return vectors;
    } catch (error) {
      this.#begin();
      throw error;
    }
  }

  async #backlog(texts: readonly string[], options: EmbedOptions): Promise<Vectors> {
    const release = this.#spare?.hold();
    if (this.#nowMs() - this.#backlogMs > SECOND_THREAD_PAUSE_MS) this.#backlogTexts = 0;
    this.#backlogTexts += texts.length;
    try {
      if (!this.#mayHelp()) return await this.#main.embed(texts, options);
      if (this.#second === undefined) this.#begin();
      else this.#rest();
      return await this.#byBoth(texts, options);
    } finally {
      this.#backlogMs = this.#nowMs();
      release?.();
    }
  }

  /** True while a backlog is long, the second thread would have a core of its own, and no query is expected. */
  #mayHelp(): boolean {
    if (this.#spare === undefined || this.#backlogTexts < SECOND_THREAD_BACKLOG_TEXTS) return false;
    const isIdle = Atomics.load(this.#spare.shares[1], 0) >= WHOLE_SHARE;
    return isIdle && this.#nowMs() - this.#queriedMs >= SECOND_THREAD_QUERY_MS;
  }

  /** Each thread takes a part of the texts when it has finished another. */
  async #byBoth(texts: readonly string[], { priority, signal }: EmbedOptions): Promise<Vectors> {
    const vectors = new Array<Float32Array | undefined>(texts.length);
    const failed = new AbortController();
    const given = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
    let next = 0;
    const take = async (thread: BuiltinEmbedder, may: () => boolean): Promise<void> => {
      while (next < texts.length && may()) {
        const from = next;
        next = Math.min(texts.length, from + ENCODER_BATCH_TEXTS_MAX);
        const made = await thread.embed(texts.slice(from, next), { priority, signal: given });
        for (const [i, vector] of made.entries()) vectors[from + i] = vector;
      }
    };
    const helps = (): boolean => this.#second?.status.state === 'ready' && this.#mayHelp();
    const taking = [take(this.#main, () => true)];
    if (this.#second !== undefined && helps()) taking.push(take(this.#second, helps));
    try {
      await Promise.all(taking);
    } catch (error) {
      failed.abort(error);
      await Promise.allSettled(taking);
      throw error;
    }
    return vectors;
  }

  #begin(): void {
    if (this.#closed || this.#second !== undefined) return;
    this.#second = this.#open();
    assert(this.#second.name === this.name, 'both threads have the same encoder');
    // Load errors are logged there; until it loads, the main thread answers.
    this.#second.load().catch(() => undefined);
    this.#rest();
  }

  /** Restarts the idle timer after work of the second thread. */
  #rest(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = this.#delay(() => this.#end(), QUERY_THREAD_IDLE_MS);
  }

  #end(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
    const second = this.#second;
    this.#second = undefined;
    if (second !== undefined) this.#closing = Promise.all([this.#closing, second.close()]).then(() => undefined);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#end();
    await Promise.all([this.#closing, this.#main.close()]);
  }
}

function timer(run: () => void, ms: number): () => void {
  const handle = setTimeout(run, ms);
  handle.unref();
  return () => clearTimeout(handle);
}
