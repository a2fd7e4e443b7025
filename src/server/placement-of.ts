// What the router asks of a blob that is imported into a memory of several partitions: the fields that place it.

import { toApi } from '../engine/grain/api/output.ts';
import { openGrain } from '../engine/grain/codec/blob.ts';
import { GrainError, toEngineError } from '../engine/grain/error.ts';
import type { PlacementOf } from '../shards/gather/tools.ts';
import type { JsonObject } from '../shards/protocol.ts';

/** Throws FMT-E001 for what is not a blob. */
export const placementOf: PlacementOf = (blob) => {
  try {
    const grain = openGrain(blob);
    return { grainType: grain.type, fields: toApi(grain) as JsonObject }; // what an answer shows is JSON
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'import');
    throw error;
  }
};
