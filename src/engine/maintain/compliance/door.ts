// The engine as its callers have it, for what is to go the way that every request goes.

import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';

export interface Door {
  read<M extends keyof MemoryCalls>(
    method: M,
    context: CallContext,
    input: MemoryCalls[M]['input'],
  ): MemoryCalls[M]['output'];
  write<M extends keyof MemoryCalls>(
    method: M,
    context: CallContext,
    input: MemoryCalls[M]['input'],
  ): Promise<MemoryCalls[M]['output']>;
}
