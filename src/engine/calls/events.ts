// Calls on the events of a memory (service contract, section 15).
import type { EventKind } from '../govern/trail/event-kinds.ts';
import type { RowsOf } from './row.ts';

/** An event as its reader may see it. The members of a grain are read when the event is read. */
export interface EventView {
  /** The event's number in its partition, from 1. */
  readonly sequence: number;
  /** Derived from the memory, the partition, the number and the epoch; the same each time: 32 hex digits. */
  readonly id: string;
  /** The epoch of the event's number; absent before the first restore. */
  readonly epoch?: string;
  readonly kind: EventKind;
  /** The time of the commit, in milliseconds. */
  readonly timestampMs: number;
  /** Absent once a key of the grain was destroyed. */
  readonly hash?: string;
  /** The version that the grain replaced. */
  readonly oldHash?: string;
  readonly grainType?: string;
  /** Present while the grain is here. */
  readonly namespace?: string;
  /** Present while the grain is here, if the policy lets personal data out. */
  readonly subject?: string;
  readonly relation?: string;
  readonly object?: string;
  readonly userId?: string;
  readonly count?: number;
  readonly keyFingerprint?: string;
  readonly scopePath?: string;
  /** Codes and counts. */
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** Members that are left out because they are too long. */
  readonly omitted?: readonly string[];
}

/** A restore of the deployment from a backup. Numbers of events that were lost by it are given again. */
export interface Fork {
  /** Names the time from the restore to the next one. */
  readonly epoch: string;
  /** The last record of the shard's log that the backup has. */
  readonly lastRecord: number;
}

export interface EventCalls {
  /**
   * The events of a partition after number `after` that the caller may see, oldest first. `next`: all events up to this
   * number were examined; ask for the next page after it, until it equals `newest`. `oldest`: the number of the oldest
   * event that is kept; events between `after` and it are gone. `newest`: the number of the newest event, 0 if there is
   * none yet. `isPartial`: the caller may see only a part of the memory. An `after` beyond the newest event finds nothing.
   * `forkedAt`: for each of `forks`, the number of the last event before it.
   */
  events: {
    input: {
      readonly after: number;
      readonly limit?: number;
      /** Only these kinds; absent or empty: all. */
      readonly kinds?: readonly EventKind[];
      /** Bytes of the page's events as JSON. The first event always fits. */
      readonly bytesMax?: number;
      /** The restores of the deployment, oldest first; absent: none. */
      readonly forks?: readonly Fork[];
    };
    output: {
      readonly events: readonly EventView[];
      readonly next: number;
      readonly newest: number;
      readonly oldest: number;
      readonly isPartial: boolean;
      readonly forkedAt: readonly number[];
    };
  };
}

export const EVENT_ROWS = {
  events: { kind: 'long', changes: 'nothing', gather: 'never', governed: 'reads', refusal: 'each', access: 'viewer' },
} as const satisfies RowsOf<EventCalls>;
