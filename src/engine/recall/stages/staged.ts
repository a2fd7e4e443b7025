// What the stages of a recall leave.

import type { CensusMetadata, ExhaustiveMetadata } from '../../calls/recall.ts';
import type { StageHit } from './hit.ts';

export interface Staged {
  /** At most the query's limit, the best first. */
  readonly hits: readonly StageHit[];
  readonly sources?: readonly StageHit[];
  /** There when the hits have more sources than an answer. */
  readonly sourcesCut?: true;
  readonly entities?: readonly string[];
  readonly exhaustive?: ExhaustiveMetadata;
  readonly census?: CensusMetadata;
  readonly sessionCoverageRatio?: number;
}
