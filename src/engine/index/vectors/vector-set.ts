// A memory's vector set of one embedder: rows in heap, the sketches for them, the covered ranges, and the parts that
// are in no file yet. vector-files.ts handles files.
import { assert } from '../../base/assert.ts';
import { VECTORS_UNSEALED_MAX } from '../../base/limits.ts';
import type { Sliced } from '../files/section.ts';
import type { Arena } from './arena.ts';
import { Coverage, type Range } from './coverage.ts';
import { GrainRows } from './grain-rows.ts';
import { Graph } from './graph.ts';
import { writeHalves } from './half-float.ts';
import type { Near } from './near.ts';
import type { Searched } from './search.ts';
import { SketchList } from './sketch-list.ts';

/** The embedder of a vector, and the number of dimensions. Another name or number means another vector set. */
export interface EmbedderStamp {
  readonly name: string;
  readonly dimensions: number;
}

/** Steps of one piece of work, some 50 ms. The caller has other things to do and calls again. */
const WORK_STEPS_MAX = 128;
/** Grains that one step copies. */
const COPY_STEP_GRAINS = 256;
/** Everything is copied to new rows when at least this many, and this share, of the rows are dead. */
const DEAD_ROWS_MIN = 64;
const DEAD_SHARE_MAX = 0.25;

/** It covers the rows below `upTo`; a grain's rows are covered together. */
interface Followed {
  readonly near: Near;
  upTo: number;
}

/** Numbers of rows from which a list of sketches, and then a graph, selects candidates. */
export interface NearFrom {
  readonly scanMax: number;
  readonly listMax: number;
}

export class VectorSet implements Searched {
  readonly stamp: EmbedderStamp;
  readonly coverage = new Coverage();
  /** Ranges that are in files. */
  readonly sealed = new Coverage();
  readonly #arena: Arena;
  readonly #nearFrom: NearFrom;
  #grains: GrainRows;
  #serving: Followed | undefined;
  /** A graph that will replace the current list. */
  #coming: Followed | undefined;
  /** Grains whose present vectors are in no file, each with the number of the change. */
  readonly #unsealed = new Map<number, number>();
  #changes = 0;
  /** Grains that were removed while rows are being copied. */
  #removedMeanwhile: number[] | undefined;
  /** The running copy of rows and sketches. */
  #tidying: Sliced<void> | undefined;
  #isDropped = false;

  constructor(stamp: EmbedderStamp, arena: Arena, nearFrom: NearFrom) {
    this.stamp = stamp;
    this.#arena = arena;
    this.#nearFrom = nearFrom;
    this.#grains = new GrainRows(arena, stamp.dimensions);
  }

  get grains(): GrainRows {
    return this.#grains;
  }

  get near(): Near | undefined {
    return this.#serving?.near;
  }

  get followed(): number {
    return this.#serving?.upTo ?? 0;
  }

  /** Heap beside the arena's pages. */
  get bytes(): number {
    const near = (this.#serving?.near.bytes ?? 0) + (this.#coming?.near.bytes ?? 0);
    return this.#grains.bytes + near + this.#unsealed.size * 48;
  }

  get unsealedCount(): number {
    return this.#unsealed.size;
  }

  /** True when files have everything, the ranges included. */
  get isSealed(): boolean {
    return this.#unsealed.size === 0 && this.unsealedRanges().length === 0;
  }

  /**
   * Disjoint ranges for the next file: what was covered since the last one, and single grains that got vectors although
   * a file has their range. Ascending.
   */
  unsealedRanges(): Range[] {
    const ranges = new Coverage();
    for (const range of this.coverage.ranges) ranges.add(range);
    for (const range of this.sealed.ranges) ranges.remove(range);
    for (const ordinal of this.#unsealed.keys())
      if (this.sealed.has(ordinal)) ranges.add({ after: ordinal - 1, upTo: ordinal });
    return [...ranges.ranges];
  }

  /** Grains of a range whose present vectors are in no file, ascending, with the change of each. */
  unsealedIn({ after, upTo }: Range): (readonly [ordinal: number, change: number])[] {
    return [...this.#unsealed].filter(([ordinal]) => ordinal > after && ordinal <= upTo).sort((a, b) => a[0] - b[0]);
  }

  /** Notes that a file has `ordinal` as `change` left it. */
  wasSealed(ordinal: number, change: number): void {
    if (this.#unsealed.get(ordinal) === change) this.#unsealed.delete(ordinal);
  }

  /** Replaces a grain's vectors. The new ones are in no file yet. */
  add(ordinal: number, chunks: readonly Float32Array[]): void {
    assert(this.#unsealed.size < VECTORS_UNSEALED_MAX, 'vectors are sealed in time');
    this.remove(ordinal);
    chunks.forEach((chunk, number) => {
      const { halves, at } = this.#grains.append(ordinal, number === 0);
      writeHalves(chunk, halves, at);
    });
    this.#unsealed.set(ordinal, ++this.#changes);
  }

  /** Adds a row from a file. */
  load(ordinal: number, halves: Uint16Array, at: number, isFirst: boolean): void {
    if (isFirst) this.remove(ordinal);
    const place = this.#grains.append(ordinal, isFirst);
    place.halves.set(halves.subarray(at, at + this.stamp.dimensions), place.at);
  }

  /** Removes a grain and overwrites its vectors. In a graph's heap their sketches stay until the graph is rebuilt. */
  remove(ordinal: number): boolean {
    const { first, end } = this.#grains.remove(ordinal);
    removeRows(this.#serving, first, end);
    removeRows(this.#coming, first, end);
    this.#unsealed.delete(ordinal);
    if (end > first) this.#removedMeanwhile?.push(ordinal);
    return end > first;
  }

  /** Drops the grains of a range and its coverage. */
  forget(range: Range): void {
    this.coverage.remove(range);
    this.sealed.remove(range);
    const rows = [...this.#grains.firstRows()];
    for (const row of rows) {
      const ordinal = this.#grains.ordinalOf(row);
      if (ordinal > range.after && ordinal <= range.upTo) this.remove(ordinal);
    }
  }

  /**
   * Drops the graph if it still holds sketches of removed grains. Until `work` has built another one, searches get
   * fewer candidates from it, or none.
   */
  purge(): void {
    this.#stopTidying();
    if ((this.#coming?.near.removed ?? 0) > 0) this.#coming = undefined;
    if ((this.#serving?.near.removed ?? 0) > 0) this.#serving = undefined;
  }

  /** One piece of pending work that makes searches faster or memory smaller, or undefined when there is none. */
  work(): Sliced<void> | undefined {
    const { dead, count, live } = this.#grains;
    const { scanMax, listMax } = this.#nearFrom;
    if (this.#tidying !== undefined || (dead >= DEAD_ROWS_MIN && dead > DEAD_SHARE_MAX * count))
      return this.#tidySome();
    if (live <= scanMax) return undefined;
    this.#serving ??= { near: new SketchList(this.#arena, this.stamp.dimensions), upTo: 0 };
    if (this.#serving.upTo < count) return this.#follow(this.#serving);
    if (live <= listMax || this.#serving.near instanceof Graph) return undefined;
    const graph = this.#coming?.near ?? Graph.make(this.stamp.dimensions);
    // usearch has no binary for this machine: the list stays in use.
    if (graph === undefined) return undefined;
    this.#coming ??= { near: graph, upTo: 0 };
    return this.#follow(this.#coming);
  }

  drop(): void {
    this.#isDropped = true;
    this.#stopTidying();
    this.#grains.drop();
    this.#serving?.near.drop();
    this.#serving = undefined;
    this.#coming = undefined;
    this.#unsealed.clear();
  }

  #stopTidying(): void {
    this.#tidying?.return();
    this.#tidying = undefined;
  }

  /** Adds some of the missing rows. A complete graph replaces the list. */
  *#follow(followed: Followed): Sliced<void> {
    const isThere = (): boolean => this.#serving === followed || this.#coming === followed;
    for (let steps = 0; steps < WORK_STEPS_MAX && followed.upTo < this.#grains.count; steps++) {
      addSome(followed, this.#grains);
      yield;
      if (!isThere()) return;
    }
    if (this.#coming !== followed || followed.upTo < this.#grains.count) return;
    this.#serving?.near.drop();
    this.#serving = followed;
    this.#coming = undefined;
  }

  *#tidySome(): Sliced<void> {
    this.#tidying ??= this.#copy();
    for (let steps = 0; steps < WORK_STEPS_MAX; steps++) {
      if (this.#tidying === undefined) return;
      if (this.#tidying.next().done === true) {
        this.#tidying = undefined;
        return;
      }
      yield;
    }
  }

  /** Copies everything to new rows and makes their sketches again. The old ones serve until that is done. */
  *#copy(): Sliced<void> {
    const from = this.#grains;
    const rowsBefore = from.count;
    const removed: number[] = [];
    this.#removedMeanwhile = removed;
    const { dimensions } = this.stamp;
    const fresh = new GrainRows(this.#arena, dimensions);
    let followed: Followed | undefined;
    try {
      let steps = 0;
      for (const row of from.firstRows()) {
        if (!from.isDead(row)) fresh.copy(from, row);
        if (++steps % COPY_STEP_GRAINS === 0) yield;
        if (this.#isDropped) return;
      }
      const graph = this.#serving?.near instanceof Graph ? Graph.make(dimensions) : undefined;
      if (this.#serving !== undefined) followed = { near: graph ?? new SketchList(this.#arena, dimensions), upTo: 0 };
      while (followed !== undefined && followed.upTo < fresh.count) {
        addSome(followed, fresh);
        yield;
        if (this.#isDropped) return;
      }
      // No other code runs from here to the end. Only the old rows know of changes made meanwhile.
      for (const ordinal of removed) {
        const { first, end } = fresh.remove(ordinal);
        removeRows(followed, first, end);
      }
      for (let row = rowsBefore; row < from.count; row++)
        if (!from.isDead(row) && !fresh.has(from.ordinalOf(row))) fresh.copy(from, row);
      this.#grains = fresh;
      this.#serving?.near.drop();
      this.#serving = followed;
      this.#coming = undefined;
    } finally {
      this.#removedMeanwhile = undefined;
      if (this.#grains === fresh) from.drop();
      else {
        fresh.drop();
        followed?.near.drop();
      }
    }
  }
}

function removeRows(followed: Followed | undefined, first: number, end: number): void {
  if (followed === undefined) return;
  for (let row = first; row < Math.min(end, followed.upTo); row++) followed.near.remove(row);
}

/** Adds a few rows, in whole grains, without dead ones. */
function addSome(followed: Followed, grains: GrainRows): void {
  const { near } = followed;
  let row = followed.upTo;
  let added = 0;
  while (row < grains.count && added < near.stepRows) {
    if (grains.isDead(row)) {
      row += 1;
      added += 0.01;
      continue;
    }
    const end = grains.endOf(row);
    near.add(grains.rows, row, end);
    added += end - row;
    row = end;
  }
  followed.upTo = row;
}
