// Delivers the events of one webhook, strictly in order: an event that is retried holds up the later ones until it is
// delivered or given up.
import { EngineError } from '../../engine/base/errors.ts';
import { EVENTS_RETRY_MS, HOOK_FRESH_MS, HOOK_HELD_MS_MAX } from '../../engine/base/limits.ts';
import type { HookRecord, HookStateRecord } from '../control/records.ts';
import { WAIT_MS_MAX, waitAfter } from './schedule.ts';
import type { Delivery, Verdict } from './sender.ts';
import { type Carried, delivered, failed, givenUp, paused } from './state.ts';

/** An event that is ready to be sent. */
export interface Entry extends Carried {
  readonly epoch?: string | undefined;
  readonly json: string;
}

export interface CourierParts {
  readonly hook: HookRecord & { readonly url: string };
  readonly state: HookStateRecord;
  readonly memoryId: string;
  /** The events after a cursor, which moves on with them, as EventReader.next does. */
  readonly read: (cursor: number[]) => Promise<{ readonly entries: readonly Entry[]; readonly isAtEnd: boolean }>;
  readonly send: (delivery: Delivery) => Promise<Verdict>;
  /** Called with each new state. */
  readonly changed: (state: HookStateRecord, what: 'delivered' | 'failed' | 'dead' | 'paused' | 'passed') => void;
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

export class Courier {
  readonly #parts: CourierParts;
  #state: HookStateRecord;
  #entries: readonly Entry[] = [];
  /** When the entries were read. */
  #readMs = 0;
  /** The cursor after the last of the entries. */
  #after: number[] = [];
  #isRunning = false;
  #isStopped = false;
  /** True when events may have come since the last page. */
  #isDue = true;
  /** Erasures so far. Events that were read before the last one are not sent any more. */
  #erasures = 0;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(parts: CourierParts) {
    this.#parts = parts;
    this.#state = parts.state;
  }

  get state(): HookStateRecord {
    return this.#state;
  }

  /** There may be new events. */
  ring(): void {
    this.#isDue = true;
    if (this.#isRunning || this.#isStopped || this.#state.pausedReason !== undefined) return;
    this.#isRunning = true;
    this.#ended = this.#run().finally(() => {
      this.#isRunning = false;
      // It may have rung in the turn in which the run ended.
      if (this.#isDue) this.ring();
    });
  }

  /** A person or a scope was erased: what was read before, and is not sent yet, is read again. */
  reread(): void {
    this.#erasures += 1;
    this.#entries = [];
    // The cursor must not pass what is read again.
    this.#after = [];
  }

  /** Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#wake?.();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && this.#state.pausedReason === undefined) {
      await this.#untilNextTry();
      const entry = this.#isStopped ? undefined : await this.#nextEntry();
      if (entry === undefined) return;
      await this.#deliver(entry);
    }
  }

  /** A clock that was set back must not hold up a hook for longer than the schedule has it. */
  async #untilNextTry(): Promise<void> {
    const { nextAtMs } = this.#state;
    if (nextAtMs === undefined) return;
    const waitMs = Math.min(nextAtMs - this.#parts.nowMs(), WAIT_MS_MAX);
    if (waitMs > HOOK_HELD_MS_MAX) this.#entries = [];
    if (waitMs > 0) await this.#pause(waitMs);
  }

  /** Undefined when there is none, or when it was stopped. */
  async #nextEntry(): Promise<Entry | undefined> {
    const age = this.#parts.nowMs() - this.#readMs;
    if (age < 0 || age > HOOK_FRESH_MS) this.#entries = [];
    while (this.#entries.length === 0 && !this.#isStopped) {
      this.#isDue = false;
      const after = [...this.#state.cursor];
      try {
        this.#readMs = this.#parts.nowMs();
        const erasures = this.#erasures;
        const { entries, isAtEnd } = await this.#parts.read(after);
        if (erasures !== this.#erasures) continue;
        this.#entries = entries;
        this.#after = after;
        if (entries.length > 0) break;
        this.#passTo(after);
        if (isAtEnd && !this.#isDue) return undefined;
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        // The shard is starting again, or has too much to do. A memory that is gone ends the courier from outside.
        await this.#pause(EVENTS_RETRY_MS);
      }
    }
    return this.#isStopped ? undefined : this.#entries[0];
  }

  /** Moves the cursor past events that the hook does not want. */
  #passTo(cursor: readonly number[]): void {
    if (cursor.every((number, partition) => number === this.#state.cursor[partition])) return;
    this.#change({ ...this.#state, cursor: [...cursor] }, 'passed');
  }

  async #deliver(entry: Entry): Promise<void> {
    const { hook, memoryId, send, nowMs, random } = this.#parts;
    const attempt = this.#state.attempts + 1;
    const verdict = await send({
      url: hook.url,
      secret: hook.secret,
      memoryId,
      hookId: hook.id,
      // The entry's cursor would differ when it is read again: it covers the other partitions too.
      deliveryId: deliveryId(hook.id, entry),
      kind: entry.kind,
      attempt,
      body: entry.json,
    });
    const now = nowMs();
    switch (verdict.outcome) {
      case 'stopped':
        // Nothing is sent any more, and trying on without a pause would let no other code run.
        this.#isStopped = true;
        return;
      case 'delivered':
        this.#change(delivered(this.#state, entry, now), 'delivered');
        return this.#dropFirst();
      case 'gone':
        this.#entries = [];
        return this.#change(paused(this.#state, verdict.reason, now), 'paused');
      case 'refused':
        return this.#giveUp(entry, verdict.reason, now);
      case 'retry': {
        const waitMs = waitAfter(attempt, verdict.afterMs, random());
        if (waitMs === undefined) return this.#giveUp(entry, verdict.reason, now);
        this.#change(failed(this.#state, { reason: verdict.reason, nextAtMs: now + waitMs, nowMs: now }), 'failed');
      }
    }
  }

  #giveUp(entry: Entry, reason: string, nowMs: number): void {
    this.#change(givenUp(this.#state, entry, reason, nowMs), 'dead');
    this.#dropFirst();
    if (this.#state.pausedReason !== undefined) this.#change(this.#state, 'paused');
  }

  #dropFirst(): void {
    this.#entries = this.#entries.slice(1);
    if (this.#entries.length === 0) this.#passTo(this.#after);
  }

  #change(state: HookStateRecord, what: Parameters<CourierParts['changed']>[1]): void {
    this.#state = state;
    this.#parts.changed(state, what);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#timer = setTimeout(resolve, ms);
    });
  }
}

/** The same in each try. After a restore the numbers of lost events name others: the epoch tells them apart. */
function deliveryId(hookId: string, { partition, sequence, epoch }: Entry): string {
  const number = `${hookId}.${partition}.${sequence}`;
  return epoch === undefined ? number : `${number}.${epoch}`;
}
