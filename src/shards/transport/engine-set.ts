// The open engines of a thread. Each can be opened and closed while the others serve.
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
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
    const engine = await this.#opened(options);
    assert(!this.#engines.has(options.shard), 'a shard is opened once at a time');
    this.#engines.set(options.shard, engine);
  }

  /** An error of the system is one of the shard's folder, not a bug for which all shards of the thread would end. */
  async #opened(options: EngineOptions): Promise<EngineDoor> {
    try {
      return await this.#open(options);
    } catch (error) {
      if (error instanceof EngineError || !(error instanceof Error) || !('syscall' in error)) throw error;
      // Callers see it too: without the path.
      const why = `${'code' in error ? error.code : error.name} in ${error.syscall}`;
      throw new EngineError('STO-E001', `the folder of shard ${options.shard} cannot be opened: ${why}`);
    }
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
