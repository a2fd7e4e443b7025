// The order of turns, kept in their times. Grains are ordered by when they were made, to the second; turns of one
// conversation that say the same second, or only a day, get one second each.
import type { TimePoint } from './time-text.ts';

/** Conversations and repeated times that are remembered; the ones not seen for longest go first. */
const CONVERSATIONS_MAX = 100_000;

interface Conversation {
  /** Seconds that the last turn said. */
  said: number;
  /** Seconds that it was given. */
  given: number;
}

export class TurnTimes {
  readonly #fallback: number;
  readonly #nowSeconds: number;
  readonly #conversations = new Map<string, Conversation>();
  /** By conversation and time said: the next second to give, for transcripts that come back to a day. */
  readonly #next = new Map<string, number>();

  /** `fallback`: seconds at which a conversation without times begins. Nothing is dated after `nowSeconds`. */
  constructor(options: { readonly fallback: number; readonly nowSeconds: number }) {
    this.#fallback = Math.min(options.fallback, options.nowSeconds);
    this.#nowSeconds = options.nowSeconds;
  }

  /** Seconds for the next turn of a conversation; `point` undefined: the turn says no time. */
  take(conversation: string, point: TimePoint | undefined): number {
    const last = this.#conversations.get(conversation);
    // A turn without a time comes right after the one before it.
    const said = point?.seconds ?? last?.said ?? this.#fallback;
    const given = point !== undefined && said > this.#nowSeconds ? said : this.#place(conversation, said, last);
    keep(this.#conversations, conversation, { said, given });
    keep(this.#next, `${conversation}\n${said}`, given + 1);
    return given;
  }

  #place(conversation: string, said: number, last: Conversation | undefined): number {
    const continues = last !== undefined && said >= last.said && said <= last.given;
    const given = continues ? last.given + 1 : Math.max(said, this.#next.get(`${conversation}\n${said}`) ?? said);
    return Math.min(given, this.#nowSeconds);
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  if (map.size >= CONVERSATIONS_MAX) map.delete(map.keys().next().value!);
  map.set(key, value);
}
