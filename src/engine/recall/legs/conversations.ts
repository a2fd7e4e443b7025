// Finds the neighbouring turns of a turn in its session, ordered by creation time, then arrival, over all parts of a
// memory. Skips turns that the caller may not see and turns that were removed or superseded.

import type { TurnContext } from '../../index/context/turn.ts';
import type { Doc, IndexPart } from '../../index/parts/part.ts';
import type { PartDoc } from './ordered.ts';

/** Maximum number of invisible turns to skip one by one. Beyond that the session's list is rebuilt without them. */
const WALK_MAX = 16;

interface Session {
  /** Numbered from 1 in order of discovery. */
  readonly number: number;
  /** Turns by part; undefined for a part without any. */
  readonly lists: (TurnList | undefined)[];
}

interface TurnList {
  turns: Uint32Array;
  isFiltered: boolean;
}

/** The turn whose neighbours are searched, with its time. */
interface PlacedTurn extends PartDoc {
  readonly atMs: number;
}

interface Around {
  readonly session: number;
  readonly before: PartDoc | undefined;
  readonly after: PartDoc | undefined;
}

export class Conversations {
  /** Creation times by part, fetched once because each access to a chunk is a cache lookup. */
  readonly #times: readonly Float64Array[];
  readonly #contexts: readonly (TurnContext | undefined)[];
  readonly #isVisible: (part: number, doc: Doc) => boolean;
  readonly #byName = new Map<string, Session>();
  /** By part, then by the session's number there, because a lookup by name is slower. */
  readonly #byNumber: (Map<number, Session> | undefined)[];
  /** Indexes of the parts that hold events. */
  readonly #holding: readonly number[];

  constructor(
    parts: readonly IndexPart[],
    contexts: readonly (TurnContext | undefined)[],
    isVisible: (part: number, doc: Doc) => boolean,
  ) {
    this.#times = parts.map((part) => part.createdAtMs);
    this.#contexts = contexts;
    this.#isVisible = isVisible;
    this.#byNumber = contexts.map((known) => (known === undefined ? undefined : new Map()));
    this.#holding = contexts.flatMap((known, part) => (known === undefined ? [] : [part]));
  }

  /** The session of a turn with its visible neighbours; undefined for a grain that is no event or has no session. */
  around(part: number, doc: Doc): Around | undefined {
    const session = this.#sessionOf(part, doc);
    if (session === undefined) return undefined;
    return {
      session: session.number,
      before: this.#nearest(session, part, doc, -1),
      after: this.#nearest(session, part, doc, 1),
    };
  }

  #sessionOf(part: number, doc: Doc): Session | undefined {
    const here = this.#contexts[part];
    const number = here?.sessions[doc] ?? 0;
    if (here === undefined || number === 0) return undefined;
    const numbers = this.#byNumber[part]!; // there where a context is
    const known = numbers.get(number);
    if (known !== undefined) return known;
    const name = here.sessionName(number);
    let session = this.#byName.get(name);
    if (session === undefined) {
      session = { number: this.#byName.size + 1, lists: this.#listsOf(name) };
      this.#byName.set(name, session);
    }
    numbers.set(number, session);
    return session;
  }

  #listsOf(name: string): (TurnList | undefined)[] {
    const lists = new Array<TurnList | undefined>(this.#times.length).fill(undefined);
    for (const part of this.#holding) {
      const there = this.#contexts[part]!; // it holds events
      const number = there.sessionNumber(name);
      if (number === 0) continue;
      const turns = there.turns(number);
      if (turns.length > 0) lists[part] = { turns, isFiltered: false };
    }
    return lists;
  }

  /** The nearest visible turn in one direction. */
  #nearest(session: Session, part: number, doc: Doc, step: 1 | -1): PartDoc | undefined {
    const atMs = this.#times[part]![doc]!;
    let best: PartDoc | undefined;
    let bestMs = 0;
    for (const other of this.#holding) {
      const list = session.lists[other];
      if (list === undefined) continue;
      const found = this.#nearestIn(list, other, { part, doc, atMs }, step);
      if (found === -1) continue;
      const foundMs = this.#times[other]![found]!;
      // Parts are in order of arrival. For equal times, a later part is nearer when looking back, an earlier part when
      // looking ahead.
      const isNearer = best === undefined || (step === 1 ? foundMs < bestMs : foundMs >= bestMs);
      if (!isNearer) continue;
      best = { part: other, doc: found };
      bestMs = foundMs;
    }
    return best;
  }

  #nearestIn(list: TurnList, part: number, from: PlacedTurn, step: 1 | -1): Doc | -1 {
    const near = this.#walk(list, part, from, step, WALK_MAX);
    if (near !== undefined) return near;
    list.turns = list.turns.filter((turn) => this.#isVisible(part, turn));
    list.isFiltered = true;
    return this.#walk(list, part, from, step, 1) ?? -1;
  }

  /** The next visible turn; -1 if there is none; undefined if it is more than `stepsMax` turns away. */
  #walk(
    { turns, isFiltered }: TurnList,
    part: number,
    from: PlacedTurn,
    step: 1 | -1,
    stepsMax: number,
  ): Doc | -1 | undefined {
    // For equal times, turns of a later part come after this turn, turns of an earlier part before it.
    const doc = part === from.part ? from.doc : part < from.part ? Number.POSITIVE_INFINITY : -1;
    const first = firstNotBefore(turns, this.#times[part]!, from.atMs, doc);
    const isSelf = part === from.part && turns[first] === doc;
    let at = step === -1 ? first - 1 : isSelf ? first + 1 : first;
    for (let steps = 0; steps < stepsMax; steps++) {
      if (at < 0 || at >= turns.length) return -1;
      if (isFiltered || this.#isVisible(part, turns[at]!)) return turns[at]!;
      at += step;
    }
    return undefined;
  }
}

/** Index of the first turn at or after (atMs, doc). */
function firstNotBefore(turns: Uint32Array, createdAtMs: Float64Array, atMs: number, doc: number): number {
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const turn = turns[middle]!;
    const ms = createdAtMs[turn]!;
    if (ms < atMs || (ms === atMs && turn < doc)) low = middle + 1;
    else high = middle;
  }
  return low;
}
