// Converts a grain from the store into CAL's form.
import type { GrainView } from '../../calls/grain.ts';
import type { CalGrain } from '../output/grain.ts';

export function calGrain(view: GrainView, score: number): CalGrain {
  const { hash, grainType, fields, createdAtMs, namespace, userId, supersededBy } = view;
  return {
    hash,
    grainType,
    fields,
    createdAtMs,
    namespace,
    score,
    ...(userId === undefined ? {} : { userId }),
    ...(supersededBy === undefined ? {} : { supersededBy }),
  };
}
