// The streams and long-polls of events of this server: opens them, bounds their number, joins those of one reach to one
// feed, keeps idle ones open, and ends those whose caller may not read any more.

import type { Clock } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { EVENT_REPLAYS_MAX, EVENT_STREAMS_CALLER_MAX, EVENT_STREAMS_MAX } from '../../engine/base/limits.ts';
import { includesScope } from '../auth/principal.ts';
import type { Keys } from '../control/keys.ts';
import type { Memories } from '../control/memories.ts';
import type { HttpRequest } from '../http/listener.ts';
import type { CursorSeal } from '../operations/cursor-seal.ts';
import type { Shards } from '../shards.ts';
import { TaskSlots } from '../task-slots.ts';
import type { EventBells } from './bells.ts';
import { readCursor } from './cursor.ts';
import { Feed } from './feed.ts';
import { LongPoll } from './long-poll.ts';
import { placeOf } from './place.ts';
import { type EventReach, EventReader, reachKey } from './reader.ts';
import type { Restore } from './restores.ts';
import { EventStream, STREAM_HEADERS } from './stream.ts';
import type { EventCaller, EventsQuery, Joined, Opened, ServeOptions, Subscription } from './subscription.ts';

const LOOK_MS = 1_000;
/** Time for streams to end at a shutdown. */
const END_MS = 2_000;

interface HubParts {
  readonly shards: Pick<Shards, 'callPartition'>;
  readonly bells: Pick<EventBells, 'watch'>;
  readonly memories: Pick<Memories, 'find'>;
  readonly keys: Pick<Keys, 'isLive'>;
  readonly cursors: CursorSeal;
  readonly restores: readonly Restore[];
  readonly clock: Clock;
}

export class EventHub {
  readonly #parts: HubParts;
  readonly #replays = new TaskSlots(EVENT_REPLAYS_MAX);
  readonly #subscriptions = new Set<Subscription>();
  readonly #feeds = new Map<string, { readonly feed: Feed; users: number }>();
  readonly #callers = new Map<string, number>();
  #looking: NodeJS.Timeout | undefined;
  #isClosed = false;
  #ended: () => void = () => undefined;

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** Streams and long-polls that are open. */
  get size(): number {
    return this.#subscriptions.size;
  }

  /** Finds the place that the client asks for. Throws VAL-E001 for a bad cursor, and as other reads do. */
  async open(caller: EventCaller, asked: EventsQuery): Promise<Opened> {
    const { memory, principal, namespace, userId, requestId, purpose } = caller;
    const { clock, cursors, memories, keys, restores, shards } = this.#parts;
    const { id: memoryId, number, partitions } = memory;
    const plain: EventReach = {
      memoryId,
      partitions,
      kinds: [...new Set(asked.kinds)].sort(),
      form: { memory: number, partitions, seal: undefined, restores },
      context: defined({
        memory: number,
        actor: principal.actor,
        requestId,
        namespace,
        userId,
        purpose,
        owns: includesScope(principal, 'admin') ? true : undefined,
      }),
    };
    const ends = await new EventReader(shards, plain, clock).ends();
    const reach = ends.isPartial ? { ...plain, form: { ...plain.form, seal: cursors } } : plain;
    const { form } = reach;
    const { since } = asked;
    const wanted = since === undefined ? undefined : readCursor(since.text, since.field, form);
    const { keyId, untilMs } = principal;
    return {
      reach,
      newest: ends.newest,
      ...placeOf(wanted, ends, form),
      caller: keyId ?? (principal.actor === 'anonymous' ? undefined : principal.actor),
      isAllowed: () =>
        (untilMs === undefined || clock.nowMs() < untilMs) &&
        (keyId === undefined || keys.isLive(keyId)) &&
        memories.find(memoryId)?.number === number,
    };
  }

  /** Serves a stream of server-sent events. Throws LIM-E002 before anything is sent. */
  stream(opened: Opened, request: HttpRequest, { headers, timeoutMs }: ServeOptions): void {
    if (request.method === 'HEAD') {
      request.respond(200, [...headers, ...STREAM_HEADERS]);
      return;
    }
    this.#serve(opened, (joined, over) => {
      const asked = { headers, nowMs: performance.now(), timeoutMs, over };
      return new EventStream(joined, request, asked);
    });
  }

  /** Serves a long-poll. Throws LIM-E002 before anything is sent. */
  poll(opened: Opened, request: HttpRequest, { timeoutMs, ...rest }: ServeOptions): void {
    this.#serve(
      opened,
      (joined, over) => new LongPoll(joined, request, { ...rest, nowMs: performance.now(), timeoutMs, over }),
    );
  }

  #serve(opened: Opened, make: (joined: Joined, over: () => void) => Subscription): void {
    const { caller } = opened;
    const ofCaller = caller === undefined ? 0 : (this.#callers.get(caller) ?? 0);
    if (this.#isClosed) throw new EngineError('STO-E002', 'the server is shutting down');
    if (this.#subscriptions.size >= EVENT_STREAMS_MAX)
      throw new EngineError('LIM-E002', `the server has ${EVENT_STREAMS_MAX} streams of events open`);
    if (ofCaller >= EVENT_STREAMS_CALLER_MAX)
      throw new EngineError('LIM-E002', `this caller has ${EVENT_STREAMS_CALLER_MAX} streams of events open`);
    if (caller !== undefined) this.#callers.set(caller, ofCaller + 1);
    const key = reachKey(opened.reach);
    const feed = this.#feedOf(key, opened);
    let isOver = false;
    let leave = (): void => {
      isOver = true;
    };
    const subscription = make({ ...opened, feed, replays: this.#replays }, () => leave());
    leave = () => this.#leave(subscription, key, caller);
    this.#subscriptions.add(subscription);
    // The client may have gone before its stream was made.
    if (isOver) {
      leave();
      return;
    }
    this.#looking ??= setInterval(() => this.look(performance.now()), LOOK_MS).unref();
    void subscription.start();
  }

  #feedOf(key: string, { reach, newest }: Opened): Feed {
    const known = this.#feeds.get(key);
    if (known !== undefined) {
      known.users += 1;
      return known.feed;
    }
    const { bells, clock, shards } = this.#parts;
    const feed = new Feed(new EventReader(shards, reach, clock), newest, bells);
    this.#feeds.set(key, { feed, users: 1 });
    return feed;
  }

  #leave(subscription: Subscription, key: string, caller: string | undefined): void {
    if (!this.#subscriptions.delete(subscription)) return;
    if (caller !== undefined) {
      const left = (this.#callers.get(caller) ?? 1) - 1;
      if (left === 0) this.#callers.delete(caller);
      else this.#callers.set(caller, left);
    }
    const known = this.#feeds.get(key);
    if (known !== undefined) {
      known.users -= 1;
      if (known.users === 0) {
        this.#feeds.delete(key);
        known.feed.close();
      }
    }
    if (this.#subscriptions.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#ended();
  }

  /** A person or a scope of the memory was erased: what was read before and is not sent yet is read again. */
  reread(memory: number): void {
    for (const { feed } of this.#feeds.values()) if (feed.reader.reach.context.memory === memory) feed.reread();
  }

  /** Looks after every subscription: keeps idle ones open, ends those that are over. */
  look(nowMs: number): void {
    for (const subscription of [...this.#subscriptions]) subscription.look(nowMs);
  }

  /** Ends all streams with a last frame. Clients that do not take it are cut off. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#subscriptions.size === 0) return;
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    for (const subscription of [...this.#subscriptions]) subscription.end('shutdown');
    const timer = setTimeout(() => {
      for (const subscription of [...this.#subscriptions]) subscription.cut();
    }, END_MS);
    if (this.#subscriptions.size > 0) await ended;
    clearTimeout(timer);
  }
}
