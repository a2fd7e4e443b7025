// The write queue of a shard. Requests wait while an append is in flight, and then form the next group. One append runs
// at a time, and answers follow it.

import { assert } from '../base/assert.ts';
import { steadyMs } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { GROUP_BYTES_MAX, GROUP_CHANGES_MAX, GROUP_WRITES_MAX, SLICE_MS } from '../base/limits.ts';
import type { CallContext } from '../calls/context.ts';
import { principalOf } from '../govern/access/caller.ts';
import { refuseDeactivated } from '../govern/decide.ts';
import { SYSTEM_ACTOR } from '../govern/trail/audit.ts';
import type { Sequence } from '../log/log.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { auditRefusal } from './decided.ts';
import { Group } from './group.ts';
import { Job, type Queued, type Settler, type WritePlan } from './job.ts';
import { ReadTrail } from './read-trail.ts';
import { storedReply, storeReply } from './reply.ts';

type State = readonly (readonly [string, Uint8Array | null])[];

/** State changes of housekeeping for the next group. */
interface Change {
  readonly state: State;
  readonly removals: readonly Sequence[];
  readonly committed: () => void;
  readonly failed: (error: unknown) => void;
}

/** The planned requests of a group. */
interface Gathered {
  readonly group: Group;
  readonly granted: readonly Job[];
  /** When the group began, in milliseconds of this process. */
  readonly startedMs: number;
}

/** Answers the planned requests of a group, with an error if the group failed. */
function answer(granted: readonly Job[], failure?: EngineError): void {
  for (let i = 0; i < granted.length; i++) {
    const job = granted[i]!;
    job.settle(failure ?? job.error, job.output);
  }
}

export class WriteQueue {
  /** Entries of reads, which the next group takes along. */
  readonly trail: ReadTrail;
  readonly #store: Store;
  readonly #onFatal: (error: unknown) => void;
  readonly #betweenGroups: () => void;
  /** Those before `#head` are undefined: a grain that waits for no answer must not outlive a collection. */
  #jobs: (Job | undefined)[] = [];
  #head = 0;
  #scheduled = false;
  #appending: Promise<void> | undefined;
  /** The requests of the group that is being committed. */
  #inFlight: readonly Job[] = [];
  #failed: EngineError | undefined;
  /** State changes that the next group carries, each with its follow-up after the commit. */
  readonly #changes: Change[] = [];

  /** Called when writes wait for a seal. The listener calls `resume` once there is room. */
  #onFull: () => void = () => {};

  /** `betweenGroups`: lets the thread do what is urgent, after the answers of a group and before the next is planned. */
  constructor(store: Store, onFatal: (error: unknown) => void, betweenGroups: () => void = () => {}) {
    this.#store = store;
    this.#onFatal = onFatal;
    this.#betweenGroups = betweenGroups;
    this.trail = new ReadTrail(store);
  }

  onFull(listener: () => void): void {
    this.#onFull = listener;
  }

  /** Writes that wait for the next group. */
  get pending(): number {
    return this.#jobs.length - this.#head;
  }

  /** Writes not yet answered: those that wait, and those of the group that is being committed. */
  get unanswered(): number {
    return this.pending + this.#inFlight.length;
  }

  /** How long the oldest unanswered write has waited, in ms; 0 without one. */
  get oldestWaitMs(): number {
    const oldest = this.#inFlight[0] ?? this.#jobs[this.#head];
    return oldest === undefined ? 0 : performance.now() - oldest.queuedAtMs;
  }

  push<I, O>(method: string, write: WritePlan<I, O>, context: CallContext, input: I): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      const settler: Settler<O> = {
        settle: (_, error, output) => (error === undefined ? resolve(output) : reject(error)),
      };
      this.enqueue({ method, write, settler, queuedAtMs: performance.now() }, context, input);
    });
  }

  /** Like `push`, for many at once: a promise or a closure for each item would cost as much as its plan. */
  enqueue<I, O>(queued: Queued<I, O>, context: CallContext, input: I, index = 0): void {
    const job = new Job(queued as Queued<unknown, unknown>, context, input, index);
    if (this.#failed !== undefined) {
      job.settle(this.#failed, undefined);
      return;
    }
    this.#jobs.push(job);
    this.#schedule();
  }

  /** Commits state entries with the next group. Resolves when they are durable. */
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

  /** Refuses everything that is queued or arrives later. */
  fail(error: EngineError): void {
    this.#failed = error;
    this.refuse(error);
    for (const change of this.#changes.splice(0)) change.failed(error);
  }

  #schedule(): void {
    if (this.#scheduled || this.#appending !== undefined) return;
    this.#scheduled = true;
    // Runs after the caller's own loop, so that one batch forms one group.
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#next();
    });
  }

  #next(): void {
    if (this.#appending !== undefined) return;
    try {
      while (this.pending > 0 || this.#changes.length > 0) {
        if (this.#store.index.tailIsFull() && this.#changes.length === 0) {
          this.#onFull(); // a seal makes room, then calls resume()
          return;
        }
        const granted: Job[] = [];
        const startedMs = performance.now();
        const group = this.#gather(granted);
        if (group === undefined) {
          this.#jobs = [...granted, ...this.#jobs.slice(this.#head)];
          this.#head = 0;
          continue;
        }
        if (group.isEmpty && this.#changes.length === 0) {
          answer(granted);
          continue;
        }
        this.#commit({ group, granted, startedMs });
        return;
      }
    } catch (error) {
      this.#onFatal(error);
    }
  }

  /** Refuses the queued writes, because no room could be made. Later writes are tried again. */
  refuse(error: EngineError): void {
    const waiting = this.#jobs.slice(this.#head);
    this.#jobs = [];
    this.#head = 0;
    for (const job of waiting) job?.settle(error, undefined);
  }

  /** Continues after maintenance has made room in the tail. */
  resume(): void {
    this.#schedule();
  }

  /**
   * Plans the waiting writes. Undefined when a plan met damage half-way: its request is refused, the group is
   * abandoned, and the others are gathered again.
   */
  #gather(granted: Job[]): Group | undefined {
    const group = new Group(this.#store);
    const nowMs = steadyMs(this.#store.clock);
    /** Memories that a settled write has changed in this group. */
    const closed = new Set<Memory>();
    let count = 0;
    while (this.#head < this.#jobs.length && count < GROUP_WRITES_MAX && group.bytes < GROUP_BYTES_MAX) {
      const job = this.#jobs[this.#head]!;
      if (job.context.deadlineMs !== undefined && job.context.deadlineMs < nowMs) {
        this.#shift();
        job.settle(new EngineError('SYS-E005'), undefined);
        continue;
      }
      const bytesBefore = group.bytes;
      const changesBefore = group.changes;
      let memory: Memory | undefined;
      try {
        memory = this.#store.holds(job.context.memory) ? this.#store.memory(job.context.memory) : undefined;
        if (memory !== undefined) this.#checkWhole(memory);
        const isSettled = job.write.settled === true;
        if (memory !== undefined && (closed.has(memory) || (isSettled && group.touches(memory)))) break;
        job.error = undefined;
        job.output = this.#plan(group, job, memory);
        granted.push(job);
        if (isSettled && memory !== undefined && group.changes > changesBefore) closed.add(memory);
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        // A plan refuses before it changes the group, unless it reads damaged data.
        if (group.bytes > bytesBefore) {
          assert(error.code === 'STO-E001', 'only storage refuses half-way through a plan');
          group.discard();
          this.#shift();
          job.settle(error, undefined);
          return undefined;
        }
        if (memory !== undefined) auditRefusal(group, memory, job, error);
        job.error = error;
        job.output = undefined;
        granted.push(job);
      }
      this.#shift();
      count += 1;
    }
    return group;
  }

  /** A plan must see all data: a memory with a damaged block takes writes again only after its segments are rebuilt. */
  #checkWhole(memory: Memory): void {
    if (this.#store.isDamaged(memory.number)) throw damagedMemory();
    // The head of the audit chain is needed when the group is closed, so its damage must show here.
    this.#store.auditHead(memory.number);
  }

  #plan(group: Group, job: Job, memory: Memory | undefined): unknown {
    if (job.context.traced !== true) return this.#planned(group, job, memory);
    const { stageTimes } = this.#store;
    const startedMs = performance.now();
    stageTimes.note(job.context, 'queue', job.queuedAtMs, startedMs);
    try {
      return this.#planned(group, job, memory);
    } finally {
      stageTimes.note(job.context, 'plan', startedMs, performance.now());
    }
  }

  #planned(group: Group, job: Job, memory: Memory | undefined): unknown {
    const { method, context, write } = job;
    if (memory !== undefined) {
      this.#checkAgent(memory, job);
      const reply = storedReply(group, memory, method, context);
      if (reply !== undefined) return write.reply?.restore?.(reply.output, job.input) ?? reply.output;
    }
    this.#prepare(job, memory);
    if (job.prepared instanceof EngineError) throw job.prepared;
    const output = write.plan(group, memory, context, job.input, job.prepared);
    if (memory !== undefined && context.idempotency !== undefined) {
      const { isKept, strip, ofWhom } = write.reply ?? {};
      if (isKept?.(job.input) !== false)
        storeReply(group, memory, job, { kept: strip?.(output) ?? output, ...ofWhom?.(output) });
    }
    return output;
  }

  /** AGT-E003 for a write of a deactivated agent, also for the repeat of one that was granted before. */
  #checkAgent({ governed }: Memory, { context, write }: Job): void {
    if (write.noteOnly === true || principalOf(context) === SYSTEM_ACTOR) return;
    const refused = refuseDeactivated(governed, context);
    if (refused !== undefined) throw refused;
  }

  #prepare(job: Job, memory: Memory | undefined): void {
    if (job.prepared !== undefined || memory === undefined || job.write.prepare === undefined) return;
    const isTraced = job.context.traced === true;
    const startedMs = isTraced ? performance.now() : 0;
    try {
      job.prepared = job.write.prepare(memory, job.context, job.input, this.#store.clock.nowMs());
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      job.prepared = error;
    }
    if (isTraced) this.#store.stageTimes.note(job.context, 'prepare', startedMs, performance.now());
  }

  #shift(): void {
    this.#jobs[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > 1_024 && this.#head * 2 > this.#jobs.length) {
      this.#jobs = this.#jobs.slice(this.#head);
      this.#head = 0;
    }
  }

  #commit({ group, granted, startedMs }: Gathered): void {
    const changes = this.#changes.splice(0, GROUP_CHANGES_MAX);
    const giveBack = this.trail.join(group);
    for (const { state, removals } of changes) {
      for (const [key, value] of state) group.setState(key, value);
      group.removeValues(removals);
    }
    let append: ReturnType<Group['finish']>;
    try {
      append = group.finish();
    } catch (error) {
      group.discard();
      giveBack();
      this.#refuse(error, granted, changes);
      return;
    }
    const { counters } = this.#store;
    const appendedMs = performance.now();
    counters.groupWrites.observe(granted.length);
    this.#countWaits(granted, startedMs);
    this.#inFlight = granted;
    this.#appending = this.#store.log.append(append).then(
      () => {
        this.#appending = undefined;
        this.#inFlight = [];
        counters.commitSeconds.observe((performance.now() - appendedMs) / 1000);
        try {
          group.publish();
        } catch (error) {
          this.#onFatal(error);
          return;
        }
        this.#noteCommits(granted, appendedMs);
        answer(granted);
        for (const change of changes) change.committed();
        this.#betweenGroups();
        this.#next();
      },
      (error) => {
        this.#appending = undefined;
        this.#inFlight = [];
        giveBack();
        this.#refuse(error, granted, changes);
        this.#next();
      },
    );
    setImmediate(() => this.#prepareAhead());
  }

  /** Notes the time of the commit for each traced request. */
  #noteCommits(granted: readonly Job[], appendedMs: number): void {
    for (let i = 0; i < granted.length; i++) {
      const { context } = granted[i]!;
      if (context.traced === true) this.#store.stageTimes.note(context, 'commit', appendedMs, performance.now());
    }
  }

  /** The requests of a batch waited for the same time, and are counted at once. */
  #countWaits(granted: readonly Job[], startedMs: number): void {
    const { queueSeconds } = this.#store.counters;
    for (let from = 0, to = 0; from < granted.length; from = to) {
      const { queuedAtMs } = granted[from]!;
      while (to < granted.length && granted[to]!.queuedAtMs === queuedAtMs) to += 1;
      queueSeconds.observe((startedMs - queuedAtMs) / 1000, to - from);
    }
  }

  /**
   * A storage error refuses the whole group, of which nothing is published. If the error poisoned the log, the records of
   * the group may be there when it is opened again. Any other error is a bug.
   */
  #refuse(error: unknown, granted: readonly Job[], changes: readonly Change[]): void {
    if (!(error instanceof EngineError)) {
      this.#onFatal(error);
      return;
    }
    answer(granted, error);
    for (const change of changes) change.failed(error);
  }

  /** Undefined for a memory that is missing or does not open. The plan then refuses its writes. */
  #opened(memory: number): Memory | undefined {
    try {
      return this.#store.holds(memory) ? this.#store.memory(memory) : undefined;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return undefined;
    }
  }

  /** Prepares waiting writes in slices while a group is being committed. */
  #prepareAhead(): void {
    const until = performance.now() + SLICE_MS;
    for (let i = this.#head; i < this.#jobs.length && i < this.#head + GROUP_WRITES_MAX * 2; i++) {
      if (this.#appending === undefined || this.#failed !== undefined) return;
      const job = this.#jobs[i]!;
      if (job.prepared !== undefined || job.write.prepare === undefined) continue;
      this.#prepare(job, this.#opened(job.context.memory));
      if (performance.now() > until) {
        setImmediate(() => this.#prepareAhead());
        return;
      }
    }
  }
}

export function damagedMemory(): EngineError {
  return new EngineError(
    'STO-E001',
    'the index of this memory is damaged and is being rebuilt from the log: try again later',
    {
      retryable: true,
    },
  );
}
