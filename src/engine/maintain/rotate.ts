import type { CallContext, MemoryCalls } from '../calls.ts';
import { EngineError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { rotatePlan } from '../write/plans.ts';
import type { WriteQueue } from '../write/queue.ts';

/** `memory`: new blobs without a user are sealed under a new version of the memory's blob key; old ones keep theirs. */
export async function rotateKeys(
  { queue }: { readonly store: Store; readonly queue: WriteQueue },
  context: CallContext,
  input: MemoryCalls['rotateKeys']['input'],
): Promise<MemoryCalls['rotateKeys']['output']> {
  if (input.scope !== 'memory') throw new EngineError('SYS-E002', 'the master key is rotated for all shards at once');
  return queue.push('rotateKeys', rotatePlan, context, input);
}
