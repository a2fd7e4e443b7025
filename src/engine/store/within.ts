import type { CallContext } from '../calls/context.ts';
import type { AccessView } from '../govern/access/access.ts';
import type { Grain } from '../grain/grain.ts';
import type { Memory } from './memory.ts';

/** False when the grain is outside the caller's namespace or user binding. It does not exist for that caller. */
export function isWithin(context: CallContext, grain: Pick<Grain, 'fields'>): boolean {
  if (context.namespace !== undefined && grain.fields['namespace'] !== context.namespace) return false;
  return context.userId === undefined || grain.fields['user_id'] === context.userId;
}

/** The part of a memory that a caller sees. If every member is absent, it sees the whole memory. */
export interface Binding {
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  /** The namespaces that access tuples let the caller view. */
  readonly view?: AccessView | undefined;
}

export function bindingOf({ governed }: Memory, context: CallContext): Binding {
  const { namespace, userId } = context;
  return { namespace, userId, view: governed.viewFor(context, 'viewer') };
}

export function isBound({ namespace, userId, view }: Binding): boolean {
  return namespace !== undefined || userId !== undefined || view !== undefined;
}

/** False when access tuples keep the grain from the caller. */
export function isViewed({ view }: Binding, { fields: { namespace } }: Pick<Grain, 'fields'>): boolean {
  return view === undefined || view.has(typeof namespace === 'string' ? namespace : '');
}
