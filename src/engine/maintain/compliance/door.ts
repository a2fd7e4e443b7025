// The engine's interface as its callers have it, for work that must take the path of every request.

import type { Input, LongMethod, Output, ReadMethod, WriteMethod } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';

export interface Door {
  read<M extends ReadMethod>(method: M, context: CallContext, input: Input<M>): Output<M>;
  write<M extends WriteMethod | LongMethod>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>>;
}
