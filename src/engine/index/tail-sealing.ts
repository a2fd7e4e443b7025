// Writes the file of a seal, in this thread or in another one.
import { Elsewhere } from './elsewhere.ts';
import { openWritten, type SequenceRange, writeSegment } from './files/new-segment.ts';
import type { Sliced } from './files/section.ts';
import type { SegmentFile } from './files/segment-file.ts';
import type { SegmentSet } from './files/segment-set.ts';
import type { IndexKeys } from './index-keys.ts';
import type { Bitmap } from './parts/bitmaps.ts';
import { piecesOf } from './parts/frozen-tail.ts';
import { writeTails } from './parts/seal.ts';
import type { TailSet } from './parts/tail.ts';
import { keysOf, type Sealer, type Sealing } from './sealing.ts';

export class TailSealing {
  readonly #segments: SegmentSet;
  readonly #keys: IndexKeys;
  readonly #removed: Bitmap;
  readonly elsewhere = new Elsewhere();

  constructor(segments: SegmentSet, keys: IndexKeys, removed: Bitmap) {
    this.#segments = segments;
    this.#keys = keys;
    this.#removed = removed;
  }

  /** Writes the tails, which no longer change. Undefined when there is nothing to write. STO-E001. */
  *write(tails: TailSet, range: SequenceRange, sealer: Sealer | undefined): Sliced<SegmentFile | undefined> {
    if (tails.tails.size === 0) return undefined;
    const isRemoved = (at: number): boolean => this.#removed.get(at);
    const keys = sealer === undefined ? [] : yield* keysOf([...tails.tails.keys()], this.#keys);
    let place = this.#segments.allocate();
    const removed = sealer === undefined ? [] : this.#removed.all(range.first, range.last);
    const sealing = sealer?.begin({ path: place.path, range, keys, removed });
    let chunks: number | undefined;
    if (sealing !== undefined) {
      chunks = yield* this.#writeElsewhere(tails, sealing);
      // The next open deletes the remains of the other file.
      if (chunks === undefined) place = this.#segments.allocate();
    }
    chunks ??= yield* writeSegment(place.path, range, (writer) =>
      writeTails(tails, writer, { keys: this.#keys, isRemoved }),
    );
    return chunks === 0 ? undefined : openWritten(place.path, place.id);
  }

  /** Gives the tails to another thread and waits for it. Returns the number of chunks; undefined when the thread died. */
  *#writeElsewhere(tails: TailSet, sealing: Sealing): Sliced<number | undefined> {
    this.elsewhere.begin(sealing);
    for (const piece of piecesOf(tails)) {
      sealing.take(piece);
      yield;
    }
    return yield* this.elsewhere.result(sealing);
  }
}
