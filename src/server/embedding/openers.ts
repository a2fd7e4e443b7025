// Makes the embedders that the configuration and the role embedding allow.
import { join } from 'node:path';
import { openLocalEmbedder } from '../../embed/local.ts';
import { openNgramEmbedder } from '../../embed/ngram.ts';
import { openRemoteEmbedder, remoteName } from '../../embed/remote/remote.ts';
import { defined } from '../../engine/base/defined.ts';
import { EMBED_RESPONSE_BYTES_MAX } from '../../engine/base/limits.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { destinationOf } from '../models/egress.ts';
import type { Outgoing } from '../models/outgoing.ts';
import type { Providers } from '../models/providers.ts';
import type { Assignment, Provider } from '../models/roles.ts';
import type { OpenEarlier, OpenedEmbedder, Openers, VectorBackend } from './embedders.ts';

/** Folder of the converted built-in model. It may be deleted; it is created again. */
export const MODEL_FOLDER = 'models';

type Parts = { readonly providers: Providers; readonly outgoing: Outgoing };

/** The model of the role embedding, as it is now. */
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
export function ownBackend(providers: Providers, { embedder }: Pick<Config, 'embedder'>): VectorBackend {
  if (!providers.isSet('embedding')) return embedder;
  if (providers.assignmentOf('embedding') !== null) return 'remote';
  return embedder === 'remote' ? 'builtin' : embedder;
}

export function openersOf(config: Config, log: Logger, parts: Parts): Openers {
  const model = vectorModelOf(parts.providers);
  return defined({
    builtin: () => openLocalEmbedder({ cacheFolder: join(config.dataDir, MODEL_FOLDER), log }),
    ngram: () => Promise.resolve({ embedder: openNgramEmbedder() }),
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
