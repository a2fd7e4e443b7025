// A change of the segments that is written but not true yet: its state entries go into one transaction, then `commit`.
import type { Sequence } from '../log/log.ts';
import type { StateEntry } from './standing.ts';

export interface SegmentChange {
  /** Names the change to `commit` and `abandon`. */
  readonly id: number;
  readonly kind: 'seal' | 'merge' | 'purge' | 'drop' | 'compact' | 'reset';
  /**
   * What to write in one transaction. Made when first read, and true of the segments as they are then: read it just before the
   * append, and commit or abandon this change before the state of another is read.
   */
  readonly state: readonly StateEntry[];
  /** What `sealedSequence` will be. */
  readonly sealedSequence: Sequence;
}
