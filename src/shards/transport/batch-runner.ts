// The worker's end of a batch: runs its calls on the engines and answers in packed messages.
//
// Reads are answered in the message that reports the batch as run; that message also lets the client send the next
// batch. Writes are queued at their engine, which forms the groups, and are answered by later messages: all writes that
// became durable in one turn of the event loop share a message. So no read waits for a commit, and the next batch can
// queue for the next group while an append is in flight.
//
// A batch of long reads runs in time slices, alternating with other batches, so that a health check does not wait for a
// hundred recalls. Answers may be megabytes each, so the runner bounds the bytes that the client has not acknowledged:
// above that it runs no further request.
import { assert } from '../../engine/base/assert.ts';
import { type Clock, steadyMs, systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  ALONE_AFTER_READ_MS,
  BATCH_TURN_MS,
  PACK_BYTES_MAX,
  REPLY_BYTES_OUT_MAX,
  REPLY_COUNTED_BYTES_MIN,
} from '../../engine/base/limits.ts';
import { CALL_ROWS, type Call, type CallContext, isReadCall, isRecordCall } from '../protocol.ts';
import type { ReadCall, ShardCodecs } from './codec.ts';
import type { EngineDoor } from './engine-door.ts';
import { isLone, type Lane, laneOf, type PackedRequest, ReplyWriter, readRequests } from './pack.ts';

export interface BatchRunnerOptions {
  /** The open engines, by shard. Calls of other shards are refused. */
  readonly engines: ReadonlyMap<number, EngineDoor>;
  readonly codecs: ShardCodecs;
  /** Takes ownership of a message of replies. */
  readonly send: (message: ArrayBuffer) => void;
  /**
   * Called at most once, with an error that only a bug can cause and the id of the call that met it. The runner answers
   * nothing afterwards.
   */
  readonly onBug: (error: unknown, id: number | undefined) => void;
  /**
   * Called with an error that only a bug can cause, but that no engine met: a request that cannot be read, or an answer
   * that cannot be packed. Its call is answered with SYS-E001, and the runner continues.
   */
  readonly onLost: (error: unknown) => void;
  /** Runs the fault hook. Without it, calls of the hook are refused. */
  readonly onFault?: ((kind: 'throw' | 'exit') => void) | undefined;
  /** Called after each time slice. */
  readonly ran?: (() => void) | undefined;
  readonly clock?: Clock | undefined;
  /** Length of a time slice, in milliseconds. */
  readonly turnMs?: number | undefined;
  readonly schedule?: ((run: () => void) => void) | undefined;
  /** When the answers to writes leave. Default: as `schedule`, so that those of one turn share a message. */
  readonly answerSoon?: ((run: () => void) => void) | undefined;
}

type Answer = (output: unknown) => void;

/** The requests of a message that have not run yet. */
interface Batch {
  readonly lane: Lane;
  /** It is not reported as run. */
  readonly isLone: boolean;
  readonly requests: Iterator<PackedRequest>;
}

/** True for a long message of replies, which the client has to acknowledge. */
export function isCounted(message: ArrayBuffer): boolean {
  return message.byteLength >= REPLY_COUNTED_BYTES_MIN;
}

export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #clock: Clock;
  readonly #schedule: (run: () => void) => void;
  readonly #answerSoon: (run: () => void) => void;
  readonly #replies = new ReplyWriter();
  readonly #turnMs: number;
  #scheduled = false;
  #broken = false;
  /** In the order in which they run next. */
  #batches: Batch[] = [];
  #isTurnDue = false;
  /** Bytes of long messages that the client has not acknowledged. */
  #outBytes = 0;
  /** Unanswered writes, and when a read ran last. */
  #writes = 0;
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#schedule = options.schedule ?? setImmediate;
    this.#answerSoon = options.answerSoon ?? this.#schedule;
    this.#turnMs = options.turnMs ?? BATCH_TURN_MS;
  }

  /** Runs a message of requests now; whatever exceeds one time slice runs later. */
  run(message: ArrayBuffer): void {
    const requests = readRequests(message, (id, error) => this.#lose(id, error));
    const batch: Batch = { lane: laneOf(message), isLone: isLone(message), requests };
    if (batch.lane === 'probe') this.#batches.unshift(batch);
    else this.#batches.push(batch);
    if (!this.#isTurnDue) this.#turn();
  }

  /** True while a single write is all there is to do, and no read came lately. */
  get isAlone(): boolean {
    return this.#writes === 1 && this.#batches.length === 0 && performance.now() - this.#readMs > ALONE_AFTER_READ_MS;
  }

  /** The client acknowledged a long message of replies of this size. */
  taken(bytes: number): void {
    this.#outBytes -= bytes;
    this.#nextTurn();
  }

  /** Drops requests that have not run yet. Writes in flight are still answered. */
  stop(): void {
    this.#batches = [];
  }

  #turn(): void {
    const endMs = performance.now() + this.#turnMs;
    for (let batch = this.#batches[0]; batch !== undefined && !this.#isFull; batch = this.#batches[0]) {
      const { value: request, done } = batch.requests.next();
      if (done === true) {
        this.#batches.shift();
        if (!batch.isLone) this.#send({ [batch.lane]: 1 });
        else if (this.#replies.count > 0) this.#send({});
        continue;
      }
      this.#run(request);
      if (this.#broken) return;
      if (this.#replies.byteLength >= PACK_BYTES_MAX) this.#send({});
      if (performance.now() >= endMs) break;
    }
    // Round robin over the batches.
    const [first, ...others] = this.#batches;
    if (first !== undefined && others.length > 0) this.#batches = [...others, first];
    this.#options.ran?.();
    this.#nextTurn();
  }

  #nextTurn(): void {
    if (this.#isTurnDue || this.#broken || this.#batches.length === 0 || this.#isFull) return;
    this.#isTurnDue = true;
    this.#schedule(() => {
      this.#isTurnDue = false;
      if (!this.#broken) this.#turn();
    });
  }

  get #isFull(): boolean {
    return this.#outBytes >= REPLY_BYTES_OUT_MAX;
  }

  #send(batches: Readonly<Partial<Record<Lane, number>>>): void {
    const message = this.#replies.take(batches);
    // Count before sending: the transfer empties the buffer.
    if (isCounted(message)) this.#outBytes += message.byteLength;
    this.#options.send(message);
  }

  #run({ id, shard, context, body }: PackedRequest): void {
    try {
      if (context.deadlineMs !== undefined && steadyMs(this.#clock) > context.deadlineMs) {
        throw new EngineError('SYS-E005', 'the deadline passed before the call could run');
      }
      const engine = this.#options.engines.get(shard);
      if (engine === undefined)
        throw new EngineError('STO-E002', `shard ${shard} is not open here`, { isElsewhere: true });
      if ('method' in body) {
        // The client packed a typed call.
        const pack: Answer = (output) => this.#replies.appendValue(id, output);
        this.#call(id, engine, body as Call, context, (output) => this.#answer(id, pack, output));
        return;
      }
      const read = this.#decode(id, body.codec, body.raw, context);
      if (read === undefined) return;
      const pack: Answer = (output) => this.#replies.appendRaw(id, read.encode(output));
      this.#call(id, engine, read.call, read.context ?? context, (output) => this.#answer(id, pack, output));
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  /** The call in wire bytes. Undefined if the decoder failed by a bug, which was reported to the caller. */
  #decode(id: number, codecNumber: number, raw: Uint8Array, context: CallContext): ReadCall | undefined {
    try {
      const codec = this.#options.codecs[codecNumber];
      assert(codec !== undefined, 'a codec number is known to the worker');
      return codec.decode(raw, context, true);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      // A decoder recurses into untrusted input: a stack overflow is the sender's fault, not a bug.
      if (error instanceof RangeError) throw new EngineError('VAL-E001', 'the body nests too deeply');
      this.#lose(id, error);
      return undefined;
    }
  }

  /** Packs an answer. If that fails, the engine is sound nevertheless, and only this call fails. */
  #answer(id: number, pack: Answer, output: unknown): void {
    try {
      pack(output);
    } catch (error) {
      if (error instanceof EngineError) this.#replies.appendError(id, error.toWire());
      else this.#lose(id, error);
    }
  }

  #lose(id: number, error: unknown): void {
    this.#replies.appendError(id, new EngineError('SYS-E001').toWire());
    this.#options.onLost(error);
  }

  #call(id: number, engine: EngineDoor, call: Call, context: CallContext, answer: Answer): void {
    if (isReadCall(call)) {
      // Health is asked for by the clock.
      if (call.method !== 'health') this.#readMs = performance.now();
      answer(engine.read(call.method, context, call.input));
      return;
    }
    if (isRecordCall(call)) {
      this.#readMs = performance.now();
      answer(engine.record(call.method, context, call.input));
      return;
    }
    if (call.method === 'fault') {
      const { onFault } = this.#options;
      if (onFault === undefined)
        throw new EngineError('SYS-E002', 'the fault hook is disabled: it works only in a server started for tests');
      onFault(call.input.kind);
      answer({});
      return;
    }
    const counted = CALL_ROWS[call.method].kind === 'write' ? 1 : 0;
    this.#writes += counted;
    engine.write(call.method, context, call.input).then(
      (output) => {
        this.#writes -= counted;
        this.#later(id, () => answer(output));
      },
      (error: unknown) => {
        this.#writes -= counted;
        this.#later(id, () => this.#refuse(id, error));
      },
    );
  }

  /** Answers a call after its batch was reported as run. */
  #later(id: number, answer: () => void): void {
    if (this.#broken) return;
    try {
      answer();
    } catch (error) {
      this.#refuse(id, error);
    }
    if (this.#scheduled || this.#broken) return;
    this.#scheduled = true;
    this.#answerSoon(() => {
      this.#scheduled = false;
      if (!this.#broken && this.#replies.count > 0) this.#send({});
    });
  }

  /** Turns a thrown error into an error reply, or stops this worker if the error is a bug. */
  #refuse(id: number, error: unknown): void {
    if (error instanceof EngineError) {
      this.#replies.appendError(id, error.toWire());
      return;
    }
    this.#broken = true;
    this.#options.onBug(error, id);
  }
}
