// A grain as the store shows it, as CAL sees it.
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
