import type { CallContext } from '../calls/context.ts';
import type { Grain } from '../grain/grain.ts';

/** False when the grain lies outside the caller's namespace or user binding. It does not exist for that caller. */
export function isWithin(context: CallContext, grain: Pick<Grain, 'fields'>): boolean {
  if (context.namespace !== undefined && grain.fields['namespace'] !== context.namespace) return false;
  return context.userId === undefined || grain.fields['user_id'] === context.userId;
}
