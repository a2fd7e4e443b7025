// The uses of models, and the kinds of services that have them (service contract, section 20).

export const ROLES = ['chat', 'extraction', 'embedding', 'rerank', 'hyde', 'consolidation'] as const;
export type Role = (typeof ROLES)[number];

export const PROVIDER_KINDS = ['openai', 'anthropic', 'ollama', 'openai_compatible', 'mock'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** The address of a kind that has a usual one. A `mock` has none: it calls nobody. */
export const USUAL_URL: Readonly<Partial<Record<ProviderKind, string>>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  ollama: 'http://127.0.0.1:11434/v1',
};

/** The model of kind `mock`: it answers with the last message of the user. */
export const ECHO = 'echo';

/**
 * Stands for a provider where a role has a sentence model of the operator (embedding/local-models.ts): it runs in this
 * process.
 */
export const OWN_MODELS = 'onnx';

/** A provider that can be called. */
export interface Provider {
  readonly id: string;
  readonly kind: ProviderKind;
  /** With the version of the interface and without a final slash: `https://api.openai.com/v1`. Empty for `mock`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  /** Where it processes what it is sent, as policies name regions. */
  readonly region?: string | undefined;
  readonly enabled: boolean;
  /** It comes from the options of the start and cannot be changed while the server runs. */
  readonly readOnly: boolean;
}

/** A role's model. */
export interface Assignment {
  readonly provider: string;
  readonly model: string;
  /** Length of the vectors of a model for embeddings. */
  readonly dimensions?: number | undefined;
}

/** The address that requests go to: without a final slash, and with `/v1` where it names a host alone. */
export function completeUrl(text: string): string {
  const bare = text.replace(/\/+$/, '');
  return URL.canParse(bare) && new URL(bare).pathname === '/' ? `${bare}/v1` : bare;
}
