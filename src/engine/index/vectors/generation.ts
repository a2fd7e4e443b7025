// A memory's vectors by one embedder: rows in heap, the graph that follows them, what they cover, and what of them is in no
// file yet. Files are the business of others (vector-files.ts).
import { assert } from '../../assert.ts';
import { VECTORS_UNSEALED_MAX } from '../../limits.ts';
import type { Sliced } from '../section.ts';
import type { Arena } from './arena.ts';
import { Coverage, type Range } from './coverage.ts';
import { GrainRows } from './grain-rows.ts';
import { Graph } from './graph.ts';
import { writeHalves } from './half-float.ts';
import type { Searched } from './search.ts';

/** Which embedder made a vector, and how long it is. Another name or length is another generation. */
export interface EmbedderStamp {
  readonly name: string;
  readonly dimensions: number;
}

/** Steps of one work, some 50 ms: whoever does it has other things to do, and asks again. */
const WORK_STEPS_MAX = 128;
/** Rows that one step adds to a graph: about a third of a millisecond. */
const GRAPH_STEP_ROWS = 4;
/** Grains that one step copies. */
const COPY_STEP_GRAINS = 256;
/** Dead rows of which everything is copied to new rows: this many, and this share. */
const DEAD_ROWS_MIN = 64;
const DEAD_SHARE_MAX = 0.25;

export class Generation implements Searched {
  readonly stamp: EmbedderStamp;
  readonly coverage = new Coverage();
  /** What of it is in files. */
  readonly sealed = new Coverage();
  readonly #arena: Arena;
  /** Rows above which there is a graph. */
  readonly #scanMax: number;
  #grains: GrainRows;
  #graph: Graph | undefined;
  #graphed = 0;
  /** Grains that are in no file as they are now, each with the number of the change that made it so. */
  readonly #unsealed = new Map<number, number>();
  #changes = 0;
  /** While rows are copied: grains that were taken out meanwhile. */
  #removedMeanwhile: number[] | undefined;
  /** Under way: rows are copied, and then follow into a new graph. */
  #tidying: Sliced<void> | undefined;
  #isDropped = false;

  constructor(stamp: EmbedderStamp, arena: Arena, scanMax: number) {
    this.stamp = stamp;
    this.#arena = arena;
    this.#scanMax = scanMax;
    this.#grains = new GrainRows(arena, stamp.dimensions);
  }

  get grains(): GrainRows {
    return this.#grains;
  }

  get graph(): Graph | undefined {
    return this.#graph;
  }

  /** Rows below this are in the graph; those of a grain all or none. */
  get graphed(): number {
    return this.#graphed;
  }

  /** Heap beside the arena's pages. */
  get bytes(): number {
    return this.#grains.bytes + (this.#graph?.bytes ?? 0) + this.#unsealed.size * 48;
  }

  get unsealedCount(): number {
    return this.#unsealed.size;
  }

  /** True when a file has all that is known, the ranges too. */
  get isSealed(): boolean {
    return this.#unsealed.size === 0 && this.unsealedRanges().length === 0;
  }

  /**
   * Ranges that the next file is to have, apart from each other: what was covered since the last one, and single grains that
   * got vectors though their range was in a file already. Ascending.
   */
  unsealedRanges(): Range[] {
    const ranges = new Coverage();
    for (const range of this.coverage.ranges) ranges.add(range);
    for (const range of this.sealed.ranges) ranges.remove(range);
    for (const ordinal of this.#unsealed.keys())
      if (this.sealed.has(ordinal)) ranges.add({ after: ordinal - 1, upTo: ordinal });
    return [...ranges.ranges];
  }

  /** Grains of a range that are in no file as they are now, ascending, and the change that made each of them so. */
  unsealedIn({ after, upTo }: Range): (readonly [ordinal: number, change: number])[] {
    return [...this.#unsealed].filter(([ordinal]) => ordinal > after && ordinal <= upTo).sort((a, b) => a[0] - b[0]);
  }

  /** A file has `ordinal` as `change` left it. */
  wasSealed(ordinal: number, change: number): void {
    if (this.#unsealed.get(ordinal) === change) this.#unsealed.delete(ordinal);
  }

  /** Puts a grain's vectors in the place of those that it had. They are in no file yet. */
  add(ordinal: number, chunks: readonly Float32Array[]): void {
    assert(this.#unsealed.size < VECTORS_UNSEALED_MAX, 'vectors are sealed in time');
    this.remove(ordinal);
    chunks.forEach((chunk, number) => {
      const { halves, at } = this.#grains.append(ordinal, number === 0);
      writeHalves(chunk, halves, at);
    });
    this.#unsealed.set(ordinal, ++this.#changes);
  }

  /** A row as a file has it. */
  load(ordinal: number, halves: Uint16Array, at: number, isFirst: boolean): void {
    if (isFirst) this.remove(ordinal);
    const place = this.#grains.append(ordinal, isFirst);
    place.halves.set(halves.subarray(at, at + this.stamp.dimensions), place.at);
  }

  /** Takes a grain out and overwrites its vectors. Their sketches stay in the graph's heap until it is made anew. */
  remove(ordinal: number): boolean {
    const { first, end } = this.#grains.remove(ordinal);
    for (let row = first; row < Math.min(end, this.#graphed); row++) this.#graph?.remove(row);
    this.#unsealed.delete(ordinal);
    if (end > first) this.#removedMeanwhile?.push(ordinal);
    return end > first;
  }

  /** Forgets the grains of a range, and that it was covered. */
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
   * Makes the rows anew, if anything was removed, and lets go of the graph, in which the sketches of what was removed still are:
   * until `work` has made another one, everything is scanned.
   */
  *purge(): Sliced<void> {
    if (this.#grains.dead === 0 && (this.#graph?.removed ?? 0) === 0) return;
    this.#tidying?.return();
    this.#tidying = undefined;
    this.#graph = undefined;
    this.#graphed = 0;
    yield* this.#copy(undefined);
  }

  /** Some of what is to be done to search faster or to hold less, or undefined when that is nothing. */
  work(): Sliced<void> | undefined {
    const { dead, count, live } = this.#grains;
    if (this.#tidying !== undefined || (dead >= DEAD_ROWS_MIN && dead > DEAD_SHARE_MAX * count))
      return this.#tidySome();
    if (this.#graphed < count && live > this.#scanMax) return this.#follow();
    return undefined;
  }

  drop(): void {
    this.#isDropped = true;
    this.#tidying?.return();
    this.#tidying = undefined;
    this.#grains.drop();
    this.#graph = undefined;
    this.#graphed = 0;
    this.#unsealed.clear();
  }

  /** Adds to the graph what it lacks. */
  *#follow(): Sliced<void> {
    this.#graph ??= Graph.make(this.stamp.dimensions);
    if (this.#graph === undefined) {
      // Without a graph everything is a scan; there is nothing to follow.
      this.#graphed = this.#grains.count;
      return;
    }
    for (let steps = 0; steps < WORK_STEPS_MAX && this.#graphed < this.#grains.count; steps++) {
      this.#graphed = addSome(this.#graph, this.#grains, this.#graphed);
      yield;
      if (this.#isDropped) return;
    }
  }

  *#tidySome(): Sliced<void> {
    this.#tidying ??= this.#copy(this.#graph);
    for (let steps = 0; steps < WORK_STEPS_MAX; steps++) {
      if (this.#tidying === undefined) return;
      if (this.#tidying.next().done === true) {
        this.#tidying = undefined;
        return;
      }
      yield;
    }
  }

  /** Copies everything to new rows and, if there was a graph, to a new one; until that is done the old ones serve. */
  *#copy(before: Graph | undefined): Sliced<void> {
    const from = this.#grains;
    const rowsBefore = from.count;
    const removed: number[] = [];
    this.#removedMeanwhile = removed;
    const fresh = new GrainRows(this.#arena, this.stamp.dimensions);
    try {
      let steps = 0;
      for (const row of from.firstRows()) {
        if (!from.isDead(row)) fresh.copy(from, row);
        if (++steps % COPY_STEP_GRAINS === 0) yield;
        if (this.#isDropped) return;
      }
      const isGraphed = before !== undefined && fresh.live > this.#scanMax;
      const graph = isGraphed ? Graph.make(this.stamp.dimensions) : undefined;
      let graphed = 0;
      while (graph !== undefined && graphed < fresh.count) {
        graphed = addSome(graph, fresh, graphed);
        yield;
        if (this.#isDropped) return;
      }
      // From here to the end nothing else runs. What came or went meanwhile is only known to the old rows.
      for (const ordinal of removed) {
        const { first, end } = fresh.remove(ordinal);
        for (let row = first; row < Math.min(end, graphed); row++) graph?.remove(row);
      }
      for (let row = rowsBefore; row < from.count; row++)
        if (!from.isDead(row) && !fresh.has(from.ordinalOf(row))) fresh.copy(from, row);
      this.#grains = fresh;
      this.#graph = graph;
      this.#graphed = graphed;
    } finally {
      this.#removedMeanwhile = undefined;
      if (this.#grains === fresh) from.drop();
      else fresh.drop();
    }
  }
}

/** Adds a few rows from `from` on, a grain whole, and gives the row after them. Dead rows are passed over. */
function addSome(graph: Graph, grains: GrainRows, from: number): number {
  let row = from;
  let added = 0;
  while (row < grains.count && added < GRAPH_STEP_ROWS) {
    if (grains.isDead(row)) {
      row += 1;
      added += 0.01;
      continue;
    }
    const end = grains.endOf(row);
    graph.add(grains.rows, row, end);
    added += end - row;
    row = end;
  }
  return row;
}
