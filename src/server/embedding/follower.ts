// Follows the shards' logs with vectors: takes what waits, a page at a time from each shard in turn, has it embedded, and
// gives the vectors back. Nobody waits for it, and what it was doing when the process ended it does again.

import type { Embedder } from '../../embed/embedder.ts';
import { windowsOf } from '../../embed/windows.ts';
import { FOLLOW_PAGE_GRAINS, FOLLOW_REST_MS, FOLLOW_RETRY_MAX_MS, FOLLOW_RETRY_MIN_MS } from '../../engine/limits.ts';
import type { Logger } from '../log.ts';
import type { Backlog, BacklogPage, EmbeddedPage, StampOf } from './backlog.ts';

export interface FollowerOptions {
  /** One a shard. */
  readonly backlogs: readonly Backlog[];
  /** The embedder of a backend; undefined for a name that nobody configured. */
  readonly embedderOf: (backend: string) => Embedder | undefined;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
  /** Calls back once after so many milliseconds; the result takes that back. */
  readonly after?: (ms: number, run: () => void) => () => void;
}

/** A backend that failed: not asked again before a time, which doubles with each failure in a row. */
interface Outage {
  readonly untilMs: number;
  readonly waitMs: number;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #nowMs: () => number;
  readonly #after: (ms: number, run: () => void) => () => void;
  readonly #outages = new Map<string, Outage>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** Ends the rest between two rounds early. */
  #wake: () => void = () => {};
  #isWoken = false;
  #embedded = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#after = options.after ?? afterByTimer;
  }

  /** Grains given vectors since the start. */
  get embedded(): number {
    return this.#embedded;
  }

  /** Backends that do not answer at the moment. */
  get outages(): readonly string[] {
    const nowMs = this.#nowMs();
    return [...this.#outages].filter(([, { untilMs }]) => untilMs > nowMs).map(([backend]) => backend);
  }

  start(): void {
    this.#running ??= this.#follow();
  }

  /** Something was written: there may be something to do. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Begins nothing more; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#running;
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#isWoken = false;
      let worked = false;
      for (const backlog of this.#options.backlogs) {
        if (this.#stop.signal.aborted) return;
        worked = (await this.#round(backlog)) || worked;
      }
      if (!worked && !this.#isWoken && !this.#stop.signal.aborted) await this.#rest();
    }
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = this.#after(FOLLOW_REST_MS, resolve);
      this.#wake = () => {
        takeBack();
        resolve();
      };
    });
  }

  /** One shard's next pages; false when nothing could be done. */
  async #round(backlog: Backlog): Promise<boolean> {
    let pages: readonly BacklogPage[];
    try {
      pages = await backlog.pages(this.#stampOf, FOLLOW_PAGE_GRAINS);
    } catch (error) {
      // A shard that is starting again, or a disk that is full: the next round asks anew.
      this.#options.log.warn({ err: error }, 'what is to be embedded could not be read');
      return false;
    }
    let worked = false;
    for (const page of pages) {
      if (this.#stop.signal.aborted) return worked;
      worked = (await this.#page(backlog, page)) || worked;
    }
    return worked;
  }

  async #page(backlog: Backlog, page: BacklogPage): Promise<boolean> {
    const embedder = this.#options.embedderOf(page.backend);
    if (embedder === undefined || this.#stampOf(page.backend) === undefined) return false;
    let embedded: EmbeddedPage;
    try {
      embedded = await embedPage(embedder, page, this.#stop.signal);
      this.#outages.delete(page.backend);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(page.backend, error);
      return false;
    }
    try {
      await backlog.store(embedded);
    } catch (error) {
      this.#options.log.warn({ err: error, memory: page.memory }, 'vectors could not be kept; they are made again');
      return false;
    }
    this.#embedded += embedded.grains.length;
    return true;
  }

  #failed(backend: string, error: unknown): void {
    const waitMs = Math.min(FOLLOW_RETRY_MAX_MS, (this.#outages.get(backend)?.waitMs ?? FOLLOW_RETRY_MIN_MS / 2) * 2);
    this.#outages.set(backend, { untilMs: this.#nowMs() + waitMs, waitMs });
    this.#options.log.warn({ err: error, backend, retry_in_ms: waitMs }, 'embedding failed; grains wait for it');
  }

  readonly #stampOf: StampOf = (backend) => {
    const outage = this.#outages.get(backend);
    if (outage !== undefined && outage.untilMs > this.#nowMs()) return undefined;
    const embedder = this.#options.embedderOf(backend);
    return embedder === undefined ? undefined : { name: embedder.name, dimensions: embedder.dimensions };
  };
}

/** All windows of a page's grains in one call, so that a service is asked once. */
async function embedPage(embedder: Embedder, page: BacklogPage, signal: AbortSignal): Promise<EmbeddedPage> {
  const windows = page.grains.map(({ text }) => windowsOf(text));
  const texts = windows.flat();
  const vectors = texts.length === 0 ? [] : await embedder.embed(texts, { priority: 'backlog', signal });
  let at = 0;
  const grains = page.grains.map(({ ordinal }, i) => {
    const own = vectors.slice(at, at + windows[i]!.length).filter((vector) => vector !== undefined);
    at += windows[i]!.length;
    return { ordinal, vectors: own };
  });
  const { memory, after, upTo } = page;
  const { name, dimensions } = embedder;
  return {
    memory,
    embedder: { name, dimensions },
    after,
    upTo,
    grains: grains.filter((one) => one.vectors.length > 0),
  };
}

function afterByTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
