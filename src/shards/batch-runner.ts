// The worker's end of a batch: runs its calls on the engines and answers in packed messages.
//
// Reads are answered at once, in the message that goes back when the batch was run; that message also tells the client
// that the next batch may come. Writes are queued at their engine, which forms the groups, and are answered by later
// messages: all that became durable in one turn of the event loop goes together. So a commit holds no read back, and
// the next batch is already queued for the next group while an append is in flight.
import { assert } from '../engine/assert.ts';
import { type Clock, systemClock } from '../engine/clock.ts';
import { EngineError } from '../engine/errors.ts';
import type { ShardCodecs } from './codec.ts';
import type { EngineDoor } from './engine-door.ts';
import { laneOf, type PackedRequest, ReplyWriter, readRequests } from './pack.ts';
import { type Call, type CallContext, isReadCall } from './protocol.ts';

export interface BatchRunnerOptions {
  readonly engines: ReadonlyMap<number, EngineDoor>;
  readonly codecs: ShardCodecs;
  /** Takes a message of replies over. */
  readonly send: (message: ArrayBuffer) => void;
  /** Called once, with what only a bug can throw and the call that met it; nothing is answered afterwards. */
  readonly onBug: (error: unknown, id: number | undefined) => void;
  /** Does what the fault hook asks for; without it the hook is refused. */
  readonly onFault?: (kind: 'throw' | 'exit') => void;
  readonly clock?: Clock;
  readonly schedule?: (run: () => void) => void;
}

type Answer = (output: unknown) => void;

export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #clock: Clock;
  readonly #schedule: (run: () => void) => void;
  readonly #replies = new ReplyWriter();
  #scheduled = false;
  #broken = false;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#schedule = options.schedule ?? setImmediate;
  }

  /** Runs a message of requests. */
  run(message: ArrayBuffer): void {
    const lane = laneOf(message);
    for (const request of readRequests(message)) {
      this.#run(request);
      if (this.#broken) return;
    }
    this.#options.send(this.#replies.take({ [lane]: 1 }));
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
      if (!this.#broken && this.#replies.count > 0) this.#options.send(this.#replies.take({}));
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
