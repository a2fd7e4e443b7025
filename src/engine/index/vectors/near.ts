// The interface of candidate sources, which return rows that may be near a query: a list that compares all sketches, or
// a graph over them.
import type { Rows } from './arena.ts';

export interface Near {
  /** Number of rows that a search can return. */
  readonly count: number;
  /** Candidates for each wanted hit in the first request. */
  readonly candidatesPerHit: number;
  /** A search ends when nearly all of the best hits came from this first part of the candidates, from 0 to 1. */
  readonly settledPart: number;
  /** Rows that background work adds in one step. */
  readonly stepRows: number;
  /** Removed rows whose sketches are still held. */
  readonly removed: number;
  /** Bytes beside the arena's pages. */
  readonly bytes: number;
  /**
   * The cost of selecting `candidates` rows and comparing the `share` of them that passes the filter. The unit is one
   * row of a sequential scan.
   */
  costOf(candidates: number, share: number): number;
  /** Adds the rows from `from` to `to` - 1. Each row is added once. */
  add(rows: Rows, from: number, to: number): void;
  /** Marks the row as dead. It may still be returned. */
  remove(row: number): void;
  /** At most `count` rows whose sketches are near that of `query`, nearest first. */
  search(query: Float32Array, count: number): Uint32Array;
  /** Releases all memory. */
  drop(): void;
}
