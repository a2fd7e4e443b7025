// The capabilities of a model, by its name: lists of providers seldom tell them.
import { ECHO, type Provider, type ProviderKind } from './roles.ts';

export const CAPABILITIES = ['chat', 'embedding', 'rerank', 'extraction', 'ner'] as const;
export type Capability = (typeof CAPABILITIES)[number];

export interface ModelInfo {
  readonly id: string;
  readonly capabilities: readonly Capability[];
  /** Tokens that it reads at once. */
  readonly contextWindow?: number | undefined;
  /** Length of its vectors. */
  readonly dimensions?: number | undefined;
}

const RERANKS = /rerank|ranker/i;
const EMBEDS = /embed|(^|[/_-])(bge|gte|e5|minilm|uae|jina-clip)([/_.:-]|$)|all-minilm/i;
/** Models for images, sound and moderation. */
const OTHERS = /whisper|tts|dall-e|(^|[/_-])(image|audio|sora|realtime|moderation|transcribe|veo|imagen)([/_.-]|$)/i;

const DIMENSIONS: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
  'nomic-embed-text': 768,
  'mxbai-embed-large': 1024,
  'all-minilm': 384,
  'bge-m3': 1024,
};

/** Models of which a service is known to have some, for when it does not tell. */
export const KNOWN_MODELS: Readonly<Record<ProviderKind, readonly string[]>> = {
  openai: ['gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini', 'text-embedding-3-large', 'text-embedding-3-small'],
  anthropic: ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'],
  // The models of a self-hosted server are not known in advance.
  ollama: [],
  openai_compatible: [],
  mock: [ECHO],
};

/** `window`: what the provider said about the tokens. */
export function modelInfo({ kind }: Pick<Provider, 'kind'>, id: string, window?: number): ModelInfo {
  // Servers of one's own add a tag.
  const dimensions = DIMENSIONS[id.replace(/^.*\//, '').replace(/:.*$/, '')];
  const contextWindow = window ?? (kind === 'anthropic' ? 200_000 : undefined);
  const capabilities = capabilitiesOf(id);
  return { id, capabilities, contextWindow: capabilities.includes('chat') ? contextWindow : undefined, dimensions };
}

export function capabilitiesOf(id: string): readonly Capability[] {
  if (RERANKS.test(id)) return ['rerank'];
  if (EMBEDS.test(id)) return ['embedding'];
  return OTHERS.test(id) ? [] : ['chat', 'extraction'];
}
