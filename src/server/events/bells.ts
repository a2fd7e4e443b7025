// Tells the main thread which memories have new events. For each shard with a watched memory, one call waits in the shard
// and is answered with the next commit that makes events. Without watchers no call waits.
import { EngineError } from '../../engine/base/errors.ts';
import { EVENTS_GATHER_MS, EVENTS_RETRY_MS } from '../../engine/base/limits.ts';
import { shardOf } from '../../shards/gather/placement.ts';
import type { Output } from '../../shards/protocol.ts';
import type { Router } from '../../shards/router.ts';

/** The memory's number, and how many partitions it has. */
interface Watched {
  readonly number: number;
  readonly partitions: number;
}

type Ring = () => void;

export class EventBells {
  readonly #shards: Pick<Router, 'callShard' | 'shardCount'>;
  /** By shard: the watched memories and who watches them. */
  readonly #watchers: readonly Map<number, Set<Ring>>[];
  /** Shards whose bell is listened to. */
  readonly #listening = new Set<number>();
  readonly #timers = new Map<NodeJS.Timeout, () => void>();
  #isClosed = false;

  constructor(shards: Pick<Router, 'callShard' | 'shardCount'>) {
    this.#shards = shards;
    this.#watchers = Array.from({ length: shards.shardCount }, () => new Map());
  }

  /**
   * Calls `ring` after each commit that makes events of the memory; several commits may share a call. Events that are
   * committed after this returns are not missed. Returns the function that ends the watch.
   */
  watch({ number, partitions }: Watched, ring: Ring): () => void {
    const shards = new Set<number>();
    for (let partition = 0; partition < partitions; partition++)
      shards.add(shardOf(number, partition, this.#shards.shardCount));
    for (const shard of shards) {
      const watchers = this.#watchers[shard]!;
      const rings = watchers.get(number);
      if (rings === undefined) watchers.set(number, new Set([ring]));
      else rings.add(ring);
      if (!this.#listening.has(shard) && !this.#isClosed) void this.#listen(shard);
    }
    return () => {
      for (const shard of shards) this.#unwatch(shard, number, ring);
    };
  }

  #unwatch(shard: number, number: number, ring: Ring): void {
    const watchers = this.#watchers[shard]!;
    const rings = watchers.get(number);
    rings?.delete(ring);
    if (rings?.size === 0) watchers.delete(number);
    if (watchers.size === 0 && this.#listening.has(shard)) this.#release(shard);
  }

  /** Ends the waiting calls, so that the shards can close. */
  close(): void {
    this.#isClosed = true;
    for (const [timer, resolve] of this.#timers) {
      clearTimeout(timer);
      resolve();
    }
    this.#timers.clear();
    for (const shard of this.#listening) this.#release(shard);
  }

  #release(shard: number): void {
    this.#shards.callShard(shard, 'awaitEvents', { release: true }).catch(() => undefined); // it holds no call then
  }

  async #listen(shard: number): Promise<void> {
    this.#listening.add(shard);
    let after: Pick<Output<'awaitEvents'>, 'epoch' | 'tick'> | undefined;
    while (!this.#isClosed && this.#watchers[shard]!.size > 0) {
      try {
        const { memories, ...place } = await this.#shards.callShard(shard, 'awaitEvents', { after });
        after = place;
        this.#ring(shard, memories);
        await this.#pause(EVENTS_GATHER_MS);
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        // The worker is starting again, or has too much to do. Its next answer rings for every memory.
        after = undefined;
        await this.#pause(EVENTS_RETRY_MS);
      }
    }
    this.#listening.delete(shard);
    // A watcher may have come while the last call was being answered.
    if (!this.#isClosed && this.#watchers[shard]!.size > 0) void this.#listen(shard);
  }

  #ring(shard: number, memories: readonly number[] | undefined): void {
    const watchers = this.#watchers[shard]!;
    for (const number of memories ?? [...watchers.keys()]) for (const ring of [...(watchers.get(number) ?? [])]) ring();
  }

  #pause(ms: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, ms);
      this.#timers.set(timer, resolve);
    });
  }
}
