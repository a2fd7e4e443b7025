// One call on a memory of several partitions: ask one, ask all.
import { EngineError } from '../../engine/base/errors.ts';
import { SYSTEM_ACTOR } from '../../engine/govern/trail/audit.ts';
import type { CallContext, Input, Method, Output, ShardCaller } from '../protocol.ts';
import { keyPartition } from './placement.ts';

/** A context before the router chose the partition. */
export type RouterContext = Omit<CallContext, 'partition'>;

export class Fan {
  readonly context: RouterContext;
  /** The shard of each partition, in partition order. */
  readonly #shards: readonly ShardCaller[];

  constructor(context: RouterContext, shards: readonly ShardCaller[]) {
    this.context = context;
    this.#shards = shards;
  }

  get partitions(): number {
    return this.#shards.length;
  }

  /** The partition that remembers which body came with the call's idempotency key; the first one without a key. */
  get home(): number {
    const { idempotency } = this.context;
    return idempotency === undefined ? 0 : keyPartition(idempotency.key, this.partitions);
  }

  /** The same call for whoever asks in between: nothing of it is kept for a repeat, nor told as a caller's read. */
  withoutIdempotency(): Fan {
    const { idempotency: _, ...context } = this.context;
    return new Fan({ ...context, actor: SYSTEM_ACTOR }, this.#shards);
  }

  /** The caller's own call, of which nothing is kept for a repeat: what is done again comes to the same. */
  repeatable(): Fan {
    const { idempotency: _, ...context } = this.context;
    return new Fan(context, this.#shards);
  }

  /**
   * Runs a call whose partitions depend on its body or its kind: the idempotency key is claimed first in a partition
   * that depends on the key alone, so that the same key with another body is refused (VAL-E005) wherever that would go.
   * What is refused leaves its key free, as it does in a single partition.
   */
  async claimed<T>(run: () => Promise<T>): Promise<T> {
    const { idempotency } = this.context;
    if (idempotency === undefined) return run();
    const { home } = this;
    await this.one(home, 'claim', { release: false });
    try {
      return await run();
    } catch (error) {
      // After anything else the call may have been done after all.
      if (isRefusal(error)) await this.one(home, 'claim', { release: true }).catch(() => undefined);
      throw error;
    }
  }

  one<M extends Method>(partition: number, method: M, input: Input<M>): Promise<Output<M>> {
    const shard = this.#shards[partition];
    if (shard === undefined) return Promise.reject(new EngineError('VAL-E001', 'no such partition'));
    return shard.call(method, { ...this.context, partition }, input);
  }

  /** What each partition says, in partition order, once all have answered. */
  settle<M extends Method>(method: M, input: Input<M>): Promise<PromiseSettledResult<Output<M>>[]> {
    return Promise.allSettled(this.#shards.map((_, partition) => this.one(partition, method, input)));
  }

  /** Every partition's answer, in partition order; throws the first error once all have answered. */
  async all<M extends Method>(method: M, input: Input<M>): Promise<Output<M>[]> {
    return valuesOf(await this.settle(method, input));
  }

  /**
   * As `all`, for what every partition is to do. Where some have done it and others have not that is no refusal, whatever the
   * others say: STO-E002, and asking again goes on with it. `what`: as the error calls it.
   */
  async everywhere<M extends Method>(method: M, input: Input<M>, what: string): Promise<Output<M>[]> {
    const results = await this.settle(method, input);
    const isBegun = results.some(({ status }) => status === 'fulfilled');
    if (isBegun && results.some(({ status }) => status === 'rejected')) throw halfDone(what);
    return valuesOf(results);
  }

  /**
   * The answer of the partition that has the grain: each one is asked, those that have it not answer MEM-E001. When
   * none has it, another error (erased, restarting) says more than "not found".
   */
  async found<M extends Method>(method: M, input: Input<M>): Promise<Output<M>> {
    const results = await this.settle(method, input);
    const found = results.find((result) => result.status === 'fulfilled');
    if (found !== undefined) return found.value;
    const reasons: unknown[] = results.map((result) => (result.status === 'rejected' ? result.reason : undefined));
    throw reasons.find((reason) => !isNotFound(reason)) ?? reasons[0];
  }

  /** The partition that holds any version of `hash`, or undefined. A read, so cheaper than refused writes. */
  async locate(hash: string): Promise<number | undefined> {
    const answers = await this.withoutIdempotency().all('locate', { hashes: [hash] });
    const partition = answers.findIndex(({ held }) => held[0] === true);
    return partition === -1 ? undefined : partition;
  }
}

/** The caller's own error, which changed nothing; another body's key is not ours to free. */
function isRefusal(error: unknown): boolean {
  return error instanceof EngineError && !/^(STO|SYS|LIM)-/.test(error.code) && error.code !== 'VAL-E005';
}

/** What was begun and has not reached every partition. */
export function halfDone(what: string): EngineError {
  return new EngineError('STO-E002', `${what} has not reached every partition yet: asking again goes on with it`);
}

export function isNotFound(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'MEM-E001';
}

export function valuesOf<T>(results: readonly PromiseSettledResult<T>[]): T[] {
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
