// Drops a memory that does not open any more: its token key is lost, and a plan can read nothing of it.
import type { MemoryCalls } from '../calls/calls.ts';
import { planDropClosed, planDropped } from './attach.ts';
import type { WritePlan } from './job.ts';

interface ClosedMemory {
  readonly memory: number;
  /** Keys of its users and scopes. */
  readonly named: readonly number[];
}

/** Queue it without a memory: the queue would open the memory of a write. */
export const dropClosedPlan: WritePlan<ClosedMemory, MemoryCalls['dropMemory']['output']> = {
  settled: true,
  plan: (group, _memory, _context, { memory, named }) =>
    group.store.holds(memory) ? planDropClosed(group, memory, named) : planDropped(group, memory),
};
