// One write as it waits in the queue, and how its kind is prepared and planned.
import type { EngineError } from '../base/errors.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { Memory } from '../store/memory.ts';
import type { Group } from './group.ts';
import type { PreparedGrain } from './prepare.ts';
import type { ReplyKeeping } from './reply.ts';

/** How one kind of write is prepared and planned. */
export interface WritePlan<I, O> {
  /** Pure work that may run while an earlier group is being committed. */
  prepare?(memory: Memory, context: CallContext, input: I, nowMs: number): PreparedGrain;
  /** Reads and grants. Throws EngineError before it changes the group. */
  plan(
    group: Group,
    memory: Memory | undefined,
    context: CallContext,
    input: I,
    prepared: PreparedGrain | undefined,
  ): O;
  /**
   * True when the plan searches broadly or removes: it cannot see other writes of its memory in the same group, so it
   * must not share a group with earlier or later ones.
   */
  readonly settled?: boolean | undefined;
  /** True when the plan only notes in the trail what was done, or claims a key: a deactivated agent may cause it too. */
  readonly noteOnly?: true | undefined;
  /** How its answer is stored for a repeat. Default: the whole answer, for as long as the memory lives. */
  readonly reply?: ReplyKeeping<I, O> | undefined;
}

/** Takes the outcomes of one write, or of all writes of a batch. */
export interface Settler<O> {
  /** Called once for each: with an error, or with the plan's output. `index`: as it was queued. */
  settle(index: number, error: EngineError | undefined, output: O): void;
}

/** One write. It keeps plan, input and settler together, so their types always match. */
export class Job {
  readonly method: string;
  readonly write: WritePlan<unknown, unknown>;
  readonly context: CallContext;
  readonly input: unknown;
  prepared: PreparedGrain | EngineError | undefined;
  /** The result of its plan, which is the answer once its group is durable. */
  error: EngineError | undefined;
  output: unknown;
  /** When it was queued, in milliseconds of this process. */
  readonly queuedAtMs: number;
  readonly #settler: Settler<unknown>;
  readonly #index: number;

  constructor(
    { method, write, settler, queuedAtMs }: Queued<unknown, unknown>,
    context: CallContext,
    input: unknown,
    index: number,
  ) {
    this.method = method;
    this.write = write;
    this.context = context;
    this.input = input;
    this.prepared = undefined;
    this.error = undefined;
    this.output = undefined;
    this.queuedAtMs = queuedAtMs;
    this.#settler = settler;
    this.#index = index;
  }

  settle(error: EngineError | undefined, output: unknown): void {
    this.#settler.settle(this.#index, error, output);
  }
}

/** The part that all writes of a batch share. */
export interface Queued<I, O> {
  readonly method: string;
  readonly write: WritePlan<I, O>;
  readonly settler: Settler<O>;
  /** One reading of the clock serves a whole batch. */
  readonly queuedAtMs: number;
}

export type MemoryWrite<M extends keyof MemoryCalls> = WritePlan<MemoryCalls[M]['input'], MemoryCalls[M]['output']>;
