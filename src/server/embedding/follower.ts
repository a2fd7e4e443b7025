// Embeds new grains with one embedder: takes pages from the shards in turn, embeds them, and returns the vectors. No
// caller waits for it, and after a restart it repeats unfinished work.

import type { Embedder } from '../../embed/embedder.ts';
import {
  FOLLOW_FRESH_ROUNDS_MAX,
  FOLLOW_PAGE_GRAINS,
  FOLLOW_REST_MS,
  FOLLOW_RETRY_MAX_MS,
  FOLLOW_RETRY_MIN_MS,
} from '../../engine/base/limits.ts';
import type { Logger } from '../log.ts';
import type { Backlog, BacklogPage, StampOf } from './backlog.ts';
import { embedGrains } from './embed-grains.ts';
import { PageKeeper } from './page-keeper.ts';
import { Suspects } from './suspects.ts';
import type { WindowCache } from './window-cache.ts';

export interface FollowerOptions {
  /** One per shard. */
  readonly backlogs: readonly Backlog[];
  /** Names of the embedder's backend now; only their pages are requested. */
  readonly backends: () => readonly string[];
  /** The embedder once it is open; while undefined, asked again later. */
  readonly embedder: () => Embedder | undefined;
  /** Whether a memory's texts may go to the embedder; default: all may. Other pages wait. */
  readonly mayEmbed?: ((memory: number) => boolean) | undefined;
  /** Vectors of windows that repeat. Absent: each is embedded. */
  readonly windows?: Pick<WindowCache, 'over'> | undefined;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Called when vectors were stored, or when nothing is pending. */
  readonly progressed?: (() => void) | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Calls `run` once after so many milliseconds; the result cancels it. */
  readonly after?: ((ms: number, run: () => void) => () => void) | undefined;
}

/** The embedder failed: no call before a certain time. The wait doubles with each consecutive failure. */
interface Outage {
  readonly untilMs: number;
  readonly waitMs: number;
}

interface Shard {
  readonly backlog: Backlog;
  readonly suspects: Suspects;
  /** Nothing was pending a moment ago: while other shards have work, this one is not asked before. */
  restsUntilMs: number;
  /** When a text was first seen to await its vectors; undefined when none does. */
  behindSinceMs: number | undefined;
  /** Its newest read failed, and the failure is logged. */
  isUnreadable: boolean;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #shards: readonly Shard[];
  readonly #nowMs: () => number;
  readonly #after: (ms: number, run: () => void) => () => void;
  readonly #stop = new AbortController();
  #outage: Outage | undefined;
  #running: Promise<void> | undefined;
  /** Ends the pause between two rounds early. */
  #endRest: () => void = () => {};
  #embedded = 0;
  #passedOver = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#shards = options.backlogs.map((backlog) => ({
      backlog,
      suspects: new Suspects(),
      restsUntilMs: 0,
      behindSinceMs: undefined,
      isUnreadable: false,
    }));
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#after = options.after ?? afterByTimer;
  }

  /** Grains embedded since the start. */
  get embedded(): number {
    return this.#embedded;
  }

  /** Grains since the start that could not be embedded: only their words are searchable. */
  get passedOver(): number {
    return this.#passedOver;
  }

  /** Milliseconds since every text of the shard that is furthest behind had its vectors; 0 if all have them. */
  get behindMs(): number {
    const nowMs = this.#nowMs();
    return Math.max(0, ...this.#shards.map(({ behindSinceMs = nowMs }) => nowMs - behindSinceMs));
  }

  /** True while the embedder is paused after a failure. */
  get isOut(): boolean {
    return this.#outage !== undefined && this.#outage.untilMs > this.#nowMs();
  }

  start(): void {
    this.#running ??= this.#follow();
  }

  /** A read waits: end the pause. */
  wake(): void {
    this.#endRest();
  }

  /** Starts no more work; resolves when nothing runs. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#endRest();
    await this.#running;
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      let worked = false;
      for (const shard of this.#shards) {
        if (this.#stop.signal.aborted) return;
        if (shard.restsUntilMs > this.#nowMs()) continue;
        const hasWorked = await this.#round(shard);
        shard.restsUntilMs = hasWorked ? 0 : this.#nowMs() + FOLLOW_REST_MS;
        worked ||= hasWorked;
      }
      if (worked || this.#stop.signal.aborted) continue;
      this.#options.progressed?.();
      await this.#rest();
      for (const shard of this.#shards) shard.restsUntilMs = 0;
    }
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = this.#after(FOLLOW_REST_MS, resolve);
      this.#endRest = () => {
        takeBack();
        resolve();
      };
    });
  }

  /** Processes one shard's next pages; false when nothing could be done. */
  async #round(shard: Shard): Promise<boolean> {
    const embedder = this.isOut ? undefined : this.#options.embedder();
    if (embedder === undefined) return false;
    const { name, dimensions } = embedder;
    const backends = this.#options.backends();
    const stampOf: StampOf = (backend) => (backends.includes(backend) ? { name, dimensions } : undefined);
    let worked = await this.#freshen(embedder, stampOf);
    const pages = await this.#taken(shard, () => shard.backlog.pages(stampOf, FOLLOW_PAGE_GRAINS));
    if (pages === undefined) return worked;
    shard.isUnreadable = false;
    const isBehind = pages.some(({ memory }) => this.#options.mayEmbed?.(memory) !== false);
    shard.behindSinceMs = isBehind ? (shard.behindSinceMs ?? this.#nowMs()) : undefined;
    for (const [at, page] of pages.entries()) {
      if (at > 0) worked = (await this.#freshen(embedder, stampOf)) || worked;
      if (this.#stop.signal.aborted || this.isOut) return worked;
      if (this.#options.mayEmbed?.(page.memory) === false) continue;
      worked = (await this.#page(shard, page, embedder, () => this.#freshen(embedder, stampOf))) || worked;
    }
    return worked;
  }

  /** Undefined when the shard cannot be read. */
  async #taken<T>(shard: Shard, take: () => Promise<T> | undefined): Promise<T | undefined> {
    try {
      return await take();
    } catch (error) {
      // A restarting shard, a full disk, a database that is away: each round asks again, and the first failure is logged.
      if (!shard.isUnreadable) this.#options.log.warn({ err: error }, 'cannot read the grains that await embedding');
      shard.isUnreadable = true;
      return undefined;
    }
  }

  /**
   * Embeds short, new texts of all shards ahead of the next page: a note does not wait for any backlog. The number of
   * rounds is bounded, so the backlog advances during heavy writes. True when something was embedded.
   */
  async #freshen(embedder: Embedder, stampOf: StampOf): Promise<boolean> {
    let worked = false;
    for (let round = 0; round < FOLLOW_FRESH_ROUNDS_MAX; round++) {
      let found = 0;
      for (const shard of this.#shards) {
        if (this.#stop.signal.aborted || this.isOut) return worked;
        const pages = (await this.#taken(shard, () => shard.backlog.fresh?.(stampOf, FOLLOW_PAGE_GRAINS))) ?? [];
        for (const page of pages) {
          if (this.#stop.signal.aborted || this.isOut) return worked;
          if (this.#options.mayEmbed?.(page.memory) === false) continue;
          found += 1;
          worked = (await this.#page(shard, page, embedder, undefined)) || worked;
        }
      }
      if (found === 0) return worked;
    }
    return worked;
  }

  /** `between` runs between two calls of the embedder. */
  async #page(
    { backlog, suspects }: Shard,
    page: BacklogPage,
    embedder: Embedder,
    between: (() => Promise<unknown>) | undefined,
  ): Promise<boolean> {
    const { memory } = page;
    const keeper = new PageKeeper(backlog, page, embedder);
    let isWhole = true;
    try {
      await this.#embed(suspects, page, { embedder, keeper, between });
      this.#outage = undefined;
    } catch (error) {
      isWhole = false;
      if (!this.#stop.signal.aborted) this.#failed(error);
    }
    try {
      const { stored, passedOver } = await keeper.finish();
      if (isWhole) suspects.clear(page);
      this.#options.progressed?.();
      this.#embedded += stored;
      this.#passedOver += passedOver.length;
      for (const { ordinal, error } of passedOver)
        this.#options.log.warn(
          { err: error, memory, ordinal, embedder: embedder.name },
          'a grain cannot be embedded: only its words are searchable',
        );
    } catch (error) {
      this.#options.log.warn({ err: error, memory }, 'cannot store vectors; they will be computed again');
      return false;
    }
    return isWhole;
  }

  /** Embeds the page as a whole, or grain by grain after a failure. */
  async #embed(
    suspects: Suspects,
    page: BacklogPage,
    {
      embedder,
      keeper,
      between,
    }: {
      readonly embedder: Embedder;
      readonly keeper: PageKeeper;
      readonly between: (() => Promise<unknown>) | undefined;
    },
  ): Promise<void> {
    const { signal } = this.#stop;
    if (!suspects.has(page)) {
      const texts = page.grains.map(({ text }) => text);
      const known = this.#options.windows?.over(page.memory, embedder) ?? embedder;
      try {
        return await embedGrains(known, texts, signal, (vectors) => keeper.add(vectors), between);
      } catch (error) {
        signal.throwIfAborted();
        suspects.add(page);
        this.#options.log.info({ err: error, memory: page.memory }, 'a page failed: embedding its grains one by one');
      }
    }
    await suspects.embedApart(embedder, page, keeper, signal);
  }

  #failed(error: unknown): void {
    const waitMs = Math.min(FOLLOW_RETRY_MAX_MS, (this.#outage?.waitMs ?? FOLLOW_RETRY_MIN_MS / 2) * 2);
    this.#outage = { untilMs: this.#nowMs() + waitMs, waitMs };
    const backends = this.#options.backends();
    this.#options.log.warn(
      { err: error, backends, retry_in_ms: waitMs },
      'embedding failed; grains wait for the embedder',
    );
  }
}

function afterByTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
