// The typed client of Granary: all that the package `granary-client` exports.
export type { Turn } from './batches.ts';
export type { Input, Item, Output, PagedInput, PagedOperation, Scope } from './calls.ts';
export {
  ConflictError,
  ConnectionError,
  GranaryError,
  InvalidRequestError,
  LimitError,
  NotFoundError,
  PermissionError,
  ScopeError,
  ServerError,
  TimeoutError,
} from './errors.ts';
export type { DeploymentOperation, GrainType, MemoryEvent, MemoryOperation } from './gen/operations.ts';
export { Granary } from './granary.ts';
export type { Json, JsonObject } from './json.ts';
export type { BatchResult, ContextInput, ForgetInput, Memory, NewGrain, TurnsResult } from './memory.ts';
export type { StreamFrame } from './sse.ts';
export type { EventStep, EventsInput } from './streams.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
