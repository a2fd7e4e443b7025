// Makes the embedders that the configuration and the role embedding allow.
import { join } from 'node:path';
import { openLocalEmbedder } from '../../embed/local.ts';
import { openNgramEmbedder } from '../../embed/ngram.ts';
import { openOnnxEmbedder } from '../../embed/onnx/onnx.ts';
import { openRemoteEmbedder, remoteName } from '../../embed/remote/remote.ts';
import type { Spare } from '../../embed/spare.ts';
import { defined } from '../../engine/base/defined.ts';
import { EMBED_RESPONSE_BYTES_MAX } from '../../engine/base/limits.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { destinationOf } from '../models/egress.ts';
import type { Outgoing } from '../models/outgoing.ts';
import type { Providers } from '../models/providers.ts';
import { type Assignment, OWN_MODELS, type Provider } from '../models/roles.ts';
import { DEFAULT_BACKEND, modelBackend, type VectorBackend } from './backends.ts';
import type { OpenEarlier, OpenedEmbedder, Openers } from './embedders.ts';
import { type LocalModels, MODELS_FOLDER } from './local-models.ts';

type Parts = { readonly providers: Providers; readonly outgoing: Outgoing; readonly localModels: LocalModels };
/** `spare`: what embedders of this process may take of its processors. */
type LocalParts = Parts & { readonly spare: Spare };

/** The model of a provider that the role embedding has. */
export interface VectorModel {
  readonly provider: Provider;
  readonly assigned: Assignment;
}

/** Undefined when the role has no model that can be called. */
export function vectorModelOf(providers: Providers): VectorModel | undefined {
  const assigned = providers.assignmentOf('embedding');
  const provider = assigned === null ? undefined : providers.find(assigned.provider);
  return assigned === null || provider?.enabled !== true ? undefined : { provider, assigned };
}

/**
 * The backend of memories that name none. A model that an administrator assigned serves them; without one, the options of
 * the start say which.
 */
export function ownBackend(
  providers: Providers,
  { embedder, embedderModel = '' }: Pick<Config, 'embedder' | 'embedderModel'>,
  { own = embedderModel }: Pick<LocalModels, 'own'>,
): VectorBackend {
  const started = embedder === 'onnx' ? modelBackend(own) : embedder;
  if (!providers.isSet('embedding')) return started;
  const assigned = providers.assignmentOf('embedding');
  if (assigned?.provider === OWN_MODELS) return modelBackend(assigned.model);
  if (assigned !== null) return 'remote';
  return started === 'remote' ? DEFAULT_BACKEND : started;
}

export function openersOf(config: Config, log: Logger, parts: LocalParts): Openers {
  const model = vectorModelOf(parts.providers);
  const cacheFolder = join(config.dataDir, MODELS_FOLDER);
  const { spare } = parts;
  return defined({
    'use-lite-int8': () => openLocalEmbedder({ cacheFolder, log, spare, precision: 'int8' }),
    'use-lite': () => openLocalEmbedder({ cacheFolder, log, spare, precision: 'fp32' }),
    ngram: () => Promise.resolve({ embedder: openNgramEmbedder() }),
    model: (name: string) => {
      const folder = parts.localModels.folderOf(name);
      return folder === undefined
        ? undefined
        : async () => ({ embedder: await openOnnxEmbedder(folder, { log, spare }) });
    },
    remote: model === undefined ? undefined : () => opened(model, parts),
  });
}

async function opened({ provider, assigned }: VectorModel, { outgoing }: Parts): Promise<OpenedEmbedder> {
  const { id, baseUrl, apiKey } = provider;
  const embedder = await openRemoteEmbedder({
    baseUrl,
    endpoint: `${baseUrl}/embeddings`,
    model: assigned.model,
    apiKey,
    dimensions: assigned.dimensions,
    fetch: outgoing.fetcher(id, EMBED_RESPONSE_BYTES_MAX),
  });
  return { embedder, destination: destinationOf(provider) };
}

/** Models that the role had before: their vectors answer until those of the new one are complete. */
export function openEarlierOf(parts: Parts): OpenEarlier {
  return (name) => {
    const assigned = parts.providers.earlierEmbedding.find(
      ({ model, dimensions = 0 }) => remoteName(model, dimensions) === name,
    );
    const provider = assigned === undefined ? undefined : parts.providers.find(assigned.provider);
    if (assigned === undefined || provider?.enabled !== true) return undefined;
    return () => opened({ provider, assigned }, parts);
  };
}
