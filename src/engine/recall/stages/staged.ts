// The result of a recall's stages.

import type { CensusMetadata, ExhaustiveMetadata } from '../../calls/recall.ts';
import type { StageHit } from './hit.ts';

export interface Staged {
  /** At most the query's limit, best first. */
  readonly hits: readonly StageHit[];
  readonly sources?: readonly StageHit[];
  /** Set if the hits have more sources than an answer holds. */
  readonly sourcesCut?: true;
  readonly entities?: readonly string[];
  readonly exhaustive?: ExhaustiveMetadata;
  readonly census?: CensusMetadata;
  readonly sessionCoverageRatio?: number;
}
