// What names rows that may be near a query: all their sketches, compared one by one, or a graph over them.
import type { Rows } from './arena.ts';

export interface Near {
  /** Rows that a search can name. */
  readonly count: number;
  /** How many are asked for at first, for each that is wanted. */
  readonly candidatesPerHit: number;
  /** A search ends when nearly all of the best were named in this part of the candidates, from 0 to 1. */
  readonly settledPart: number;
  /** Rows that are added in one slice of a work. */
  readonly stepRows: number;
  /** Rows of whose sketches something is still held though they were removed. */
  readonly removed: number;
  /** Bytes beside the arena's pages. */
  readonly bytes: number;
  /** What it costs to name `candidates` rows and compare the `share` of them that a filter leaves, in rows compared one by one. */
  costOf(candidates: number, share: number): number;
  /** Adds the rows from `from` to `to` - 1, none of them for the second time. */
  add(rows: Rows, from: number, to: number): void;
  /** The row is dead: it need not be named any more, and may be. */
  remove(row: number): void;
  /** At most `count` rows whose sketches are near that of `query`, nearest first. */
  search(query: Float32Array, count: number): Uint32Array;
  /** Lets go of everything. */
  drop(): void;
}
