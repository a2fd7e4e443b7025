// A sentence model of the operator as an Embedder, in a thread of its own like the built-in encoder.
import { openBuiltinEmbedder } from '../builtin/builtin.ts';
import { withQueryThread } from '../builtin/query-thread.ts';
import type { Embedder } from '../embedder.ts';
import type { LocalOptions } from '../local.ts';

export type OnnxOptions = Pick<LocalOptions, 'runtime' | 'log' | 'spare'>;

/**
 * Loads the model in `folder` (see model-folder.ts). Vectors carry the name of the folder and the digest of the model.
 * Rejects with EmbedError: retryable when loading was interrupted, otherwise it says why the model cannot be used.
 */
export async function openOnnxEmbedder(folder: string, { runtime, log, spare }: OnnxOptions = {}): Promise<Embedder> {
  const open = (queriesOnly: boolean) =>
    openBuiltinEmbedder({
      ...{ runtime, log, queriesOnly, share: spare?.shares[queriesOnly ? 1 : 0] },
      thread: entry(),
      threadData: { folder },
    });
  const model = open(false);
  try {
    await model.load();
  } catch (error) {
    await model.close();
    throw error;
  }
  return withQueryThread(model, { open: () => open(true), spare });
}

/** The thread's entry file: TypeScript in the sources, JavaScript once built. */
function entry(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
}
