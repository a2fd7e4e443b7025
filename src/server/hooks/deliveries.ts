// Runs the deliveries of all webhooks: one courier each, which the memory's new events wake. Writes their progress, and
// tells the memory's audit trail what was delivered, given up and paused.
import type { Clock } from '../../engine/base/clock.ts';
import { HOOK_AUDIT_MS, HOOK_READS_MAX, HOOK_SENDS_MAX, HOOK_WRITE_MS } from '../../engine/base/limits.ts';
import { SYSTEM_ACTOR } from '../../engine/govern/trail/audit.ts';
import type { Input } from '../../shards/protocol.ts';
import type { Memories } from '../control/memories.ts';
import type { HookRecord, HookStateRecord, MemoryRecord } from '../control/records.ts';
import type { ControlStore } from '../control/store.ts';
import type { EventBells } from '../events/bells.ts';
import { EventReader } from '../events/reader.ts';
import { restoresOf } from '../events/restores.ts';
import type { Logger } from '../log.ts';
import type { AddressRule } from '../outgoing/addresses.ts';
import type { Shards } from '../shards.ts';
import { TaskSlots } from '../task-slots.ts';
import { Courier, type CourierParts } from './courier.ts';
import type { Hooks } from './hooks.ts';
import type { Sender } from './sender.ts';
import { resumed } from './state.ts';
import { checkHookUrl } from './url.ts';

export interface DeliveryCounts {
  readonly delivered: number;
  /** Failed tries, whether or not they were the last one. */
  readonly failed: number;
  readonly dead: number;
  readonly paused: number;
}

interface DeliveriesParts {
  readonly hooks: Hooks;
  readonly control: ControlStore;
  readonly memories: Pick<Memories, 'byNumber'>;
  readonly shards: Pick<Shards, 'call' | 'callPartition'>;
  readonly bells: Pick<EventBells, 'watch'>;
  readonly sender: Pick<Sender, 'send' | 'close'>;
  /** Which addresses a webhook may reach. */
  readonly rule: AddressRule;
  readonly log: Logger;
  readonly clock: Clock;
}

interface Running {
  readonly hook: HookRecord;
  readonly memory: MemoryRecord;
  readonly courier: Courier;
  readonly leave: () => void;
  /** Deliveries that no audit entry counts yet, and when the last such entry was written. */
  unaudited: number;
  auditedMs: number;
}

export class Deliveries {
  readonly #parts: DeliveriesParts;
  readonly #running = new Map<string, Running>();
  readonly #unwritten = new Map<string, HookStateRecord>();
  readonly #resuming = new Map<string, Promise<HookStateRecord>>();
  readonly #sends = new TaskSlots(HOOK_SENDS_MAX);
  readonly #reads = new TaskSlots(HOOK_READS_MAX);
  readonly #counts = { delivered: 0, failed: 0, dead: 0, paused: 0 };
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  /** Since this process started. */
  get counts(): DeliveryCounts {
    return this.#counts;
  }

  /** Number of webhooks whose deliveries run. */
  get size(): number {
    return this.#running.size;
  }

  /** Takes up what was not delivered before the last stop. */
  start(): void {
    const { control, hooks } = this.#parts;
    for (const hook of hooks.all()) this.#begin(hook);
    control.watch('hook', (id, hook) => {
      if (hook === undefined) void this.#end(id);
      else if (!this.#running.has(id)) this.#begin(hook);
    });
    // A memory that is being deleted answers no more, and its hooks go with its record.
    control.watch('memory', (_, memory, before) => {
      if (memory !== undefined && memory.deleting !== true) return;
      for (const [id, { hook }] of this.#running) if (hook.memory === before?.number) void this.#end(id);
    });
    this.#timer = setInterval(() => void this.#write(), HOOK_WRITE_MS).unref();
  }

  /** HOK-E001 for a URL that no event may be sent to. */
  checkUrl(url: string): Promise<void> {
    return checkHookUrl(url, this.#parts.rule);
  }

  /** The place after the newest event of a memory: a new hook begins there. */
  async newestEvents(memory: MemoryRecord): Promise<readonly number[]> {
    return (await this.#readerOf({ id: 'hook', filters: [] }, memory).ends()).newest;
  }

  /** The state of a hook, with what is not written yet. */
  stateOf(hook: HookRecord): HookStateRecord {
    return this.#running.get(hook.id)?.courier.state ?? this.#unwritten.get(hook.id) ?? this.#parts.hooks.stateOf(hook);
  }

  /**
   * Continues a paused hook with the event that it stopped at. Also makes a waiting event be tried at once. Calls for one
   * hook at the same time share their work: each of them would start a courier, and every event would be sent by all.
   */
  resume(hook: HookRecord): Promise<HookStateRecord> {
    const known = this.#resuming.get(hook.id);
    if (known !== undefined) return known;
    const resuming = this.#resume(hook).finally(() => this.#resuming.delete(hook.id));
    this.#resuming.set(hook.id, resuming);
    return resuming;
  }

  async #resume(hook: HookRecord): Promise<HookStateRecord> {
    await this.#end(hook.id);
    const state = resumed(this.stateOf(hook));
    await this.#parts.hooks.write([state]);
    this.#unwritten.delete(hook.id);
    this.#begin(hook);
    return state;
  }

  /** A person or a scope of the memory was erased: what was read before and is not sent yet is read again. */
  reread(memory: number): void {
    for (const { hook, courier } of this.#running.values()) if (hook.memory === memory) courier.reread();
  }

  /** Aborts what is under way: it is delivered again after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#parts.sender.close();
    await Promise.all([...this.#running.keys()].map((id) => this.#end(id)));
    await this.#write();
  }

  #begin(hook: HookRecord): void {
    const { url } = hook;
    const memory = this.#memoryOf(hook.memory);
    if (url === undefined || memory === undefined || this.#isClosed) return;
    // It may have been deleted while it was being resumed.
    if (this.#parts.control.get('hook', hook.id) === undefined) return;
    const reader = this.#readerOf(hook, memory);
    const courier = new Courier({
      hook: { ...hook, url },
      state: this.stateOf(hook),
      memoryId: memory.id,
      read: (cursor) => this.#reads.run(() => reader.next(cursor)),
      send: (delivery) => this.#sends.run(() => this.#parts.sender.send(delivery)),
      changed: (state, what) => this.#changed(hook, state, what),
      nowMs: () => this.#parts.clock.nowMs(),
      random: Math.random,
    });
    const leave = this.#parts.bells.watch(memory, () => courier.ring());
    this.#running.set(hook.id, { hook, memory, courier, leave, unaudited: 0, auditedMs: this.#parts.clock.nowMs() });
    courier.ring();
  }

  async #end(id: string): Promise<void> {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    running.leave();
    const { courier } = running;
    await courier.stop();
    this.#unwritten.set(id, courier.state);
    await this.#auditDelivered(running);
  }

  #memoryOf(number: number): MemoryRecord | undefined {
    const memory = this.#parts.memories.byNumber(number);
    return memory?.deleting === true ? undefined : memory;
  }

  /** A hook hears what an unbound caller may hear, as the policy has it when an event is read. */
  #readerOf(hook: Pick<HookRecord, 'id' | 'filters'>, memory: MemoryRecord): EventReader {
    const { clock, control, shards } = this.#parts;
    return new EventReader(
      shards,
      {
        memoryId: memory.id,
        partitions: memory.partitions,
        context: { memory: memory.number, actor: SYSTEM_ACTOR, requestId: hook.id },
        kinds: [...hook.filters].sort(),
        form: { memory: memory.number, partitions: memory.partitions, seal: undefined, restores: restoresOf(control) },
      },
      clock,
    );
  }

  #changed(hook: HookRecord, state: HookStateRecord, what: Parameters<CourierParts['changed']>[1]): void {
    this.#unwritten.set(hook.id, state);
    if (what === 'passed') return;
    this.#counts[what] += 1;
    const running = this.#running.get(hook.id);
    if (what === 'delivered' && running !== undefined) running.unaudited += 1;
    const { log } = this.#parts;
    const reason = state.pausedReason ?? state.lastFailure?.reason;
    if (what === 'dead') {
      log.warn({ hook: hook.id, memory: hook.memory, reason }, 'a webhook event was given up');
      void this.#audit(hook, 'hook.dead_lettered', { hook_id: hook.id, attempts: state.letters.at(-1)?.attempts ?? 0 });
    }
    if (what === 'paused') {
      log.warn({ hook: hook.id, memory: hook.memory, reason }, 'a webhook is paused');
      void this.#audit(hook, 'hook.paused', { hook_id: hook.id });
    }
  }

  /** One write at a time. The next write repeats what this one could not write. */
  #write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeNow());
    return this.#writing;
  }

  async #writeNow(): Promise<void> {
    for (const running of this.#running.values())
      if (this.#parts.clock.nowMs() - running.auditedMs >= HOOK_AUDIT_MS) await this.#auditDelivered(running);
    const states = [...this.#unwritten.values()];
    if (states.length === 0) return;
    try {
      await this.#parts.hooks.write(states);
      for (const state of states) if (this.#unwritten.get(state.id) === state) this.#unwritten.delete(state.id);
    } catch (error) {
      this.#parts.log.error({ err: error }, 'the progress of webhooks cannot be written');
    }
  }

  async #auditDelivered(running: Running): Promise<void> {
    const { unaudited, hook } = running;
    running.auditedMs = this.#parts.clock.nowMs();
    if (unaudited === 0) return;
    running.unaudited = 0;
    await this.#audit(hook, 'hook.delivered', { hook_id: hook.id, count: unaudited });
  }

  async #audit(
    { memory, id }: HookRecord,
    event: Input<'note'>['event'],
    details: Readonly<Record<string, number | string>>,
  ): Promise<void> {
    try {
      await this.#parts.shards.call('note', { memory, actor: SYSTEM_ACTOR, requestId: id }, { event, details });
    } catch (error) {
      // A memory that is gone has no trail.
      this.#parts.log.debug({ err: error, hook: id }, `cannot write ${event} to the audit trail`);
    }
  }
}
