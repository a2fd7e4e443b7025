// One call on a memory of several partitions, sent to one partition or to all.
import { EngineError } from '../../engine/base/errors.ts';
import { SYSTEM_ACTOR } from '../../engine/govern/trail/audit.ts';
import type { CallContext, Input, Method, Output, ShardCaller } from '../protocol.ts';
import { keyPartition } from './placement.ts';

/** A call context without a partition: the router has not chosen one yet. */
export type RouterContext = Omit<CallContext, 'partition'>;

export class Fan {
  readonly context: RouterContext;
  /** Shards in partition order. */
  readonly #shards: readonly ShardCaller[];

  constructor(context: RouterContext, shards: readonly ShardCaller[]) {
    this.context = context;
    this.#shards = shards;
  }

  get partitions(): number {
    return this.#shards.length;
  }

  /** The partition that stores the call's idempotency key with its body hash; partition 0 for a call without a key. */
  get home(): number {
    const { idempotency } = this.context;
    return idempotency === undefined ? 0 : keyPartition(idempotency.key, this.partitions);
  }

  /**
   * A fan for internal questions of the same call: no idempotency key, and the system as actor, so that the trail does
   * not show them as reads of the caller. They see what the caller may see.
   */
  withoutIdempotency(): Fan {
    const { idempotency: _, ...context } = this.context;
    const onBehalfOf = context.onBehalfOf ?? context.actor;
    return new Fan({ ...context, actor: SYSTEM_ACTOR, onBehalfOf }, this.#shards);
  }

  /** The caller's call without its idempotency key, for steps with the same result when repeated. */
  repeatable(): Fan {
    const { idempotency: _, ...context } = this.context;
    return new Fan(context, this.#shards);
  }

  /**
   * Runs a call whose partitions depend on its body or kind. First claims the idempotency key in its home partition,
   * which depends on the key alone: so the same key with another body is refused (VAL-E005) wherever that body would
   * go. A refused call releases its key, as in a single partition.
   */
  async claimed<T>(run: () => Promise<T>): Promise<T> {
    const { idempotency } = this.context;
    if (idempotency === undefined) return run();
    const { home } = this;
    await this.one(home, 'claim', { release: false });
    try {
      return await run();
    } catch (error) {
      // After any other error the call may have taken effect: keep the key.
      if (isRefusal(error)) await this.one(home, 'claim', { release: true }).catch(() => undefined);
      throw error;
    }
  }

  one<M extends Method>(partition: number, method: M, input: Input<M>): Promise<Output<M>> {
    const shard = this.#shards[partition];
    if (shard === undefined) return Promise.reject(new EngineError('VAL-E001', 'no such partition'));
    return shard.call(method, { ...this.context, partition }, input);
  }

  /** The result of every partition, in partition order. Waits for all of them. */
  settle<M extends Method>(method: M, input: Input<M>): Promise<PromiseSettledResult<Output<M>>[]> {
    return Promise.allSettled(this.#shards.map((_, partition) => this.one(partition, method, input)));
  }

  /** Every partition's answer, in partition order. Waits for all of them, then throws the first error. */
  async all<M extends Method>(method: M, input: Input<M>): Promise<Output<M>[]> {
    return valuesOf(await this.settle(method, input));
  }

  /**
   * Like `all`, for a change that every partition has to make. If only some partitions succeed, the error is STO-E002
   * whatever the others answered: the change has begun, and a repeat completes it. `what`: the subject of the error
   * message.
   */
  async everywhere<M extends Method>(method: M, input: Input<M>, what: string): Promise<Output<M>[]> {
    const results = await this.settle(method, input);
    const isBegun = results.some(({ status }) => status === 'fulfilled');
    if (isBegun && results.some(({ status }) => status === 'rejected')) throw halfDone(what);
    return valuesOf(results);
  }

  /**
   * The answer of the partition that holds the grain. Asks all; partitions without it answer MEM-E001. If none has it,
   * throws another error (erased, restarting) in preference to "not found".
   */
  async found<M extends Method>(method: M, input: Input<M>): Promise<Output<M>> {
    const results = await this.settle(method, input);
    const found = results.find((result) => result.status === 'fulfilled');
    if (found !== undefined) return found.value;
    const reasons: unknown[] = results.map((result) => (result.status === 'rejected' ? result.reason : undefined));
    throw reasons.find((reason) => !isNotFound(reason)) ?? reasons[0];
  }

  /** The partition that holds `hash` in any version, or undefined. Cheaper than trying the write in every partition. */
  async locate(hash: string): Promise<number | undefined> {
    const answers = await this.withoutIdempotency().all('locate', { hashes: [hash] });
    const partition = answers.findIndex(({ held }) => held[0] === true);
    return partition === -1 ? undefined : partition;
  }
}

/** True if the caller caused the error and nothing changed. VAL-E005 is excluded: that key belongs to another body. */
function isRefusal(error: unknown): boolean {
  return error instanceof EngineError && !/^(STO|SYS|LIM)-/.test(error.code) && error.code !== 'VAL-E005';
}

/** The error of a change that has begun but has not reached every partition. */
export function halfDone(what: string): EngineError {
  return new EngineError('STO-E002', `${what} has not reached every partition yet: repeat the request to complete it`);
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
