// The providers and models that the options of the start name: --model-url, --rerank-url, --embedding-url and their
// neighbours. They are the first assignments; an administrator can make others while the server runs.
import type { Config } from '../config.ts';
import { type Assignment, OWN_MODELS, type Provider, type Role } from './roles.ts';

export type ModelOptions = Pick<
  Config,
  | 'modelUrl'
  | 'model'
  | 'modelKey'
  | 'modelRegion'
  | 'rerankUrl'
  | 'rerankModel'
  | 'rerankKey'
  | 'embeddingUrl'
  | 'embeddingModel'
  | 'embeddingDimensions'
  | 'embeddingKey'
>;

export interface StartModels {
  readonly providers: readonly Provider[];
  readonly assignments: Readonly<Partial<Record<Role, Assignment>>>;
}

const IDS = { model: 'start-model', rerank: 'start-rerank', embedding: 'start-embedding' } as const;

/** Names that providers of an administrator may not have. */
export const START_IDS: readonly string[] = [...Object.values(IDS), OWN_MODELS];

/**
 * A language model becomes that of chat and hyde. Extraction and consolidation change what is stored, and cost a call for
 * each write, so they have no model before an administrator says so.
 */
export function startModels(options: ModelOptions): StartModels {
  const { modelUrl, model, modelKey, rerankUrl, rerankModel, rerankKey } = options;
  const { embeddingUrl, embeddingModel, embeddingKey, embeddingDimensions: dimensions, modelRegion } = options;
  const providers: Provider[] = [];
  const assignments: Partial<Record<Role, Assignment>> = {};
  const provider = (id: string, baseUrl: string, apiKey: string | undefined): string => {
    providers.push({
      id,
      kind: 'openai_compatible',
      baseUrl,
      apiKey,
      region: modelRegion,
      enabled: true,
      readOnly: true,
    });
    return id;
  };
  if (modelUrl !== undefined && model !== undefined) {
    const id = provider(IDS.model, withVersion(modelUrl), modelKey);
    assignments.chat = { provider: id, model };
    assignments.hyde = { provider: id, model };
  }
  const rerankBase = rerankUrl === undefined ? modelUrl && withVersion(modelUrl) : withoutSlash(rerankUrl);
  if (rerankModel !== undefined && rerankBase !== undefined) {
    // The language model's key is only for its own host.
    const key = rerankKey ?? (rerankUrl === undefined ? modelKey : undefined);
    assignments.rerank = { provider: provider(IDS.rerank, rerankBase, key), model: rerankModel };
  }
  if (embeddingUrl !== undefined && embeddingModel !== undefined) {
    const id = provider(IDS.embedding, withVersion(embeddingUrl), embeddingKey);
    assignments.embedding = { provider: id, model: embeddingModel, dimensions };
  }
  return { providers, assignments };
}

function withVersion(url: string): string {
  return `${withoutSlash(url).replace(/\/v1$/, '')}/v1`;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
