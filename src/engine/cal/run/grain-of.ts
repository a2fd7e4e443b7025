// Converts a grain from the store into CAL's form.
import { defined } from '../../base/defined.ts';
import type { GrainView } from '../../calls/grain.ts';
import type { CalGrain } from '../output/grain.ts';

export function calGrain(view: GrainView, score: number): CalGrain {
  const { hash, grainType, fields, text, createdAtMs, namespace, userId, supersededBy, isSuperseded } = view;
  return defined({
    hash,
    grainType,
    fields,
    text,
    createdAtMs,
    namespace,
    score,
    userId,
    supersededBy,
    isSuperseded,
  });
}
