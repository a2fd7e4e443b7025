// The part of a row for requests that usually go to a worker undecoded.
import type { Services } from '../context.ts';
import type { MemoryRecord } from '../control/records.ts';

/** True for a request that the main thread must read, although the row's requests usually go to a worker undecoded. */
export type OnMainThread = ((bytes: Uint8Array, services: Services) => boolean) | undefined;

/**
 * Bytes that the main thread prepares for an undecoded request and sends to the worker with it, for the row's
 * `withSidecar`; possibly none. `here` means that the main thread must read this request itself.
 */
export type Sidecar = (
  bytes: Uint8Array,
  asked: { readonly services: Services; readonly memory: MemoryRecord; readonly deadlineMs: number },
) => 'here' | undefined | Promise<Uint8Array>;
