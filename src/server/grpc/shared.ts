// State shared by all connections and calls of a front.
import type { ByteBudget } from '../byte-budget.ts';
import type { Expiry } from '../expiry.ts';
import type { Inflation } from './inflation.ts';

export interface Shared {
  readonly expiry: Expiry;
  readonly inflation: Inflation;
  /** Budgets for requests and long answers, shared with the other listeners. */
  readonly requests: ByteBudget;
  readonly answers: ByteBudget;
  /** Budget for what connections could not send, other than long answers. */
  readonly unread: ByteBudget;
  /** Number of looks so far, one every GRPC_LOOK_MS: a clock that is free to read. */
  looks: number;
  readonly requestIdOf: (given: string | undefined) => string;
  readonly onError: ((error: unknown) => void) | undefined;
}
