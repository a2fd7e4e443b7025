// The turns of this run of the server: which of them run here, and when those that await their callers expire.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { TURN_BUDGET_MS, TURN_PAUSE_MS, TURNS_RUNNING_MAX } from '../../../engine/base/limits.ts';
import type { TurnChange } from '../../../engine/calls/turns.ts';
import { SYSTEM_ACTOR } from '../../../engine/govern/trail/audit.ts';
import type { Turn } from '../../../engine/turn/turn.ts';
import type { Memories } from '../../control/memories.ts';
import type { ToolRunners } from '../../executors/runners.ts';
import type { Logger } from '../../log.ts';
import type { Shards } from '../../shards.ts';

interface Running {
  readonly abort: AbortController;
  readonly done: Promise<Turn>;
}

/** The longest time that a timer can take. */
const TIMER_MS_MAX = 2_147_483_647;

export class HarnessTurns {
  /** The run of the server, which the records of running turns name. */
  readonly server = randomBytes(8).toString('hex');
  readonly runners: ToolRunners;
  readonly #shards: Pick<Shards, 'call'>;
  readonly #memories: Pick<Memories, 'byNumber'>;
  readonly #clock: Clock;
  readonly #log: Pick<Logger, 'error'>;
  readonly #running = new Map<string, Running>();
  /** Number of requests that begin, continue or run a turn. */
  #taken = 0;
  /** When turns of a memory are next settled, by the memory's number. */
  readonly #due = new Map<number, number>();
  readonly #settling = new Set<Promise<void>>();
  /** Ends of turns that could not be written, by session, with the memory's number. */
  readonly #unended = new Map<string, { readonly memory: number; readonly change: TurnChange }>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(parts: {
    readonly runners: ToolRunners;
    readonly shards: Pick<Shards, 'call'>;
    readonly memories: Pick<Memories, 'byNumber'>;
    readonly clock: Clock;
    readonly log: Pick<Logger, 'error'>;
  }) {
    this.runners = parts.runners;
    this.#shards = parts.shards;
    this.#memories = parts.memories;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** Number of turns that run. */
  get running(): number {
    return this.#running.size;
  }

  /** Settles what earlier runs of the server left, in these memories. Does not wait. */
  start(memories: readonly number[]): void {
    for (const memory of memories) this.#track(this.settle(memory));
  }

  /**
   * Does the work that begins or continues a turn, and runs it. LIM-E001 while as many turns run as may: before a turn
   * begins, which would be left behind.
   */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw ending();
    if (this.#taken >= TURNS_RUNNING_MAX)
      throw new EngineError('LIM-E001', `${TURNS_RUNNING_MAX} turns run on this server: try again later`);
    this.#taken += 1;
    try {
      return await work();
    } finally {
      this.#taken -= 1;
    }
  }

  /** Runs a turn that has begun. `cancelled` and the end of its time abort it. */
  async run(sessionId: string, work: (signal: AbortSignal) => Promise<Turn>): Promise<Turn> {
    const abort = new AbortController();
    if (this.#closed) abort.abort(ending());
    const timer = setTimeout(() => abort.abort(spent()), TURN_BUDGET_MS);
    const done = work(abort.signal);
    const running = { abort, done };
    this.#running.set(sessionId, running);
    try {
      return await done;
    } finally {
      clearTimeout(timer);
      // Its caller may have continued it already.
      if (this.#running.get(sessionId) === running) this.#running.delete(sessionId);
    }
  }

  /** The work on a turn that runs here; undefined if it does not. */
  workOn(sessionId: string): Promise<Turn> | undefined {
    return this.#running.get(sessionId)?.done;
  }

  /** Ends the work on a turn whose record says that it was cancelled. */
  cancelled(sessionId: string): void {
    this.#running.get(sessionId)?.abort.abort(new EngineError('HRN-E005', 'the turn was cancelled'));
  }

  /** Notes that a turn of the memory awaits its caller. */
  paused(memory: number, untilMs: number): void {
    const known = this.#due.get(memory);
    if (known !== undefined && known <= untilMs) return;
    this.#due.set(memory, untilMs);
    this.#wake();
  }

  /** Ends a turn whose end could not be written now, as soon as the memory takes writes again. */
  unended(memory: number, change: TurnChange): void {
    this.#unended.set(change.sessionId, { memory, change });
    this.paused(memory, this.#clock.nowMs() + UNENDED_RETRY_MS);
  }

  isUnended(sessionId: string): boolean {
    return this.#unended.has(sessionId);
  }

  /** Ends the turns of a memory whose time has passed, and interrupts those of another run. Never rejects. */
  async settle(memory: number): Promise<void> {
    this.#due.delete(memory);
    if (this.#memories.byNumber(memory) === undefined) return;
    const context = { memory, actor: SYSTEM_ACTOR, requestId: 'turns' };
    try {
      await this.#endUnended(context);
      const { settled, nextMs } = await this.#shards.call('settleTurns', context, { server: this.server });
      const nowMs = this.#clock.nowMs();
      // An interrupted turn waits for its caller from now on.
      const next = Math.min(
        nextMs ?? Number.POSITIVE_INFINITY,
        settled > 0 ? nowMs + TURN_PAUSE_MS : Number.POSITIVE_INFINITY,
      );
      if (Number.isFinite(next)) this.paused(memory, next);
    } catch (error) {
      if (this.#closed || (error instanceof EngineError && error.code === 'MEM-E003')) return;
      this.#log.error({ err: error, memory }, 'cannot settle turns of harnesses');
      this.paused(memory, this.#clock.nowMs() + RETRY_MS);
    }
  }

  async #endUnended(context: { readonly memory: number; readonly actor: string; readonly requestId: string }) {
    for (const [sessionId, { memory, change }] of [...this.#unended]) {
      if (memory !== context.memory) continue;
      try {
        await this.#shards.call('changeTurn', context, change);
      } catch (error) {
        // It has ended all the same, or is gone.
        if (!(error instanceof EngineError) || !/^(HRN|MEM)-/.test(error.code)) throw error;
      }
      this.#unended.delete(sessionId);
    }
  }

  #wake(): void {
    clearTimeout(this.#timer);
    if (this.#closed || this.#due.size === 0) return;
    const waitMs = Math.max(0, Math.min(...this.#due.values()) - this.#clock.nowMs());
    this.#timer = setTimeout(() => this.#settleDue(), Math.min(waitMs, TIMER_MS_MAX));
    this.#timer.unref();
  }

  #settleDue(): void {
    const nowMs = this.#clock.nowMs();
    for (const [memory, dueMs] of [...this.#due]) if (dueMs <= nowMs) this.#track(this.settle(memory));
    this.#wake();
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#settling.delete(tracked));
    this.#settling.add(tracked);
  }

  /** Ends the work on all turns: the next run of the server finds them interrupted. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { abort } of this.#running.values()) abort.abort(ending());
    await Promise.allSettled([...[...this.#running.values()].map(({ done }) => done), ...this.#settling]);
  }
}

const RETRY_MS = 60_000;
const UNENDED_RETRY_MS = 5_000;

function spent(): EngineError {
  return new EngineError('HRN-E007', `the turn took longer than ${TURN_BUDGET_MS / 60_000} minutes`);
}

function ending(): EngineError {
  return new EngineError('SYS-E005', 'the server is shutting down');
}
