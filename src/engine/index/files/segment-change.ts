// A change of the segments whose files are written but not in force. Its state entries go into one transaction,
// followed by `commit`.
import { assert } from '../../base/assert.ts';
import type { Sequence } from '../../log/log.ts';
import type { Bitmap, StateEntry } from '../parts/bitmaps.ts';
import type { SegmentEdit, SegmentSet } from './segment-set.ts';

export interface SegmentChange {
  /** Identifies the change in `commit` and `abandon`. */
  readonly id: number;
  readonly kind: 'seal' | 'merge' | 'purge' | 'drop' | 'compact' | 'reset';
  /**
   * The state entries for one transaction. They are computed at the first read, from the segments at that time: read
   * them just before the append, and commit or abandon this change before reading the state of another.
   */
  readonly state: readonly StateEntry[];
  /** The `sealedSequence` after the change. */
  readonly sealedSequence: Sequence;
  /** Path of the file that it adds, if any. */
  readonly file: string | undefined;
}

/** The change with further entries in its transaction. A copy of its members would compute its state too early. */
export function withState(change: SegmentChange, entries: readonly StateEntry[]): SegmentChange {
  const { id, kind, sealedSequence, file } = change;
  return {
    id,
    kind,
    get state() {
      return [...change.state, ...entries];
    },
    sealedSequence,
    file,
  };
}

interface Pending {
  readonly edit: SegmentEdit;
  readonly done: (() => void) | undefined;
  /** Set once the state was read: the entries, and the edit that they put in force. */
  made: { readonly state: readonly StateEntry[]; readonly edit: SegmentEdit } | undefined;
}

/** The uncommitted changes of a shard. */
export class SegmentChanges {
  readonly #segments: SegmentSet;
  readonly #bitmaps: readonly Bitmap[];
  readonly #dropped: ReadonlySet<number>;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  /** Memories that are in `dropped` when a change's state is computed are dead in the file that it adds. */
  constructor(segments: SegmentSet, bitmaps: readonly Bitmap[], dropped: ReadonlySet<number>) {
    this.#segments = segments;
    this.#bitmaps = bitmaps;
    this.#dropped = dropped;
  }

  /** `done` runs when the change is committed, after the segments were swapped. */
  make(kind: SegmentChange['kind'], edit: SegmentEdit, done?: () => void): SegmentChange {
    const id = this.#nextId++;
    const pending: Pending = { edit, done, made: undefined };
    this.#pending.set(id, pending);
    const stateOf = (): readonly StateEntry[] => {
      pending.made ??= this.#make(edit);
      return pending.made.state;
    };
    return {
      id,
      kind,
      get state() {
        return stateOf();
      },
      sealedSequence: edit.sealedSequence ?? this.#segments.sealedSequence,
      file: edit.added?.path,
    };
  }

  commit(change: SegmentChange): void {
    const pending = this.#pending.get(change.id);
    assert(pending?.made !== undefined, 'a change is committed once, after its state was written');
    this.#pending.delete(change.id);
    this.#segments.apply(pending.made.edit);
    for (const bitmap of this.#bitmaps) bitmap.exportDone(true);
    pending.done?.();
  }

  /** Abandons a change and deletes its file, unless `isUncertain`: its transaction may have reached the disk. */
  abandon(change: SegmentChange, isUncertain: boolean): void {
    const pending = this.#pending.get(change.id);
    if (pending === undefined) return;
    this.#pending.delete(change.id);
    if (pending.made !== undefined) for (const bitmap of this.#bitmaps) bitmap.exportDone(false);
    if (isUncertain) pending.edit.added?.release();
    else pending.edit.added?.replace();
  }

  /**
   * Files of uncommitted changes stay, because the log may already name them. The next open deletes those that it does
   * not name.
   */
  close(): void {
    for (const { edit } of this.#pending.values()) edit.added?.release();
    this.#pending.clear();
  }

  #make(edit: SegmentEdit): NonNullable<Pending['made']> {
    for (const other of this.#pending.values()) assert(other.made === undefined, 'one change is written at a time');
    const { added, dead = [] } = edit;
    const dropped = added === undefined ? [] : [...this.#dropped].filter((memory) => added.find(memory) !== undefined);
    const whole = { ...edit, dead: [...dead, ...dropped.map((memory) => [added!, memory] as const)] };
    const pages = this.#bitmaps.flatMap((bitmap) => bitmap.export());
    return { state: [this.#segments.manifestAfter(whole), ...pages], edit: whole };
  }
}
