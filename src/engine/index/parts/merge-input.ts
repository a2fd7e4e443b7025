// A chunk as input of a merge, in the form that every index codec sees.
import type { ChunkSource } from '../files/section.ts';

export interface MergeInput {
  readonly source: ChunkSource;
  readonly docCount: number;
  /** The new doc of each old one, ascending; -1 for a dropped one. */
  readonly docMap: Int32Array;
}

/** The value of `docMap` for a doc that is dropped. */
export const DROPPED = -1;
/** Small steps between two yields of a merge or a seal: a few hundred microseconds. */
export const SLICE_STEPS = 4_096;
