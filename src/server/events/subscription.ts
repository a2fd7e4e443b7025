// The parts of a stream of events: the caller, its request, and the place where the stream begins.
import type { EventKind } from '../../engine/govern/trail/event-kinds.ts';
import type { Principal } from '../auth/principal.ts';
import type { ResponseHeaders } from '../http/listener.ts';
import type { TaskSlots } from '../task-slots.ts';
import type { EventCursor } from './cursor.ts';
import type { Feed } from './feed.ts';
import type { EventPlace } from './place.ts';
import type { EventReach } from './reader.ts';

/** The caller, as operations know it. */
export interface EventCaller {
  readonly memory: { readonly id: string; readonly number: number; readonly partitions: number };
  readonly principal: Principal;
  readonly requestId: string;
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
  readonly purpose?: string | undefined;
}

/** The request of a client. */
export interface EventsQuery {
  readonly kinds: readonly EventKind[];
  /** The cursor after which events are wanted, and the name of the parameter that gave it; absent: new events only. */
  readonly since: { readonly text: string; readonly field: string } | undefined;
}

/** A place in a memory's events that a caller may read from. */
export interface Opened extends EventPlace {
  readonly reach: EventReach;
  readonly newest: EventCursor;
  /** Counts the caller's streams. Absent for a caller that nothing identifies. */
  readonly caller: string | undefined;
  /** False once the caller may not read: its key was revoked or has expired, or the memory is being deleted. */
  readonly isAllowed: () => boolean;
}

/** An opened place with the feed of its reach. */
export interface Joined extends Opened {
  readonly feed: Feed;
  readonly replays: TaskSlots;
}

/** One stream or long-poll. */
export interface Subscription {
  start(): Promise<void>;
  /** Called every second. */
  look(nowMs: number): void;
  /** Ends it, with its last frame or an answer. */
  end(reason: EndReason): void;
  /** Closes its connection. */
  cut(): void;
}

export interface ServeOptions {
  readonly headers: ResponseHeaders;
  readonly requestId: string;
  readonly timeoutMs: number;
}

/** Why a stream ended, as its last frame says. */
export type EndReason = 'timeout' | 'refused' | 'shutdown';
