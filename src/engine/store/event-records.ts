// Finds the audit record of an event by the event's number. The list of a memory's audit records is read from the index
// at the first use and then follows the commits. A search opens only the heads of some records.
import type { Log, Sequence } from '../log/log.ts';
import { peekedEvents } from '../record/record-codec.ts';
import { RecentMap } from './recent-map.ts';

/** Memories whose lists are held. Others are read again: 4 bytes for each audit record. */
const LISTS_MAX = 64;

/** The source of the lists. */
interface Trail {
  readonly log: Log;
  allKeyed(memory: number, kind: 'audit'): readonly Sequence[];
  auditHead(memory: number): { readonly events: number };
  isDamaged(memory: number): boolean;
}

class SequenceList {
  #sequences: Uint32Array;
  length: number;

  constructor(sequences: readonly Sequence[]) {
    this.#sequences = Uint32Array.from(sequences);
    this.length = sequences.length;
  }

  at(place: number): Sequence {
    return this.#sequences[place]!;
  }

  /** The place of the first record after `sequence`; `length` when there is none. */
  firstAfter(sequence: Sequence): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(middle) > sequence) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  push(sequence: Sequence): void {
    if (this.length === this.#sequences.length) {
      const grown = new Uint32Array(Math.max(64, this.length * 2));
      grown.set(this.#sequences);
      this.#sequences = grown;
    }
    this.#sequences[this.length++] = sequence;
  }
}

export class EventRecords {
  readonly #store: Trail;
  readonly #lists = new RecentMap<number, SequenceList>(LISTS_MAX);

  constructor(store: Trail) {
    this.#store = store;
  }

  /** Notes a committed audit record. */
  add(memory: number, sequence: Sequence): void {
    this.#lists.get(memory)?.push(sequence);
  }

  /** Drops the list of a memory, for example after a rebuild of its index. */
  forget(memory: number): void {
    this.#lists.delete(memory);
  }

  /** The audit records from the one with event `after + 1` on, which must exist. */
  *from(memory: number, after: number): Generator<Sequence, void, void> {
    const list = this.#listOf(memory);
    for (let at = this.#placeOf(list, (head) => head.before <= after); at >= 0 && at < list.length; at++)
      yield list.at(at);
  }

  /** The number of events that are older than `fromMs`, as far as the clock never went back. */
  countBefore(memory: number, fromMs: number): number {
    const list = this.#listOf(memory);
    const last = this.#placeOf(list, (head) => head.atMs < fromMs);
    if (last < 0) return 0;
    return last + 1 < list.length ? this.#headAt(list, last + 1).before : this.#store.auditHead(memory).events;
  }

  /** The number of events whose records are at `sequence` or before it. */
  countUpTo(memory: number, sequence: Sequence): number {
    const list = this.#listOf(memory);
    const next = list.firstAfter(sequence);
    return next < list.length ? this.#headAt(list, next).before : this.#store.auditHead(memory).events;
  }

  /** The last record whose head passes, where heads that pass come before those that do not; -1 when there is none. */
  #placeOf(list: SequenceList, passes: (head: { readonly before: number; readonly atMs: number }) => boolean): number {
    // Most searches are near the end, so look there first, in growing steps.
    let high = list.length - 1;
    let low = high;
    for (let step = 1; low >= 0 && !passes(this.#headAt(list, low)); step *= 2) {
      high = low - 1;
      low -= step;
    }
    low = Math.max(low, -1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (passes(this.#headAt(list, middle))) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** An unreadable record counts as the one before it. */
  #headAt(list: SequenceList, place: number): { readonly before: number; readonly atMs: number } {
    const { log } = this.#store;
    for (let at = place; at >= 0; at--) {
      const head =
        log.peek === undefined ? read(log.read(list.at(at))) : log.peek(list.at(at), (bytes) => peekedEvents(bytes));
      if (head !== undefined) return head;
    }
    return { before: 0, atMs: 0 };
  }

  #listOf(memory: number): SequenceList {
    const known = this.#lists.get(memory);
    if (known !== undefined) return known;
    const list = new SequenceList(this.#store.allKeyed(memory, 'audit'));
    // While a chunk cannot be read, the list is not whole.
    if (!this.#store.isDamaged(memory)) this.#lists.set(memory, list);
    return list;
  }
}

function read(bytes: Uint8Array | undefined) {
  return bytes === undefined ? undefined : peekedEvents(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
}
