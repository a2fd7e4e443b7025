// The events of a chat turn, as its client gets them.
import type { JsonObject } from '../../shards/protocol.ts';
import type { Person } from '../imports/holds.ts';

export type ChatEvent =
  | { readonly event: 'text'; readonly data: { readonly delta: string } }
  | { readonly event: 'tool_call'; readonly data: JsonObject }
  | { readonly event: 'tool_result'; readonly data: JsonObject }
  | {
      readonly event: 'progress';
      readonly data: { readonly stage: 'recall' | 'generate' | 'tool'; readonly detail: string };
    }
  | { readonly event: 'done'; readonly data: JsonObject }
  | { readonly event: 'error'; readonly data: { readonly code: string; readonly message: string } };

/** A turn before its stream begins. */
export interface OpenedChat {
  /** The idempotency key of its request. */
  readonly key: string | undefined;
  /** Lets the next turn of the thread begin; absent without a thread. */
  readonly release?: (() => void) | undefined;
  /** Whether the model was shown texts of a person or a scope that was just erased; then the turn keeps nothing more. */
  readonly erased?: ((whose: Person) => boolean) | undefined;
  readonly events: (signal: AbortSignal) => AsyncIterable<ChatEvent>;
}
