// Reads a memory's events for one reach: the caller's bindings, principal and purpose, and the kinds that are asked for.
// Everyone with the same reach sees the same events, so one reader serves many streams.

import { type Clock, steadyMs } from '../../engine/base/clock.ts';
import { EVENTS_PAGE_BYTES_MAX, EVENTS_READ_MS } from '../../engine/base/limits.ts';
import type { EventView } from '../../engine/calls/events.ts';
import type { EventKind } from '../../engine/govern/trail/event-kinds.ts';
import type { MemoryContext, Shards } from '../shards.ts';
import { type CursorForm, cursorText, type EventCursor } from './cursor.ts';
import { eventJson } from './payload.ts';
import { forksOf } from './restores.ts';

export interface EventReach {
  readonly memoryId: string;
  readonly partitions: number;
  /** The context of the shard calls, without a deadline. */
  readonly context: MemoryContext;
  /** Sorted; empty: all kinds. */
  readonly kinds: readonly EventKind[];
  readonly form: CursorForm;
}

/** An event that is ready to be sent. */
export interface EventEntry {
  readonly partition: number;
  readonly sequence: number;
  /** The cursor after it. */
  readonly id: string;
  readonly kind: EventKind;
  /** The epoch of its number; absent before the first restore. */
  readonly epoch?: string | undefined;
  readonly json: string;
}

/** The oldest and the newest events. */
export interface EventEnds {
  readonly newest: EventCursor;
  /** For each partition, the number of the oldest event that is kept. */
  readonly oldest: EventCursor;
  /** For each restore of the deployment, the last events before it. */
  readonly forkedAt: readonly EventCursor[];
  /** True when the caller may see only a part of the memory. */
  readonly isPartial: boolean;
}

/** Equal for readers that may see the same events. */
export function reachKey({ context, form, kinds }: EventReach): string {
  const { memory, namespace, userId, actor, owns, purpose } = context;
  const caller = [memory, namespace ?? null, userId ?? null, actor, owns ?? null, purpose ?? null];
  return JSON.stringify([...caller, form.seal !== undefined, ...kinds]);
}

export class EventReader {
  readonly reach: EventReach;
  readonly #shards: Pick<Shards, 'callPartition'>;
  readonly #clock: Clock;

  constructor(shards: Pick<Shards, 'callPartition'>, reach: EventReach, clock: Clock) {
    this.#shards = shards;
    this.reach = reach;
    this.#clock = clock;
  }

  /** Where the events begin and end now. Throws as any read of the memory does. */
  async ends(): Promise<EventEnds> {
    const pages = await Promise.all(this.#partitions().map((partition) => this.#page(partition, 0, { limit: 0 })));
    return {
      newest: pages.map(({ newest }) => newest),
      oldest: pages.map(({ oldest }) => oldest),
      forkedAt: this.reach.form.restores.map((_, restore) => pages.map(({ forkedAt }) => forkedAt[restore]!)),
      isPartial: pages.some(({ isPartial }) => isPartial),
    };
  }

  /**
   * A page of each partition after `cursor`, which moves on with them. `isAtEnd` is false when more events are there.
   * Events that are older than the kept ones are passed over.
   */
  async next(cursor: number[]): Promise<{ readonly entries: readonly EventEntry[]; readonly isAtEnd: boolean }> {
    const { partitions } = this.reach;
    const bytesMax = Math.ceil(EVENTS_PAGE_BYTES_MAX / partitions);
    const pages = await Promise.all(
      this.#partitions().map((partition) => this.#page(partition, cursor[partition]!, { bytesMax })),
    );
    const entries: EventEntry[] = [];
    let isAtEnd = true;
    for (const [partition, { events, next, newest }] of pages.entries()) {
      for (const event of events) {
        cursor[partition] = event.sequence;
        entries.push(this.#entry(event, partition, cursor));
      }
      cursor[partition] = next;
      if (next < newest) isAtEnd = false;
    }
    return { entries, isAtEnd };
  }

  #entry(event: EventView, partition: number, cursor: EventCursor): EventEntry {
    const { memoryId, partitions, form } = this.reach;
    const isBound = form.seal !== undefined;
    return {
      partition,
      sequence: event.sequence,
      id: cursorText(cursor, form),
      kind: event.kind,
      epoch: event.epoch,
      json: eventJson(event, { memoryId, partitions, partition, isBound }),
    };
  }

  #page(partition: number, after: number, asked: { readonly limit?: number; readonly bytesMax?: number }) {
    const { context, kinds, form } = this.reach;
    const forks = forksOf(form.restores, context.memory, partition);
    const deadlineMs = steadyMs(this.#clock) + EVENTS_READ_MS;
    return this.#shards.callPartition(
      'events',
      { ...context, partition, deadlineMs },
      { after, kinds, forks, ...asked },
    );
  }

  #partitions(): number[] {
    return Array.from({ length: this.reach.partitions }, (_, partition) => partition);
  }
}
