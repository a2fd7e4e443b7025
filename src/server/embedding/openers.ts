// From the configuration to the embedders that it allows.
import { join } from 'node:path';
import { openLocalEmbedder } from '../../embed/local.ts';
import { openNgramEmbedder } from '../../embed/ngram.ts';
import { openRemoteEmbedder } from '../../embed/remote/remote.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import type { Openers } from './embedders.ts';

/** Where the built-in model lies once it has been converted; it may be deleted, and is made again. */
export const MODEL_FOLDER = 'models';

export function openersOf(config: Config, log: Logger): Openers {
  const { embeddingUrl, embeddingModel, embeddingKey, embeddingDimensions } = config;
  return {
    builtin: () => openLocalEmbedder({ cacheFolder: join(config.dataDir, MODEL_FOLDER), log }),
    ngram: () => Promise.resolve({ embedder: openNgramEmbedder() }),
    ...(embeddingUrl === undefined || embeddingModel === undefined
      ? {}
      : {
          remote: async () => ({
            embedder: await openRemoteEmbedder({
              baseUrl: embeddingUrl,
              model: embeddingModel,
              ...(embeddingKey === undefined ? {} : { apiKey: embeddingKey }),
              ...(embeddingDimensions === undefined ? {} : { dimensions: embeddingDimensions }),
            }),
          }),
        }),
  };
}
