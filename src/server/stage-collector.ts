// Fetches the stages of traced calls from the shards: one call to each shard for all that were noted since the last one.
import { STAGES_GATHER_MS } from '../engine/base/limits.ts';
import type { StageTime } from '../engine/base/stage-times.ts';
import type { Router } from '../shards/router.ts';

/** A traced call. It is one object, as there are thousands a second. */
export interface TracedCall {
  readonly requestId: string;
  /** When it began, in milliseconds since 1970. */
  readonly fromMs: number;
  /** An earlier call with the same request id. The collector sets it. */
  earlier: TracedCall | undefined;
  /** Takes a stage of the call, some time after its end. */
  addStage(stage: StageTime): void;
}

export class StageCollector {
  readonly #shards: Pick<Router, 'callShard' | 'shardCount'>;
  /** The last call by request id. A request may make several, and a client may choose one id for several requests. */
  readonly #running = new Map<string, TracedCall>();
  #ended: TracedCall[] = [];
  #isDue = false;

  constructor(shards: Pick<Router, 'callShard' | 'shardCount'>) {
    this.#shards = shards;
  }

  begin(call: TracedCall): void {
    call.earlier = this.#running.get(call.requestId);
    this.#running.set(call.requestId, call);
  }

  end(call: TracedCall): void {
    this.#ended.push(call);
    if (!this.#isDue) this.#collectLater();
  }

  #collectLater(): void {
    this.#isDue = true;
    setTimeout(() => void this.#collect(), STAGES_GATHER_MS).unref();
  }

  async #collect(): Promise<void> {
    const ended = this.#ended;
    this.#ended = [];
    // A shard notes a stage before it answers, so all stages of these calls are there.
    await Promise.all(Array.from({ length: this.#shards.shardCount }, (_, shard) => this.#collectFrom(shard)));
    for (const call of ended) this.#forget(call);
    this.#isDue = false;
    if (this.#ended.length > 0) this.#collectLater();
  }

  /** Without an answer, the stages are missing from the traces. */
  async #collectFrom(shard: number): Promise<void> {
    const found = await this.#shards.callShard(shard, 'takeStages', {}).catch(() => undefined);
    if (found === undefined) return;
    const { names, requestOf, nameOf, partitions, fromMs, toMs } = found;
    const calls = found.requestIds.map((requestId) => this.#running.get(requestId));
    for (let at = 0; at < nameOf.length; at++) {
      const stage = { name: names[nameOf[at]!]!, partition: partitions[at]!, fromMs: fromMs[at]!, toMs: toMs[at]! };
      callAt(calls[requestOf[at]!], stage.fromMs)?.addStage(stage);
    }
  }

  #forget(call: TracedCall): void {
    const last = this.#running.get(call.requestId);
    if (last !== call) {
      for (let later = last; later !== undefined; later = later.earlier)
        if (later.earlier === call) later.earlier = call.earlier;
    } else if (call.earlier === undefined) this.#running.delete(call.requestId);
    else this.#running.set(call.requestId, call.earlier);
  }
}

/** The last call that had begun by then, else the first one: the clocks of two threads differ a little. */
function callAt(last: TracedCall | undefined, fromMs: number): TracedCall | undefined {
  let call = last;
  while (call?.earlier !== undefined && call.fromMs > fromMs) call = call.earlier;
  return call;
}
