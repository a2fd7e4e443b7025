import { defined } from '../../../engine/base/defined.ts';
import type { ErasureProof } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';

/** Erases a user of the call's memory. `reason` takes precedence over the x-reason header. */
export function eraseUser(context: Context, userId: string, reason: string | undefined): Promise<ErasureProof> {
  const { actor, memoryIds } = context.principal;
  const by = { actor, everywhere: memoryIds === undefined, reason: reason ?? context.reason };
  return context.services.erasures.user(context.memory, userId, by, () =>
    context.call('eraseUser', { userId }, defined({ reason })),
  );
}
