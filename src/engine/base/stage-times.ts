// The stages of traced calls in a shard, until the server asks for them. Untraced calls note nothing.
import { STAGE_TIMES_EACH_MAX, STAGE_TIMES_REQUESTS_MAX } from './limits.ts';

/** Times in milliseconds since 1970, with fractions. */
export interface StageTime {
  readonly name: string;
  readonly partition: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Call {
  readonly requestId: string;
  readonly partition: number;
  readonly traced?: true | undefined;
}

export class StageTimes {
  /** By request id, oldest first. */
  readonly #byRequest = new Map<string, StageTime[]>();

  /** Notes a stage of a traced call. The times are those of `performance.now`. */
  note(call: Call, name: string, fromMs: number, toMs: number): void {
    if (call.traced !== true) return;
    const { requestId, partition } = call;
    const known = this.#byRequest.get(requestId);
    const stage = { name, partition, fromMs: performance.timeOrigin + fromMs, toMs: performance.timeOrigin + toMs };
    if (known === undefined) this.#byRequest.set(requestId, [stage]);
    else if (known.length < STAGE_TIMES_EACH_MAX) known.push(stage);
    for (const oldest of this.#byRequest.keys()) {
      if (this.#byRequest.size <= STAGE_TIMES_REQUESTS_MAX) break;
      this.#byRequest.delete(oldest);
    }
  }

  /** The notes of a request, which are returned once. */
  take(requestId: string): readonly StageTime[] {
    const stages = this.#byRequest.get(requestId) ?? [];
    this.#byRequest.delete(requestId);
    return stages;
  }
}
