// Assigns times that keep the order of turns. Grains sort by creation time in seconds, so turns of a conversation with
// the same second, or only a date, get consecutive seconds.
import type { TimePoint } from './time-text.ts';

/** Conversations and repeated times kept in memory; the least recently used are dropped. */
const CONVERSATIONS_MAX = 100_000;

interface Conversation {
  /** Time of the last turn in the file, in seconds. */
  said: number;
  /** Time assigned to that turn, in seconds. */
  given: number;
}

export class TurnTimes {
  readonly #fallback: number;
  readonly #nowSeconds: number;
  readonly #conversations = new Map<string, Conversation>();
  /** Next second to assign, by conversation and time in the file. Needed when a transcript returns to a day. */
  readonly #next = new Map<string, number>();

  /** `fallback`: start of a conversation without times, in seconds. No turn gets a time after `nowSeconds`. */
  constructor(options: { readonly fallback: number; readonly nowSeconds: number }) {
    this.#fallback = Math.min(options.fallback, options.nowSeconds);
    this.#nowSeconds = options.nowSeconds;
  }

  /** Seconds for the next turn of a conversation. `point` is undefined when the turn has no time. */
  take(conversation: string, point: TimePoint | undefined): number {
    const last = this.#conversations.get(conversation);
    // A turn without a time follows the one before it.
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
