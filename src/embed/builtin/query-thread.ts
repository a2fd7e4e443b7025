// The encoder with a thread for queries: one text of a backlog takes up to 50 ms, and a query that comes meanwhile would wait
// for it. So while a good deal waits to be embedded and somebody asks, or a query took long, a second thread holds the
// encoder for queries alone, at the priority of all. It costs its memory again, so it is opened by need and closed when
// nobody asked for a while.
import { assert } from '../../engine/base/assert.ts';
import { QUERY_THREAD_BACKLOG_TEXTS, QUERY_THREAD_IDLE_MS, QUERY_THREAD_SLOW_MS } from '../../engine/base/limits.ts';
import type { Embedder, EmbedOptions } from '../embedder.ts';
import type { BuiltinEmbedder } from './builtin.ts';

export interface QueryThreadOptions {
  /** An encoder of the same model in a thread of its own, not loaded yet. */
  readonly open: () => BuiltinEmbedder;
  /** Runs its argument after this many ms; returns what takes that back. */
  readonly delay?: (run: () => void, ms: number) => () => void;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

/** `main`, which must be a built-in encoder, with that second thread. Closing it closes both. */
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
    // Where it dies, the text may be why: the other thread is not tried on it.
    return queries?.status.state === 'ready' ? queries.embed(texts, options) : this.#byMain(texts, options);
  }

  /**
   * By the first thread, which is there for the backlog: where shards take all of the machine it gets little of it. One that
   * gives no answer in time may hang over a text, for long.
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
    // What keeps it from loading is in its own log; until then the main thread answers.
    this.#queries.load().catch(() => undefined);
    this.#rest();
  }

  /** It is asked now: from now on it may rest for a while before it is closed. */
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
