// The main thread's end of one worker: collects calls into batches and settles them from the replies.
//
// If the worker is idle, a call leaves in the same turn of the event loop (setImmediate). While batches are in flight,
// calls collect and leave when the worker has run a batch. There is no timer. A write that is alone is not counted as a
// batch: nothing waits for the report that it ran, so its answer is the only message that wakes this thread. Reads and
// writes have separate lanes, so a read never waits in a batch behind writes. If too much is pending, the caller gets
// LIM-E001 at once. If the worker dies, all pending calls are rejected as retryable, because nobody knows which of them
// took effect.
import { assert } from '../../engine/base/assert.ts';
import { type Clock, steadyMs, systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  BATCHES_OUT_MAX,
  PACK_BYTES_MAX,
  PACK_ITEMS_MAX,
  PENDING_BYTES_MAX,
  PENDING_ITEMS_MAX,
} from '../../engine/base/limits.ts';
import {
  answersAtOnce,
  CALL_ROWS,
  type CallContext,
  type Input,
  type Method,
  type Output,
  type ShardCaller,
} from '../protocol.ts';
import type { RawReply } from './codec.ts';
import { batchesRun, LANES, type Lane, markLone, RequestWriter, readReplies, skipRequest } from './pack.ts';

/** A shard that can be called with typed input, or with wire bytes that only its worker decodes. */
export interface RawShardCaller extends ShardCaller {
  /**
   * Sends wire bytes (copied before this returns) for the codec of this number, in the given lane. Resolves with the
   * reply, whose bytes are a view of a larger buffer. Rejects with EngineError.
   */
  callRaw(codec: number, context: CallContext, bytes: Uint8Array, lane?: Lane): Promise<RawReply>;
}

export interface ClientOptions {
  /** Takes ownership of the message: it is transferred, not copied. */
  readonly send: (message: ArrayBuffer) => void;
  readonly clock?: Clock | undefined;
  /**
   * Why the shard may not answer at the moment, asked before each answer but those of `health`; undefined while it may.
   * Default: it always may.
   */
  readonly lapsed?: ((shard: number) => string | undefined) | undefined;
  /** Returns the error of a call as its caller gets it. Default: the same. */
  readonly errorForCallers?: ((error: EngineError) => EngineError) | undefined;
  /** Called for a reply that cannot be read. Its call alone fails. */
  readonly onUnreadable?: ((error: unknown) => void) | undefined;
  /** Runs its argument later in this turn of the event loop. */
  readonly schedule?: ((run: () => void) => void) | undefined;
  /** Batches in flight, for each lane. */
  readonly batchesOutMax?: number | undefined;
}

interface Pending {
  readonly shard: number;
  readonly lane: Lane;
  /** A caller of the server waits for it; false for calls of the server's own work on vectors. */
  readonly isAsked: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly bytes: number;
}

interface Item {
  readonly id: number;
  readonly place: number;
  readonly deadlineMs: number;
}

interface Batch {
  readonly message: ArrayBuffer;
  readonly items: readonly Item[];
}

/** Calls of one lane on their way to the worker. */
interface LaneQueue {
  readonly lane: Lane;
  /** The batch that collects calls; full batches wait ahead of it. */
  writer: RequestWriter;
  items: Item[];
  waiting: Batch[];
  batchesOut: number;
}

function newLaneQueue(lane: Lane): LaneQueue {
  return { lane, writer: new RequestWriter(lane), items: [], waiting: [], batchesOut: 0 };
}

function newLaneQueues(): Record<Lane, LaneQueue> {
  return { probe: newLaneQueue('probe'), read: newLaneQueue('read'), write: newLaneQueue('write') };
}

function laneOf(method: Method): Lane {
  if (method === 'health') return 'probe';
  return answersAtOnce(method) ? 'read' : 'write';
}

/** Calls that belong to embedding or watch the shard. */
const OWN_CALLS: ReadonlySet<Method> = new Set(['embedPages', 'keepVectors', 'vectorLag', 'vectorState', 'health']);

function isAsked(method: Method): boolean {
  const { kind } = CALL_ROWS[method];
  // Long calls run in slices for minutes.
  return kind !== 'long' && kind !== 'host' && !OWN_CALLS.has(method);
}

export class ShardClient {
  readonly #send: (message: ArrayBuffer) => void;
  readonly #clock: Clock;
  readonly #schedule: (run: () => void) => void;
  readonly #lapsed: (shard: number) => string | undefined;
  readonly #errorForCallers: (error: EngineError) => EngineError;
  readonly #onUnreadable: (error: unknown) => void;
  readonly #batchesOutMax: number;
  readonly #pending = new Map<number, Pending>();
  #pendingBytes = 0;
  /** Shard to the number of its calls that were refused because too much was pending. */
  readonly #refused = new Map<number, number>();
  /** Pending calls that somebody asked, since when there are some, and how long there were some before. */
  #asked = 0;
  #askedSinceMs = 0;
  #askedMs = 0;
  #nextId = 0;
  #ways: Record<Lane, LaneQueue> = newLaneQueues();
  #scheduled = false;
  #refusal: EngineError | undefined;
  #drained: (() => void)[] = [];

  constructor(options: ClientOptions) {
    this.#send = options.send;
    this.#clock = options.clock ?? systemClock;
    this.#schedule = options.schedule ?? setImmediate;
    this.#lapsed = options.lapsed ?? (() => undefined);
    this.#errorForCallers = options.errorForCallers ?? ((error) => error);
    this.#onUnreadable = options.onUnreadable ?? (() => undefined);
    this.#batchesOutMax = options.batchesOutMax ?? BATCHES_OUT_MAX;
  }

  /** Number of unanswered calls. */
  get pendingItems(): number {
    return this.#pending.size;
  }

  /** Bytes of the unanswered requests. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Number of calls for the shard that were refused because too much was pending. */
  refusedOf(shard: number): number {
    return this.#refused.get(shard) ?? 0;
  }

  /** Milliseconds so far in which calls were under way that somebody asked. */
  get askedMs(): number {
    return this.#askedMs + (this.#asked > 0 ? steadyMs(this.#clock) - this.#askedSinceMs : 0);
  }

  /** A caller for this shard of the worker. */
  shard(shard: number): RawShardCaller {
    return {
      call: <M extends Method>(method: M, context: CallContext, input: Input<M>) =>
        this.#call(
          { shard, lane: laneOf(method), isAsked: isAsked(method) },
          context,
          (writer, id) => writer.append({ id, shard }, method, context, input),
          // The worker answers a method with that method's output.
        ) as Promise<Output<M>>,
      callRaw: (codec, context, bytes, lane = 'write') =>
        this.#call(
          { shard, lane, isAsked: true },
          context,
          (writer, id) => writer.appendRaw({ id, shard }, codec, context, bytes),
          // The worker answers a codec with what it wrote.
        ) as Promise<RawReply>,
    };
  }

  #call(
    { shard, lane, isAsked }: { readonly shard: number; readonly lane: Lane; readonly isAsked: boolean },
    context: CallContext,
    append: (writer: RequestWriter, id: number) => number,
  ): Promise<unknown> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    if (this.#pending.size >= PENDING_ITEMS_MAX || this.#pendingBytes >= PENDING_BYTES_MAX) {
      this.#refused.set(shard, this.refusedOf(shard) + 1);
      return Promise.reject(new EngineError('LIM-E001', 'too many calls wait for this shard'));
    }
    const id = this.#freeId();
    const queue = this.#ways[lane];
    const before = queue.writer.byteLength;
    let place: number;
    try {
      place = append(queue.writer, id);
    } catch (error) {
      // Packing recurses into the input. After a stack overflow nothing was appended.
      if (error instanceof RangeError) return Promise.reject(new EngineError('VAL-E001', 'input nests too deeply'));
      return Promise.reject(error);
    }
    const bytes = queue.writer.byteLength - before;
    queue.items.push({ id, place, deadlineMs: context.deadlineMs ?? Number.POSITIVE_INFINITY });
    this.#pendingBytes += bytes;
    if (isAsked && this.#asked++ === 0) this.#askedSinceMs = steadyMs(this.#clock);
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, { shard, lane, isAsked, resolve, reject, bytes });
    });
    if (queue.writer.count >= PACK_ITEMS_MAX || queue.writer.byteLength >= PACK_BYTES_MAX) closeBatch(queue);
    this.#scheduleFlush();
    return answer;
  }

  #freeId(): number {
    while (this.#pending.has(this.#nextId)) this.#nextId = (this.#nextId + 1) >>> 0;
    const id = this.#nextId;
    this.#nextId = (id + 1) >>> 0;
    return id;
  }

  /** Sends the batches that may leave, reads first. */
  #scheduleFlush(): void {
    if (this.#scheduled || !LANES.some((lane) => this.#mayLeave(this.#ways[lane]))) return;
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  /** Sends the calls of this turn of the event loop that may leave, if none gathers any more. */
  flush(): void {
    for (const lane of LANES) this.#flush(this.#ways[lane]);
  }

  #mayLeave({ items, waiting, batchesOut }: LaneQueue): boolean {
    return batchesOut < this.#batchesOutMax && (items.length > 0 || waiting.length > 0);
  }

  #flush(queue: LaneQueue): void {
    while (this.#mayLeave(queue)) {
      if (queue.waiting.length === 0) closeBatch(queue);
      const batch = queue.waiting.shift();
      assert(batch !== undefined, 'a closed batch waits');
      if (!this.#takeBackExpired(batch)) continue;
      if (queue.lane === 'write' && batch.items.length === 1 && this.#pending.size === 1) markLone(batch.message);
      else queue.batchesOut++;
      this.#send(batch.message);
    }
  }

  /** Rejects expired calls without sending them. False if nothing is left to send. */
  #takeBackExpired({ message, items }: Batch): boolean {
    const nowMs = steadyMs(this.#clock);
    let left = 0;
    for (const { id, place, deadlineMs } of items) {
      if (nowMs <= deadlineMs) {
        left++;
        continue;
      }
      skipRequest(message, place);
      this.#settle(id)?.reject(new EngineError('SYS-E005', 'the deadline passed before the call could be sent'));
    }
    return left > 0;
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    this.#pendingBytes -= pending.bytes;
    if (pending.isAsked && --this.#asked === 0) this.#askedMs += steadyMs(this.#clock) - this.#askedSinceMs;
    if (this.#pending.size === 0) {
      for (const resolve of this.#drained) resolve();
      this.#drained = [];
    }
    return pending;
  }

  /**
   * Settles the calls that a message of replies answers. A reply that cannot be read rejects its own call with SYS-E001.
   * Throws if the message itself is broken: it is then unknown which calls it answered, and the worker has to end.
   */
  receive(message: ArrayBuffer): void {
    for (const lane of LANES) {
      this.#ways[lane].batchesOut -= batchesRun(message, lane);
      assert(this.#ways[lane].batchesOut >= 0, 'a worker runs only batches that were sent');
    }
    const replies = readReplies(message, (id, error) => {
      this.#answered(id).reject(new EngineError('SYS-E001'));
      this.#onUnreadable(error);
    });
    for (const reply of replies) {
      const pending = this.#answered(reply.id);
      // A call that nothing ran of goes to the shard's next owner, whatever became of the lease.
      const isElsewhere = reply.kind === 'error' && reply.error.isElsewhere === true;
      const lapsed = pending.lane === 'probe' || isElsewhere ? undefined : this.#lapsed(pending.shard);
      if (lapsed !== undefined) pending.reject(new EngineError('STO-E002', lapsed));
      else if (reply.kind === 'error') pending.reject(this.#errorForCallers(EngineError.fromWire(reply.error)));
      else pending.resolve(reply.kind === 'raw' ? reply.raw : reply.value);
    }
    this.#scheduleFlush();
  }

  #answered(id: number): Pending {
    const pending = this.#settle(id);
    assert(pending !== undefined, 'a reply answers a pending call, once');
    return pending;
  }

  /** Accepts calls: the worker has started or restarted. */
  open(): void {
    const isOut = LANES.some((lane) => this.#ways[lane].batchesOut > 0);
    assert(this.#pending.size === 0 && !isOut, 'a worker starts with nothing pending');
    this.#refusal = undefined;
  }

  /** Rejects every new call with `reason` from now on. Pending calls continue. */
  refuse(reason: EngineError): void {
    this.#refusal = reason;
  }

  /**
   * Call when the worker has died. Rejects all pending and new calls with `reason`. The call that killed the worker, if
   * known, gets `culprit.error` instead, which is not retryable.
   */
  fail(reason: EngineError, culprit?: { readonly id: number; readonly error: unknown }): void {
    this.#refusal = reason;
    if (culprit !== undefined) this.#settle(culprit.id)?.reject(culprit.error);
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(reason);
    this.#ways = newLaneQueues();
  }

  /** Resolves when no call is pending. */
  drained(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }
}

function closeBatch(queue: LaneQueue): void {
  queue.waiting.push({ message: queue.writer.take(), items: queue.items });
  queue.items = [];
}
