// Makes the embedders that the configuration allows.
import { join } from 'node:path';
import { openLocalEmbedder } from '../../embed/local.ts';
import { openNgramEmbedder } from '../../embed/ngram.ts';
import { openRemoteEmbedder } from '../../embed/remote/remote.ts';
import { defined } from '../../engine/base/defined.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import type { Openers } from './embedders.ts';

/** Folder of the converted built-in model. It may be deleted; it is created again. */
export const MODEL_FOLDER = 'models';

export function openersOf(config: Config, log: Logger): Openers {
  const { embeddingUrl, embeddingModel, embeddingKey, embeddingDimensions } = config;
  const remote =
    embeddingUrl === undefined || embeddingModel === undefined
      ? undefined
      : async () => ({
          embedder: await openRemoteEmbedder({
            baseUrl: embeddingUrl,
            model: embeddingModel,
            apiKey: embeddingKey,
            dimensions: embeddingDimensions,
          }),
        });
  return defined({
    builtin: () => openLocalEmbedder({ cacheFolder: join(config.dataDir, MODEL_FOLDER), log }),
    ngram: () => Promise.resolve({ embedder: openNgramEmbedder() }),
    remote,
  });
}
