// A chunk that goes into a merge, as every index codec sees it.
import type { ChunkSource } from '../files/section.ts';

export interface MergeInput {
  readonly source: ChunkSource;
  readonly docCount: number;
  /** New doc of each old one, ascending; -1 for one that is dropped. */
  readonly docMap: Int32Array;
}

/** The value of `docMap` for a doc that is dropped. */
export const DROPPED = -1;
/** Small steps between two yields of a merge or a seal: some hundred microseconds. */
export const SLICE_STEPS = 4_096;
