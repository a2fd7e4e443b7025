// The appends of one log that are durable in a write-ahead file and not yet in its store. Reads look here first.
import { assert } from '../base/assert.ts';
import type { Sequence } from './log.ts';
import { endOf, frameAt, type NumberedAppend } from './numbered-append.ts';
import { SortedKeys } from './sorted-keys.ts';

/** A record or a state entry after an append: its frame, or null when it is deleted. */
interface Change {
  readonly frame: Buffer | null;
  readonly number: number;
}

export interface PieceBounds {
  readonly items: number;
  readonly bytes: number;
}

export class PendingAppends {
  #appends: NumberedAppend[] = [];
  /** Records that were replaced or removed. New ones are found in their append. */
  readonly #records = new Map<Sequence, Change>();
  readonly #state = new Map<string, Change>();
  readonly #stateKeys = new SortedKeys(this.#state);
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#appends.length === 0;
  }

  /** Bytes of all frames. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of the newest append; undefined when there is none. */
  get lastNumber(): number | undefined {
    return this.#appends.at(-1)?.number;
  }

  /** The first record that only an append here holds, or undefined. Every record before it is in the store, or gone. */
  get firstRecord(): Sequence | undefined {
    return this.#appends[0]?.first;
  }

  add(append: NumberedAppend): void {
    const { number } = append;
    this.#appends.push(append);
    this.#bytes += append.bytes;
    for (const [sequence, frame] of append.replacements) this.#records.set(sequence, { frame, number });
    for (const sequence of append.removals) this.#records.set(sequence, { frame: null, number });
    for (const [key, frame] of append.state) {
      if (!this.#state.has(key)) this.#stateKeys.add(key);
      this.#state.set(key, { frame, number });
    }
  }

  /** The frame of a record, null when it was removed, undefined when nothing here says anything of it. */
  record(sequence: Sequence): Buffer | null | undefined {
    const changed = this.#records.size === 0 ? undefined : this.#records.get(sequence);
    if (changed !== undefined) return changed.frame;
    const first = this.#appends[0]?.first;
    if (first === undefined || sequence < first) return undefined;
    const append = this.#appends[this.#indexOf(sequence)]!;
    return sequence < endOf(append) ? frameAt(append, sequence - append.first) : undefined;
  }

  /** The frame of a state value, null when it was deleted, undefined when nothing here says anything of it. */
  stateOf(key: string): Buffer | null | undefined {
    return this.#state.get(key)?.frame;
  }

  /** All changed state entries whose key begins with `prefix`, by key. Nothing may change before the last one is taken. */
  *states(prefix: string): IterableIterator<readonly [key: string, frame: Buffer | null]> {
    for (const key of this.#stateKeys.startingWith(prefix)) yield [key, this.#state.get(key)!.frame];
  }

  /** The oldest appends up to that number, as many as the bounds allow, and at least one. */
  piece(upTo: number, bounds: PieceBounds): readonly NumberedAppend[] {
    const piece: NumberedAppend[] = [];
    let [items, bytes] = [0, 0];
    for (const append of this.#appends) {
      items += append.offsets.length + append.replacements.length + append.removals.length + append.state.length;
      bytes += append.bytes;
      const isOver = items > bounds.items || bytes > bounds.bytes;
      if (append.number > upTo || (isOver && piece.length > 0)) break;
      piece.push(append);
    }
    return piece;
  }

  /** Forgets the oldest appends, which the store now holds. */
  drop(piece: readonly NumberedAppend[]): void {
    assert(
      piece.every((append, i) => append === this.#appends[i]),
      'the oldest appends are dropped first',
    );
    this.#appends = this.#appends.slice(piece.length);
    for (const { number, bytes, replacements, removals, state } of piece) {
      this.#bytes -= bytes;
      for (const [sequence] of replacements) dropChange(this.#records, sequence, number);
      for (const sequence of removals) dropChange(this.#records, sequence, number);
      for (const [key] of state) dropChange(this.#state, key, number);
    }
    if (piece.some(({ state }) => state.length > 0)) this.#stateKeys.deleted();
  }

  /** The index of the last append whose first record is not after `sequence`. */
  #indexOf(sequence: Sequence): number {
    let [low, high] = [0, this.#appends.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#appends[middle]!.first <= sequence) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Keeps a change that a later append made. */
function dropChange<K>(changes: Map<K, Change>, key: K, number: number): void {
  if (changes.get(key)?.number === number) changes.delete(key);
}
