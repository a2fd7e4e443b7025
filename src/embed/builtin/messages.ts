// What the encoder's thread and its owner say to each other.
import type { RuntimeName } from './runtime.ts';

export type Priority = 'query' | 'backlog';

export type ToThread =
  | { readonly kind: 'embed'; readonly batch: number; readonly priority: Priority; readonly texts: readonly string[] }
  /** Nobody waits for this batch any more; it is not answered. */
  | { readonly kind: 'drop'; readonly batch: number };

export type FromThread =
  /** Said once, first; without it comes `failed`, and the thread ends. */
  | { readonly kind: 'loaded'; readonly runtime: RuntimeName; readonly notices: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string }
  /** One vector a text; their buffers are transferred. */
  | { readonly kind: 'vectors'; readonly batch: number; readonly vectors: readonly (Float32Array | undefined)[] };
