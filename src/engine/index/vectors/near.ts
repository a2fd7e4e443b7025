// The interface of candidate sources, which return rows that may be near a query: a comparison of all sketches, or a
// graph over them.
import type { Rows } from './arena.ts';

export interface Near {
  /** Rows that a search can name. */
  readonly count: number;
  /** Candidates that are requested first for each wanted hit. */
  readonly candidatesPerHit: number;
  /** A search ends when nearly all of the best came from this first part of the candidates, from 0 to 1. */
  readonly settledPart: number;
  /** Rows that are added in one slice of a work. */
  readonly stepRows: number;
  /** Removed rows whose sketches are still held. */
  readonly removed: number;
  /** Bytes beside the arena's pages. */
  readonly bytes: number;
  /**
   * The cost of selecting `candidates` rows and comparing the `share` of them that passes the filter, in sequentially
   * compared rows.
   */
  costOf(candidates: number, share: number): number;
  /** Adds the rows from `from` to `to` - 1, none of them twice. */
  add(rows: Rows, from: number, to: number): void;
  /** Marks the row as dead. It may still be returned. */
  remove(row: number): void;
  /** At most `count` rows whose sketches are near that of `query`, nearest first. */
  search(query: Float32Array, count: number): Uint32Array;
  /** Lets go of everything. */
  drop(): void;
}
