// The encoder with a second thread for queries. One text of the backlog takes up to 50 ms, and a query would wait for
// it. The second thread starts when queries arrive during a long backlog, or when a query was slow; it serves only
// queries, at normal priority. It doubles the memory, so it closes when no query comes for a while.
import { assert } from '../../engine/base/assert.ts';
import { QUERY_THREAD_BACKLOG_TEXTS, QUERY_THREAD_IDLE_MS, QUERY_THREAD_SLOW_MS } from '../../engine/base/limits.ts';
import type { Embedder, EmbedOptions } from '../embedder.ts';
import type { BuiltinEmbedder } from './builtin.ts';

export interface QueryThreadOptions {
  /** Makes an encoder of the same model in another thread, not loaded yet. */
  readonly open: () => BuiltinEmbedder;
  /** Runs its argument after this many ms; returns a function that cancels it. */
  readonly delay?: ((run: () => void, ms: number) => () => void) | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
}

/** Adds the second thread to `main`, a built-in encoder. Closing the result closes both. */
export function withQueryThread(main: BuiltinEmbedder, options: QueryThreadOptions): Embedder {
  return new TwoThreads(main, options);
}

class TwoThreads implements Embedder {
  readonly name: string;
  readonly dimensions: number;
  readonly #main: BuiltinEmbedder;
  readonly #open: () => BuiltinEmbedder;
  readonly #delay: (run: () => void, ms: number) => () => void;
  readonly #nowMs: () => number;
  #queries: BuiltinEmbedder | undefined;
  #cancelIdle: (() => void) | undefined;
  #closing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(main: BuiltinEmbedder, { open, delay = timer, nowMs = () => performance.now() }: QueryThreadOptions) {
    this.name = main.name;
    this.dimensions = main.dimensions;
    this.#main = main;
    this.#open = open;
    this.#delay = delay;
    this.#nowMs = nowMs;
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly (Float32Array | undefined)[]> {
    if (options.priority !== 'query') return this.#main.embed(texts, options);
    const queries = this.#queries;
    if (queries !== undefined) this.#rest();
    else if (this.#main.backlogTexts >= QUERY_THREAD_BACKLOG_TEXTS) this.#begin();
    // If the query thread dies, the text may be the cause, so the other thread does not try it.
    return queries?.status.state === 'ready' ? queries.embed(texts, options) : this.#byMain(texts, options);
  }

  /**
   * Uses the backlog's thread. It gets little CPU while shards use the whole machine, and a text may hang it for long;
   * a query that times out here starts the second thread.
   */
  async #byMain(texts: readonly string[], options: EmbedOptions): Promise<readonly (Float32Array | undefined)[]> {
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

  #begin(): void {
    if (this.#closed || this.#queries !== undefined) return;
    this.#queries = this.#open();
    assert(this.#queries.name === this.name, 'both threads have the same encoder');
    // Load errors are logged there; until it loads, the main thread answers.
    this.#queries.load().catch(() => undefined);
    this.#rest();
  }

  /** Restarts the idle timer after a query. */
  #rest(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = this.#delay(() => this.#end(), QUERY_THREAD_IDLE_MS);
  }

  #end(): void {
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
    const queries = this.#queries;
    this.#queries = undefined;
    if (queries !== undefined) this.#closing = Promise.all([this.#closing, queries.close()]).then(() => undefined);
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
