// Fields of an imported blob by which the router chooses a partition.

import { toApi } from '../engine/grain/api/output.ts';
import { openGrain } from '../engine/grain/codec/blob.ts';
import { GrainError, toEngineError } from '../engine/grain/error.ts';
import type { PlacementOf } from '../shards/gather/tools.ts';
import type { JsonObject } from '../shards/protocol.ts';

/** Throws FMT-E001 for an invalid blob. */
export const placementOf: PlacementOf = (blob) => {
  try {
    const grain = openGrain(blob);
    return { grainType: grain.type, fields: toApi(grain) as JsonObject }; // an answer holds JSON
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'import');
    throw error;
  }
};
