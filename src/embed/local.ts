// The local embedder: the sentence encoder, or hashed n-grams if the encoder cannot load.
import { type BuiltinEmbedder, type BuiltinOptions, openBuiltinEmbedder } from './builtin/builtin.ts';
import { withQueryThread } from './builtin/query-thread.ts';
import { type Embedder, EmbedError } from './embedder.ts';
import { openNgramEmbedder } from './ngram.ts';
import type { Spare } from './spare.ts';

export type LocalOptions = Omit<BuiltinOptions, 'queriesOnly' | 'share'> & {
  /** The share of the processors that the backlog may take; absent: one core. */
  readonly spare?: Spare | undefined;
};

export interface LocalEmbedder {
  readonly embedder: Embedder;
  /** Why the fallback is in use; absent for the sentence encoder. */
  readonly fallback?: string | undefined;
}

/**
 * Loads the sentence encoder (0.3 to 2 s); if that is impossible, returns the fallback and the reason. Rejects with a
 * retryable EmbedError when loading was interrupted, so that a transient failure does not change the vectors' name.
 */
export async function openLocalEmbedder({ spare, ...options }: LocalOptions = {}): Promise<LocalEmbedder> {
  const open = (queriesOnly: boolean): BuiltinEmbedder =>
    openBuiltinEmbedder({ ...options, queriesOnly, share: spare?.shares[queriesOnly ? 1 : 0] });
  const builtin = open(false);
  try {
    await builtin.load();
    return {
      embedder: withQueryThread(builtin, { open: () => open(true), spare }),
    };
  } catch (error) {
    await builtin.close();
    if (!(error instanceof EmbedError) || error.retryable) throw error;
    return { embedder: openNgramEmbedder(), fallback: error.message };
  }
}
