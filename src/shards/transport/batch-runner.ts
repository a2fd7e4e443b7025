// The worker's end of a batch: runs its calls on the engines and answers in packed messages.
//
// Reads are answered at once, in the message that goes back when the batch was run; that message also tells the client
// that the next batch may come. Writes are queued at their engine, which forms the groups, and are answered by later
// messages: all that became durable in one turn of the event loop goes together. So a commit holds no read back, and
// the next batch is already queued for the next group while an append is in flight.
//
// A batch of long reads is run in turns, between which other batches get theirs: a look at health does not wait for a hundred
// recalls. Their answers may be megabytes each, so what was sent and not taken is bounded: then no further request is run.
import { assert } from '../../engine/base/assert.ts';
import { type Clock, systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  BATCH_TURN_MS,
  PACK_BYTES_MAX,
  REPLY_BYTES_OUT_MAX,
  REPLY_COUNTED_BYTES_MIN,
} from '../../engine/base/limits.ts';
import { type Call, type CallContext, isReadCall, isRecordCall } from '../protocol.ts';
import type { ShardCodecs } from './codec.ts';
import type { EngineDoor } from './engine-door.ts';
import { type Lane, laneOf, type PackedRequest, ReplyWriter, readRequests } from './pack.ts';

export interface BatchRunnerOptions {
  readonly engines: ReadonlyMap<number, EngineDoor>;
  readonly codecs: ShardCodecs;
  /** Takes a message of replies over. */
  readonly send: (message: ArrayBuffer) => void;
  /** Called once, with what only a bug can throw and the call that met it; nothing is answered afterwards. */
  readonly onBug: (error: unknown, id: number | undefined) => void;
  /** Does what the fault hook asks for; without it the hook is refused. */
  readonly onFault?: (kind: 'throw' | 'exit') => void;
  /** Called after each turn. */
  readonly ran?: () => void;
  readonly clock?: Clock;
  /** Milliseconds of a turn. */
  readonly turnMs?: number;
  readonly schedule?: (run: () => void) => void;
}

type Answer = (output: unknown) => void;

/** Requests of a message that were not run yet. */
interface Batch {
  readonly lane: Lane;
  readonly requests: Iterator<PackedRequest>;
}

/** True for a message of replies that the other end says it has taken. */
export function isCounted(message: ArrayBuffer): boolean {
  return message.byteLength >= REPLY_COUNTED_BYTES_MIN;
}

export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #clock: Clock;
  readonly #schedule: (run: () => void) => void;
  readonly #replies = new ReplyWriter();
  readonly #turnMs: number;
  #scheduled = false;
  #broken = false;
  /** In the order of their turns. */
  #batches: Batch[] = [];
  #isTurnDue = false;
  /** Of long messages that were sent and not taken. */
  #outBytes = 0;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#schedule = options.schedule ?? setImmediate;
    this.#turnMs = options.turnMs ?? BATCH_TURN_MS;
  }

  /** Runs a message of requests: at once, but for what takes longer than a turn. */
  run(message: ArrayBuffer): void {
    const batch: Batch = { lane: laneOf(message), requests: readRequests(message) };
    if (batch.lane === 'probe') this.#batches.unshift(batch);
    else this.#batches.push(batch);
    if (!this.#isTurnDue) this.#turn();
  }

  /** A long message of replies was taken by the other end. */
  taken(bytes: number): void {
    this.#outBytes -= bytes;
    this.#nextTurn();
  }

  /** What was not run yet is run no more; what is under way is answered. */
  stop(): void {
    this.#batches = [];
  }

  #turn(): void {
    const endMs = performance.now() + this.#turnMs;
    for (let batch = this.#batches[0]; batch !== undefined && !this.#isFull; batch = this.#batches[0]) {
      const { value: request, done } = batch.requests.next();
      if (done === true) {
        this.#batches.shift();
        this.#send({ [batch.lane]: 1 });
        continue;
      }
      this.#run(request);
      if (this.#broken) return;
      if (this.#replies.byteLength >= PACK_BYTES_MAX) this.#send({});
      if (performance.now() >= endMs) break;
    }
    // Each in its turn.
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
    // Its bytes are gone with it.
    if (isCounted(message)) this.#outBytes += message.byteLength;
    this.#options.send(message);
  }

  #run({ id, shard, context, body }: PackedRequest): void {
    try {
      if (context.deadlineMs !== undefined && this.#clock.nowMs() > context.deadlineMs) {
        throw new EngineError('SYS-E005', 'the deadline passed before the call was run');
      }
      const engine = this.#options.engines.get(shard);
      assert(engine !== undefined, 'a call goes to the worker that owns its shard');
      if ('method' in body) {
        // Packed from a typed call by the client.
        this.#call(id, engine, body as Call, context, (output) => this.#replies.appendValue(id, output));
        return;
      }
      const codec = this.#options.codecs[body.codec];
      assert(codec !== undefined, 'a codec number is known to the worker');
      const { call, context: changed = context, encode } = decodeSafely(() => codec.decode(body.raw, context));
      this.#call(id, engine, call, changed, (output) => this.#replies.appendRaw(id, encode(output)));
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #call(id: number, engine: EngineDoor, call: Call, context: CallContext, answer: Answer): void {
    if (isReadCall(call)) {
      answer(engine.read(call.method, context, call.input));
      return;
    }
    if (isRecordCall(call)) {
      answer(engine.record(call.method, context, call.input));
      return;
    }
    if (call.method === 'fault') {
      const { onFault } = this.#options;
      if (onFault === undefined) throw new EngineError('SYS-E002', 'the fault hook is for tests');
      onFault(call.input.kind);
      answer({});
      return;
    }
    engine.write(call.method, context, call.input).then(
      (output) => this.#later(id, () => answer(output)),
      (error: unknown) => this.#later(id, () => this.#refuse(id, error)),
    );
  }

  /** Answers a call whose batch has long been run. */
  #later(id: number, answer: () => void): void {
    if (this.#broken) return;
    try {
      answer();
    } catch (error) {
      this.#refuse(id, error);
    }
    if (this.#scheduled || this.#broken) return;
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      if (!this.#broken && this.#replies.count > 0) this.#send({});
    });
  }

  /** The one place where what was thrown becomes an answer, or the end of this worker. */
  #refuse(id: number, error: unknown): void {
    if (error instanceof EngineError) {
      this.#replies.appendError(id, error.toWire());
      return;
    }
    this.#broken = true;
    this.#options.onBug(error, id);
  }
}

/** A decoder walks what a stranger sent: running out of stack there is the sender's doing, not a bug. */
function decodeSafely<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof RangeError) throw new EngineError('VAL-E001', 'the body nests too deeply');
    throw error;
  }
}
