// The built-in encoder as a scenario wants it: as it is, over vectors of an earlier run, or with drawn ones.
import { join } from 'node:path';
import { openBuiltinEmbedder } from '../../src/embed/builtin/builtin.ts';
import type { Embedder } from '../../src/embed/embedder.ts';
import { drawing, drawnVectors } from './drawn-vectors.ts';
import { keeping } from './kept-vectors.ts';
import type { EmbedderOptions } from './server.ts';

/** Resolves when it is loaded. */
export async function openEncoder({ runtime, folder }: EmbedderOptions): Promise<Embedder> {
  const encoder = openBuiltinEmbedder({ cacheFolder: join(folder, 'models'), runtime });
  await encoder.load();
  return encoder;
}

/** Closes the encoder when it is closed. */
export async function embedderOver(
  encoder: Embedder,
  { folder, grains, drawnFrom }: EmbedderOptions,
): Promise<Embedder> {
  if (grains === 'encoded') return encoder;
  return grains === 'kept'
    ? keeping(encoder, folder)
    : drawing(encoder, await drawnVectors(encoder, folder, drawnFrom));
}
