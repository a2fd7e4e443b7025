// The write queue of a shard: requests wait here while an append is in flight, and the next group is made of what has
// gathered. One append at a time; an answer only after it.
import type { CallContext, MemoryCalls } from '../calls.ts';
import { EngineError } from '../errors.ts';
import { GROUP_BYTES_MAX, GROUP_WRITES_MAX, SLICE_MS } from '../limits.ts';
import type { Sequence } from '../log/log.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { Group } from './group.ts';
import type { PreparedGrain } from './prepare.ts';
import { storedReply, storeReply } from './reply.ts';

/** How one kind of write is prepared and planned. */
export interface WritePlan<I, O> {
  /** Pure work that may run while an earlier group is being committed. */
  prepare?(memory: Memory, context: CallContext, input: I, nowMs: number): PreparedGrain;
  /** Reads and grants. Throws EngineError before it has changed the group. */
  plan(
    group: Group,
    memory: Memory | undefined,
    context: CallContext,
    input: I,
    prepared: PreparedGrain | undefined,
  ): O;
  /** True when it searches broadly: it must not share a group with earlier writes of its memory. */
  readonly settled?: boolean;
}

interface Job {
  readonly method: string;
  readonly context: CallContext;
  readonly input: unknown;
  readonly write: WritePlan<never, unknown>;
  readonly resolve: (output: never) => void;
  readonly reject: (error: unknown) => void;
  prepared: PreparedGrain | EngineError | undefined;
}

type State = readonly (readonly [string, Uint8Array | null])[];

/** What housekeeping wants committed with the next group. */
interface Change {
  readonly state: State;
  readonly removals: readonly Sequence[];
  readonly committed: () => void;
  readonly failed: (error: unknown) => void;
}

/** Answers one request of a group; with a failure, that its group was refused. */
type Answer = (failure?: EngineError) => void;

export class WriteQueue {
  readonly #store: Store;
  readonly #onFatal: (error: unknown) => void;
  #jobs: Job[] = [];
  #head = 0;
  #scheduled = false;
  #appending: Promise<void> | undefined;
  #failed: EngineError | undefined;
  /** State changes that the next group carries, each with what follows its commit. */
  readonly #changes: Change[] = [];

  constructor(store: Store, onFatal: (error: unknown) => void) {
    this.#store = store;
    this.#onFatal = onFatal;
  }

  /** Writes not yet answered. */
  get pending(): number {
    return this.#jobs.length - this.#head;
  }

  push<I, O>(method: string, write: WritePlan<I, O>, context: CallContext, input: I): Promise<O> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed);
    return new Promise<O>((resolve, reject) => {
      // The job keeps its plan and input together: nothing else is ever passed to either.
      this.#jobs.push({ method, context, input, write: write as never, resolve, reject, prepared: undefined });
      this.#schedule();
    });
  }

  /** Commits state entries with the next group; resolves when they are durable. */
  commitState(state: State, removals: readonly Sequence[] = []): Promise<void> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed);
    return new Promise((committed, failed) => {
      this.#changes.push({ state, removals, committed, failed });
      this.#schedule();
    });
  }

  /** Resolves when nothing is queued or in flight. */
  async idle(): Promise<void> {
    while (this.#appending !== undefined || this.pending > 0 || this.#changes.length > 0) {
      this.#schedule();
      await (this.#appending ?? new Promise((resolve) => setImmediate(resolve)));
    }
  }

  /** Refuses everything queued and to come. */
  fail(error: EngineError): void {
    this.#failed = error;
    for (const job of this.#jobs.splice(0).slice(this.#head)) job.reject(error);
    this.#head = 0;
    for (const change of this.#changes.splice(0)) change.failed(error);
  }

  #schedule(): void {
    if (this.#scheduled || this.#appending !== undefined) return;
    this.#scheduled = true;
    // After the caller's own loop: what one batch brings forms one group.
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#next();
    });
  }

  #next(): void {
    if (this.#appending !== undefined) return;
    try {
      while (this.pending > 0 || this.#changes.length > 0) {
        if (this.#store.index.tailIsFull()) return; // maintenance seals, then calls resume()
        const settle: Answer[] = [];
        const group = this.#gather(settle);
        if (group.isEmpty && this.#changes.length === 0) {
          for (const answer of settle) answer();
          continue;
        }
        this.#commit(group, settle);
        return;
      }
    } catch (error) {
      this.#onFatal(error);
    }
  }

  /** Goes on after maintenance made room in the tail. */
  resume(): void {
    this.#schedule();
  }

  #gather(settle: Answer[]): Group {
    const group = new Group(this.#store);
    let count = 0;
    while (this.#head < this.#jobs.length && count < GROUP_WRITES_MAX && group.bytes < GROUP_BYTES_MAX) {
      const job = this.#jobs[this.#head]!;
      if (job.context.deadlineMs !== undefined && job.context.deadlineMs < group.nowMs) {
        this.#shift();
        job.reject(new EngineError('SYS-E005'));
        continue;
      }
      try {
        const memory = this.#store.holds(job.context.memory) ? this.#store.memory(job.context.memory) : undefined;
        if (job.write.settled === true && memory !== undefined && group.touches(memory)) break;
        const output = this.#plan(group, job, memory);
        settle.push((failure) => (failure === undefined ? job.resolve(output as never) : job.reject(failure)));
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        settle.push(() => job.reject(error));
      }
      this.#shift();
      count += 1;
    }
    return group;
  }

  #plan(group: Group, job: Job, memory: Memory | undefined): unknown {
    const { method, context, write } = job;
    if (memory !== undefined) {
      const reply = storedReply(group, memory, method, context);
      if (reply !== undefined) return reply.output;
    }
    this.#prepare(job, memory);
    if (job.prepared instanceof EngineError) throw job.prepared;
    const output = write.plan(group, memory, context, job.input as never, job.prepared);
    if (memory !== undefined) storeReply(group, memory, method, context, output);
    return output;
  }

  #prepare(job: Job, memory: Memory | undefined): void {
    if (job.prepared !== undefined || memory === undefined || job.write.prepare === undefined) return;
    try {
      job.prepared = job.write.prepare(memory, job.context, job.input as never, this.#store.clock.nowMs());
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      job.prepared = error;
    }
  }

  #shift(): void {
    this.#head += 1;
    if (this.#head > 1_024 && this.#head * 2 > this.#jobs.length) {
      this.#jobs = this.#jobs.slice(this.#head);
      this.#head = 0;
    }
  }

  #commit(group: Group, settle: readonly Answer[]): void {
    const changes = this.#changes.splice(0);
    for (const { state, removals } of changes) {
      for (const [key, value] of state) group.setState(key, value);
      group.removeValues(removals);
    }
    let append: ReturnType<Group['finish']>;
    try {
      append = group.finish();
    } catch (error) {
      this.#refuse(error, settle, changes);
      return;
    }
    this.#appending = this.#store.log.append(append).then(
      () => {
        this.#appending = undefined;
        try {
          group.publish();
        } catch (error) {
          this.#onFatal(error);
          return;
        }
        for (const answer of settle) answer();
        for (const change of changes) change.committed();
        this.#next();
      },
      (error) => {
        this.#appending = undefined;
        this.#refuse(error, settle, changes);
        this.#next();
      },
    );
    setImmediate(() => this.#prepareAhead());
  }

  /** A storage error refuses the whole group: nothing of it was written. Anything else is a bug. */
  #refuse(error: unknown, settle: readonly Answer[], changes: readonly Change[]): void {
    if (!(error instanceof EngineError)) {
      this.#onFatal(error);
      return;
    }
    for (const answer of settle) answer(error);
    for (const change of changes) change.failed(error);
  }

  /** While a group is being committed, what waits is prepared, in slices. */
  #prepareAhead(): void {
    const until = performance.now() + SLICE_MS;
    for (let i = this.#head; i < this.#jobs.length && i < this.#head + GROUP_WRITES_MAX * 2; i++) {
      if (this.#appending === undefined || this.#failed !== undefined) return;
      const job = this.#jobs[i]!;
      if (job.prepared !== undefined || job.write.prepare === undefined) continue;
      const { memory } = job.context;
      if (this.#store.holds(memory)) this.#prepare(job, this.#store.memory(memory));
      if (performance.now() > until) {
        setImmediate(() => this.#prepareAhead());
        return;
      }
    }
  }
}

export type MemoryWrite<M extends keyof MemoryCalls> = WritePlan<MemoryCalls[M]['input'], MemoryCalls[M]['output']>;
