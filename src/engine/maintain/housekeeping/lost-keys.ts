// Gives a memory that opens but has lost its index key a new one. The index is then rebuilt from the log.
import type { Store } from '../../store/store.ts';
import { renewIndexKeyPlan } from '../../write/plans.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { inSlices } from './slices.ts';

const CONTEXT = { memory: 0, partition: 0, actor: 'system', requestId: 'maintenance' } as const;

/** Resolves to the damaged memories that a rebuild from now on repairs, dropped ones included. */
export async function renewLostKeys({
  store,
  queue,
}: {
  readonly store: Store;
  readonly queue: WriteQueue;
}): Promise<readonly number[]> {
  for (const memory of await inSlices(withLostKey(store))) {
    store.damage.note(memory, 'its index key is missing');
    await queue.push('renewIndexKey', renewIndexKeyPlan, CONTEXT, { memory });
  }
  return [...store.damage.memories()].filter((memory) => !store.holds(memory) || store.hasIndexKey(memory) === true);
}

function* withLostKey(store: Store): Generator<void, number[], void> {
  const lost: number[] = [];
  for (const memory of [...store.memoryNumbers()]) {
    if (store.hasIndexKey(memory) === false) lost.push(memory);
    yield;
  }
  return lost;
}
