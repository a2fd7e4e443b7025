// The drop of a memory that does not open any more: its token key is lost, and with it all that a plan could read of it.
import type { MemoryCalls } from '../calls/calls.ts';
import { planDropped, planDropShut } from './attach.ts';
import type { WritePlan } from './queue.ts';

interface Shut {
  readonly memory: number;
  /** Keys of its users and scopes. */
  readonly named: readonly number[];
}

/** To be queued as no memory's: the queue opens the one that a write is of. */
export const dropShutPlan: WritePlan<Shut, MemoryCalls['dropMemory']['output']> = {
  settled: true,
  plan: (group, _memory, _context, { memory, named }) =>
    group.store.holds(memory) ? planDropShut(group, memory, named) : planDropped(group, memory),
};
