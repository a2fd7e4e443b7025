// The stages of traced calls in a shard, until the server asks for them. Untraced calls note nothing.
import { STAGE_TIMES_MAX } from './limits.ts';

/** Times in milliseconds since 1970, with fractions. */
export interface StageTime {
  readonly name: string;
  readonly partition: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Stages as they cross threads, a column each: objects would cost more than what they describe. */
export interface StageColumns {
  /** Request ids, and the names of stages; each once. */
  readonly requestIds: readonly string[];
  readonly names: readonly string[];
  /** For each stage the indexes of its request and of its name. */
  readonly requestOf: readonly number[];
  readonly nameOf: readonly number[];
  readonly partitions: readonly number[];
  readonly fromMs: readonly number[];
  readonly toMs: readonly number[];
}

interface Call {
  readonly requestId: string;
  readonly partition: number;
  readonly traced?: true | undefined;
}

class Notes {
  readonly requests = new Map<string, number>();
  readonly names = new Map<string, number>();
  readonly requestOf: number[] = [];
  readonly nameOf: number[] = [];
  readonly partitions: number[] = [];
  readonly fromMs: number[] = [];
  readonly toMs: number[] = [];
}

export class StageTimes {
  #notes = new Notes();
  /** The call of the last note, and the index of its request: the notes of a call often follow one another. */
  #lastCall: Call | undefined;
  #lastRequest = 0;

  /** Notes a stage of a traced call. The times are those of `performance.now`. The newest are left out when it is full. */
  note(call: Call, name: string, fromMs: number, toMs: number): void {
    const notes = this.#notes;
    if (call.traced !== true || notes.nameOf.length >= STAGE_TIMES_MAX) return;
    if (call !== this.#lastCall) {
      this.#lastCall = call;
      this.#lastRequest = indexOf(notes.requests, call.requestId);
    }
    notes.requestOf.push(this.#lastRequest);
    notes.nameOf.push(indexOf(notes.names, name));
    notes.partitions.push(call.partition);
    notes.fromMs.push(performance.timeOrigin + fromMs);
    notes.toMs.push(performance.timeOrigin + toMs);
  }

  /** Returns all notes and forgets them. */
  take(): StageColumns {
    const { requests, names, ...columns } = this.#notes;
    this.#notes = new Notes();
    this.#lastCall = undefined;
    return { requestIds: [...requests.keys()], names: [...names.keys()], ...columns };
  }
}

function indexOf(places: Map<string, number>, text: string): number {
  const known = places.get(text);
  if (known !== undefined) return known;
  places.set(text, places.size);
  return places.size - 1;
}
