// The local embedder: the sentence encoder, or hashed n-grams if the encoder cannot load.
import { type BuiltinOptions, openBuiltinEmbedder } from './builtin/builtin.ts';
import { withQueryThread } from './builtin/query-thread.ts';
import { type Embedder, EmbedError } from './embedder.ts';
import { openNgramEmbedder } from './ngram.ts';

export interface LocalEmbedder {
  readonly embedder: Embedder;
  /** Why the fallback is in use; absent for the sentence encoder. */
  readonly fallback?: string | undefined;
}

/**
 * Loads the sentence encoder (0.3 to 2 s); if that is impossible, returns the fallback and the reason. Rejects with a
 * retryable EmbedError when loading was interrupted, so that a transient failure does not change the vectors' name.
 */
export async function openLocalEmbedder(options: BuiltinOptions = {}): Promise<LocalEmbedder> {
  const builtin = openBuiltinEmbedder(options);
  try {
    await builtin.load();
    return {
      embedder: withQueryThread(builtin, { open: () => openBuiltinEmbedder({ ...options, queriesOnly: true }) }),
    };
  } catch (error) {
    await builtin.close();
    if (!(error instanceof EmbedError) || error.retryable) throw error;
    return { embedder: openNgramEmbedder(), fallback: error.message };
  }
}
