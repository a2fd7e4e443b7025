// Asks a provider something small, to learn whether it answers and how long its vectors are.
import { EmbedError } from '../../embed/embedder.ts';
import { openRemoteEmbedder } from '../../embed/remote/remote.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { EMBED_RESPONSE_BYTES_MAX, VECTOR_DIMENSIONS_MAX } from '../../engine/base/limits.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { LanguageModels } from './language.ts';
import type { ModelLists } from './model-lists.ts';
import type { Outgoing } from './outgoing.ts';
import { Reranker } from './reranker.ts';
import type { Provider } from './roles.ts';

const PROBE_MS = 20_000;

/** The length of a model's vectors. LLM-E003 for a provider without vectors, LLM-E002 for one that gives none. */
export async function vectorLength(provider: Provider, model: string, outgoing: Outgoing): Promise<number> {
  const { id, baseUrl, apiKey, kind } = provider;
  if (kind === 'mock' || kind === 'anthropic')
    throw new EngineError('LLM-E003', `providers of kind ${kind} have no models for embeddings`);
  try {
    const embedder = await openRemoteEmbedder({
      baseUrl,
      endpoint: `${baseUrl}/embeddings`,
      model,
      apiKey,
      timeoutMs: PROBE_MS,
      fetch: outgoing.fetcher(id, EMBED_RESPONSE_BYTES_MAX),
    });
    await embedder.close();
    if (embedder.dimensions <= VECTOR_DIMENSIONS_MAX) return embedder.dimensions;
  } catch (error) {
    if (!(error instanceof EmbedError)) throw error;
    throw new EngineError('LLM-E002', `the provider ${id} gave no vector of ${model}: ${error.message}`);
  }
  throw new EngineError('LLM-E003', `the vectors of ${model} are longer than ${VECTOR_DIMENSIONS_MAX} numbers`);
}

/** Resolves when the provider answers. Throws LLM-E002, LLM-E003. `model`: it is asked for a word or a vector. */
export async function probe(
  provider: Provider,
  model: string | undefined,
  parts: { readonly models: LanguageModels; readonly modelLists: ModelLists; readonly outgoing: Outgoing },
): Promise<void> {
  const signal = AbortSignal.timeout(PROBE_MS);
  if (model === undefined) {
    await parts.modelLists.ask(provider, signal);
    return;
  }
  const [capability] = capabilitiesOf(model);
  if (capability === 'embedding') {
    await vectorLength(provider, model, parts.outgoing);
    return;
  }
  if (capability === 'rerank') {
    await new Reranker(provider, model, parts.outgoing).order('word', ['a word', 'nothing'], PROBE_MS);
    return;
  }
  const choice = parts.models.resolve('extraction', { provider: provider.id, model });
  // No user's text, so no memory's policy.
  const messages = [{ role: 'user' as const, text: 'Answer with the word ok.' }];
  await parts.models.generateText(choice, {
    memory: {},
    persons: new Set(),
    messages,
    maxTokens: 16,
    signal,
    timeoutMs: PROBE_MS,
  });
}
