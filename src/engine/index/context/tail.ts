// The context of a tail's events. Nothing is allocated before the first event.
import { grow } from '../files/list-table.ts';
import { SPEAKERS_MAX, sortTurns, type Turn, type TurnContext, turnCode } from './turn.ts';

/** Sessions whose order of turns is cached. */
const ORDERS_MAX = 1_024;

/** The sessions of the tail, as this class needs them. */
export interface TailSessions {
  /** Docs of a session, ascending, including grains that are not events. A session number is its entry + 1. */
  docs(session: number): Uint32Array;
  name(session: number): string;
  number(name: string): number;
  createdAtMs(): Float64Array;
}

export class ContextTail implements TurnContext {
  codes = new Uint32Array(4);
  sessions = new Uint32Array(4);
  /** The numbers are entries of a table that the memories of a shard share. */
  readonly sessionCount = undefined;
  readonly #tail: TailSessions;
  readonly #speakers = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #orders = new Map<number, { readonly count: number; readonly turns: Uint32Array }>();

  constructor(tail: TailSessions) {
    this.#tail = tail;
  }

  /** Adds an event; docs ascend. `session` is 0 for none. */
  add(doc: number, turn: Turn, session: number): void {
    while (doc >= this.codes.length) {
      this.codes = grow(this.codes);
      this.sessions = grow(this.sessions);
    }
    this.codes[doc] = turnCode(turn, turn.speaker === undefined ? 0 : this.#speakerNumber(turn.speaker));
    this.sessions[doc] = session;
  }

  turns(session: number): Uint32Array {
    const docs = this.#tail.docs(session);
    const known = this.#orders.get(session);
    if (known !== undefined && known.count === docs.length) return known.turns;
    const turns = docs.filter((doc) => (this.codes[doc] ?? 0) !== 0);
    sortTurns(turns, this.#tail.createdAtMs());
    if (this.#orders.size >= ORDERS_MAX) this.#orders.clear();
    this.#orders.set(session, { count: docs.length, turns });
    return turns;
  }

  sessionName(session: number): string {
    return this.#tail.name(session);
  }

  sessionNumber(name: string): number {
    return this.#tail.number(name);
  }

  speaker(speaker: number): string {
    return this.#names[speaker - 1]!;
  }

  /** For sealing: the speakers by number, from 1. */
  get speakers(): readonly string[] {
    return this.#names;
  }

  #speakerNumber(name: string): number {
    const known = this.#speakers.get(name);
    if (known !== undefined) return known;
    if (this.#names.length >= SPEAKERS_MAX) return 0;
    this.#names.push(name);
    this.#speakers.set(name, this.#names.length);
    return this.#names.length;
  }
}
