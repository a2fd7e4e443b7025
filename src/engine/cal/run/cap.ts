// Applies a policy's cap on recalls to a query: no written limit may exceed it, and no answer holds more grains.
import { refuseLimit } from '../../govern/decide.ts';
import type { Recall } from '../ast.ts';

/** Throws POL-E013 if a written limit exceeds the cap. A default limit is lowered instead. */
export function checkWritten(
  { recent, stages }: Partial<Pick<Recall, 'recent' | 'stages'>>,
  { recallMax }: { readonly recallMax: number | null },
): void {
  const limits = stages?.flatMap((stage) => (stage.stage === 'limit' ? [stage.count] : [])) ?? [];
  for (const limit of recent === undefined ? limits : [recent, ...limits]) {
    const refusal = refuseLimit(recallMax, limit);
    if (refusal !== undefined) throw refusal;
  }
}

export function atMost(recallMax: number | null, count: number): number {
  return recallMax === null ? count : Math.min(recallMax, count);
}

/** Divides the cap of one recall over several sources: one grain for each in turn, while there is room. */
export function sharesOf(counts: readonly number[], recallMax: number | null): number[] {
  if (recallMax === null) return [...counts];
  const shares = counts.map(() => 0);
  for (let left = recallMax, gave = true; left > 0 && gave; ) {
    gave = false;
    for (const [i, count] of counts.entries()) {
      if (left === 0 || shares[i]! >= count) continue;
      shares[i]! += 1;
      left -= 1;
      gave = true;
    }
  }
  return shares;
}
