// Tells listeners which memories of a shard have new events. A listener asks and gets its answer with the next commit that
// makes an event. There is no timer, and a commit that nobody waits for costs a counter.
import { randomInt } from 'node:crypto';
import { EVENT_BELL_MEMORIES_MAX } from '../base/limits.ts';

/** A position in the bell's history. The epoch differs for each opening of the shard. */
export interface BellPlace {
  readonly epoch: number;
  readonly tick: number;
}

export interface Rung extends BellPlace {
  /** Numbers of the memories with events after the given place. Absent: any memory may have some. */
  readonly memories?: readonly number[];
}

const EPOCHS = 2 ** 32;

export class EventBell {
  readonly #epoch = randomInt(EPOCHS);
  #tick = 0;
  /** The tick of the last event of each memory, in the order of those ticks. */
  readonly #rung = new Map<number, number>();
  /** Memories that rang at or before this tick may be missing in `#rung`. */
  #forgottenTick = 0;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  /** Called when events of the memory are committed and visible. */
  ring(memory: number): void {
    this.#tick += 1;
    this.#rung.delete(memory);
    this.#rung.set(memory, this.#tick);
    if (this.#rung.size > EVENT_BELL_MEMORIES_MAX) {
      const [oldest, tick] = this.#rung.entries().next().value!;
      this.#rung.delete(oldest);
      this.#forgottenTick = tick;
    }
    this.#wake();
  }

  /**
   * The memories with events after `place`. Waits for one if there is none. Answers at once without a known place.
   * `release` answers everyone who waits.
   */
  async next(place?: BellPlace, release?: true): Promise<Rung> {
    if (release === true) this.#wake();
    else if (place?.epoch === this.#epoch && place.tick === this.#tick && !this.#isClosed)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const here = { epoch: this.#epoch, tick: this.#tick };
    if (place?.epoch !== this.#epoch || place.tick < this.#forgottenTick) return here;
    const memories: number[] = [];
    for (const [memory, tick] of this.#rung) if (tick > place.tick) memories.push(memory);
    return { ...here, memories };
  }

  /** Answers everyone who waits. Nobody waits from then on. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
