// Runs the requests of another node on the shards of this one, and answers them in packed messages. It reads no request again
// that a shard's thread reads: wire bytes go through as they are.
import { steadyMs, systemClock } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { LINK_BATCHES_UNREPORTED_MAX } from '../../../engine/base/limits.ts';
import { METHODS, type Method } from '../../protocol.ts';
import type { RawShardCaller } from '../../transport/client.ts';
import { isLone, type Lane, laneOf, type PackedRequest, ReplyWriter, readRequests } from '../../transport/pack.ts';

/** Bytes before a message of requests: the sender's clock. */
export const CLOCK_BYTES = 8;

export interface RequestRunnerOptions {
  /** By shard: refuses calls of shards that this node does not have. */
  readonly shards: readonly RawShardCaller[];
  /** Names of the methods by the sender's numbers. */
  readonly methods: readonly string[];
  readonly send: (message: ArrayBuffer) => void;
  /** Called after the calls of a message: no more of them gather. */
  readonly ran: () => void;
}

export class RequestRunner {
  readonly #options: RequestRunnerOptions;
  readonly #methods: readonly (Method | undefined)[];
  readonly #replies = new ReplyWriter();
  #batches: Partial<Record<Lane, number>> = {};
  #scheduled = false;
  /** Calls that the shards have not answered. */
  #unanswered = 0;

  constructor(options: RequestRunnerOptions) {
    this.#options = options;
    const known = new Map(METHODS.map((method) => [method as string, method]));
    this.#methods = options.methods.map((name) => known.get(name));
  }

  /** Throws for a message that breaks off: the connection is to end then. */
  run(bytes: Buffer): void {
    const shiftMs = steadyMs(systemClock) - bytes.readDoubleLE(0);
    // A copy of its own: the calls keep views of it.
    const message = Uint8Array.prototype.slice.call(bytes, CLOCK_BYTES).buffer as ArrayBuffer;
    const lane = laneOf(message);
    const unreadable = (id: number): void => this.#refuse(id, new EngineError('SYS-E002', UNKNOWN_CALL));
    for (const request of readRequests(message, unreadable, this.#methods)) this.#run(request, lane, shiftMs);
    this.#options.ran();
    if (isLone(message)) return;
    // It has been handed to the shards, so more may come. The sender has room for some more: the report goes with an answer, and
    // costs no message of its own.
    const batches = (this.#batches[lane] ?? 0) + 1;
    this.#batches[lane] = batches;
    if (batches > LINK_BATCHES_UNREPORTED_MAX) this.#answerSoon();
  }

  #run({ id, shard, context, body }: PackedRequest, lane: Lane, shiftMs: number): void {
    const caller = this.#options.shards[shard];
    if (caller === undefined) {
      this.#refuse(id, new EngineError('VAL-E001', `there is no shard ${shard}`));
      return;
    }
    const { deadlineMs } = context;
    // Clocks of two processes have nothing in common.
    const own = deadlineMs === undefined ? context : { ...context, deadlineMs: deadlineMs + shiftMs };
    this.#unanswered += 1;
    const answer =
      'codec' in body
        ? caller.callRaw(body.codec, own, body.raw, lane).then((reply) => this.#replies.appendRaw(id, reply))
        : // The sender packed a typed call.
          caller.call(body.method, own, body.input as never).then((output) => this.#replies.appendValue(id, output));
    answer
      .catch((error: unknown) => this.#refuse(id, error))
      .finally(() => {
        this.#unanswered -= 1;
        this.#answerSoon();
      });
  }

  #refuse(id: number, error: unknown): void {
    const refusal = error instanceof EngineError ? error : new EngineError('SYS-E001');
    this.#replies.appendError(id, refusal.toWire());
    this.#answerSoon();
  }

  /** Answers of one turn of the event loop share a message. The last one waits for no others. */
  #answerSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const soon = this.#unanswered === 0 ? process.nextTick : setImmediate;
    soon(() => {
      this.#scheduled = false;
      const batches = this.#batches;
      this.#batches = {};
      if (this.#replies.count > 0 || Object.keys(batches).length > 0) this.#options.send(this.#replies.take(batches));
    });
  }
}

const UNKNOWN_CALL = 'the node that has the shard does not know this call: its program is older or newer';
