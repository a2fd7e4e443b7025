// The built-in encoder as a scenario wants it: as it is, over vectors of an earlier run, or with drawn ones.
import { join } from 'node:path';
import type { Embedder } from '../../src/embed/embedder.ts';
import { openLocalEmbedder } from '../../src/embed/local.ts';
import type { Spare } from '../../src/embed/spare.ts';
import { drawing, drawnVectors } from './drawn-vectors.ts';
import { keeping } from './kept-vectors.ts';
import type { EmbedderOptions } from './server.ts';

/** Resolves when it is loaded. `spare`: what a server leaves to it. */
export async function openEncoder({ runtime, precision, folder }: EmbedderOptions, spare?: Spare): Promise<Embedder> {
  const options = { cacheFolder: join(folder, 'models'), runtime, precision, spare };
  const { embedder, fallback } = await openLocalEmbedder(options);
  if (fallback !== undefined) throw new Error(fallback);
  return embedder;
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
