// Messages between the encoder's thread and its owner.
import type { RuntimeName } from './runtime.ts';

export type Priority = 'query' | 'backlog';

export type ToThread =
  | { readonly kind: 'embed'; readonly batch: number; readonly priority: Priority; readonly texts: readonly string[] }
  /** The batch is cancelled and will not be answered. */
  | { readonly kind: 'drop'; readonly batch: number };

export type FromThread =
  /** The thread's first message. If loading fails, it sends `failed` instead and ends. */
  | {
      readonly kind: 'loaded';
      /** Name and length of the vectors, where the owner does not know them. */
      readonly name: string | undefined;
      readonly dimensions: number | undefined;
      readonly runtime: RuntimeName;
      readonly notices: readonly string[];
    }
  | { readonly kind: 'failed'; readonly reason: string }
  /** It rests on purpose, although it owes answers. */
  | { readonly kind: 'resting' }
  /** One vector per text; their buffers are transferred. */
  | { readonly kind: 'vectors'; readonly batch: number; readonly vectors: readonly (Float32Array | undefined)[] };
