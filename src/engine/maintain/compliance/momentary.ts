// A temporary memory with the settings of another, dropped again with its keys. Canaries live there: they pass the same
// queue, log, keys and indexes as everything else, and no read of a real memory finds them.
import { randomInt } from 'node:crypto';
import { MEMORY_NUMBER_MOMENTARY } from '../../base/limits.ts';
import type { CallContext } from '../../calls/context.ts';
import type { MemorySettings } from '../../calls/memory.ts';
import type { Store } from '../../store/store.ts';
import type { Door } from './door.ts';

const NUMBERS = 0x7fff_0000;

/** Runs `work` in such a memory, and drops it whether or not `work` succeeds. */
export async function inMomentaryMemory<T>(
  { store, door }: { readonly store: Store; readonly door: Door },
  { settings, requestId }: { readonly settings: Omit<MemorySettings, 'number'>; readonly requestId: string },
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const number = freeNumber(store);
  const context: CallContext = { memory: number, partition: 0, actor: 'system', requestId };
  store.momentary.set(number, store.log.nextSequence);
  try {
    await door.write('attachMemory', context, { settings: { ...settings, number } });
    return await work(context);
  } finally {
    if (store.holds(number)) await door.write('dropMemory', context, {});
    else store.momentary.delete(number);
  }
}

/** Drops those that a crash left behind. */
export async function dropLeftBehind({ store, door }: { readonly store: Store; readonly door: Door }): Promise<void> {
  for (const number of [...store.memoryNumbers()])
    if (number >= MEMORY_NUMBER_MOMENTARY && !store.momentary.has(number))
      await door.write('dropMemory', { memory: number, partition: 0, actor: 'system', requestId: 'left-behind' }, {});
}

/**
 * A number that was never given before. A collision has a chance of one in two billion, and the check of the log's
 * state rules out a live one.
 */
function freeNumber(store: Store): number {
  for (;;) {
    const number = MEMORY_NUMBER_MOMENTARY + randomInt(NUMBERS);
    if (!store.holds(number) && !store.dropPending.has(number) && !store.momentary.has(number)) return number;
  }
}
