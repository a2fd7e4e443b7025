// The open engines of a thread. Each can be opened and closed while the others serve.
import { assert } from '../../engine/base/assert.ts';
import type { EngineDoor, EngineOptions } from './engine-door.ts';

export class EngineSet implements Iterable<EngineDoor> {
  readonly #engines = new Map<number, EngineDoor>();
  readonly #open: (options: EngineOptions) => Promise<EngineDoor>;

  constructor(open: (options: EngineOptions) => Promise<EngineDoor>) {
    this.#open = open;
  }

  /** By shard. */
  get engines(): ReadonlyMap<number, EngineDoor> {
    return this.#engines;
  }

  [Symbol.iterator](): Iterator<EngineDoor> {
    return this.#engines.values();
  }

  /** Opens the engines of all these shards or none: if one fails, closes those that are open, and rejects with its error. */
  async openAll(options: readonly EngineOptions[]): Promise<void> {
    const opening = await Promise.allSettled(options.map((one) => this.open(one)));
    const failed = opening.find((result) => result.status === 'rejected');
    if (failed === undefined) return;
    await Promise.allSettled([...this].map((engine) => engine.close()));
    this.#engines.clear();
    throw failed.reason;
  }

  /** Rejects with EngineError if the shard cannot be opened. */
  async open(options: EngineOptions): Promise<void> {
    assert(!this.#engines.has(options.shard), 'a shard is open once');
    const engine = await this.#open(options);
    assert(!this.#engines.has(options.shard), 'a shard is opened once at a time');
    this.#engines.set(options.shard, engine);
  }

  /** Takes the engine out of the set, so that no call and no maintenance reaches it. The caller closes it. */
  take(shard: number): EngineDoor | undefined {
    const engine = this.#engines.get(shard);
    this.#engines.delete(shard);
    return engine;
  }

  /** Answers queued calls and closes all engines. Rejects with the first error. */
  async close(): Promise<void> {
    await Promise.all([...this].map((engine) => engine.close()));
  }
}
