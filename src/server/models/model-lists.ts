// The models of each provider: asked of it, kept for some minutes, and known by heart when it does not answer.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { MODEL_LIST_BYTES_MAX, MODEL_LIST_MAX, MODEL_NAME_CHARS_MAX } from '../../engine/base/limits.ts';
import { KNOWN_MODELS, type ModelInfo, modelInfo } from './capabilities.ts';
import type { Outgoing } from './outgoing.ts';
import type { Providers } from './providers.ts';
import { type Provider, ROLES } from './roles.ts';

const KEPT_MS = 600_000;
/** A provider that failed is asked again after this. */
const FAILED_MS = 30_000;
const LIST_MS = 10_000;

export interface ModelList {
  readonly models: readonly ModelInfo[];
  /** When the provider gave the list; undefined when it did not. */
  readonly askedAtMs: number | undefined;
}

interface Kept {
  readonly list: Promise<readonly ModelInfo[] | undefined>;
  readonly atMs: number;
  /** The answer of `list`. */
  made?: readonly ModelInfo[] | undefined;
  untilMs: number;
}

export class ModelLists {
  readonly #providers: Pick<Providers, 'assignments'>;
  readonly #outgoing: Pick<Outgoing, 'ask'>;
  readonly #nowMs: () => number;
  readonly #kept = new WeakMap<Provider, Kept>();

  constructor(parts: {
    readonly providers: Pick<Providers, 'assignments'>;
    readonly outgoing: Pick<Outgoing, 'ask'>;
    readonly nowMs: () => number;
  }) {
    this.#providers = parts.providers;
    this.#outgoing = parts.outgoing;
    this.#nowMs = parts.nowMs;
  }

  /** The models of a provider. Never rejects. One that is switched off is not asked. */
  async of(provider: Provider): Promise<ModelList> {
    const asked = provider.enabled && provider.kind !== 'mock' ? await this.#asked(provider) : undefined;
    if (asked === undefined) return { models: this.#known(provider), askedAtMs: undefined };
    return { models: asked.models, askedAtMs: asked.atMs };
  }

  /** When the list that is kept came from the provider. */
  keptAtMs(provider: Provider): number | undefined {
    const kept = this.#kept.get(provider);
    return kept?.made === undefined ? undefined : kept.atMs;
  }

  /** Asks now, and throws what goes wrong: LLM-E002, LLM-E003. */
  async ask(provider: Provider, signal: AbortSignal): Promise<readonly ModelInfo[]> {
    const models = await this.#read(provider, signal);
    const atMs = this.#nowMs();
    this.#kept.set(provider, { list: Promise.resolve(models), made: models, atMs, untilMs: atMs + KEPT_MS });
    return models;
  }

  async #asked(
    provider: Provider,
  ): Promise<{ readonly models: readonly ModelInfo[]; readonly atMs: number } | undefined> {
    let kept = this.#kept.get(provider);
    if (kept === undefined || kept.untilMs <= this.#nowMs()) {
      kept = this.#fresh(provider);
      this.#kept.set(provider, kept);
    }
    const models = await kept.list;
    return models === undefined ? undefined : { models, atMs: kept.atMs };
  }

  /** Callers that come meanwhile wait for the same answer. */
  #fresh(provider: Provider): Kept {
    const atMs = this.#nowMs();
    const list = this.#read(provider, AbortSignal.timeout(LIST_MS)).then(
      (models) => {
        kept.made = models;
        return models;
      },
      () => {
        kept.untilMs = this.#nowMs() + FAILED_MS;
        return undefined;
      },
    );
    const kept: Kept = { list, atMs, untilMs: atMs + KEPT_MS };
    return kept;
  }

  async #read(provider: Provider, signal: AbortSignal): Promise<readonly ModelInfo[]> {
    if (provider.kind === 'mock') return this.#known(provider);
    const answer = await this.#outgoing.ask({
      provider: provider.id,
      url: `${provider.baseUrl}/models${provider.kind === 'anthropic' ? '?limit=1000' : ''}`,
      method: 'GET',
      headers: { accept: 'application/json', ...authorization(provider) },
      signal,
      bytesMax: MODEL_LIST_BYTES_MAX,
    });
    const text = await answer.text();
    return modelsOf(provider, jsonOf(text));
  }

  /** The models known without asking: the usual ones of the kind, and those that roles have. */
  #known(provider: Provider): readonly ModelInfo[] {
    const assignments = this.#providers.assignments();
    const assigned = ROLES.flatMap((role) => {
      const one = assignments[role];
      return one?.provider === provider.id ? [one] : [];
    });
    const ids = new Set([...KNOWN_MODELS[provider.kind], ...assigned.map(({ model }) => model)]);
    return [...ids].map((id) => modelInfo(provider, id));
  }
}

/** The headers that prove who calls. */
export function authorization({ kind, apiKey }: Provider): Record<string, string> {
  if (kind === 'anthropic') return defined({ 'anthropic-version': '2023-06-01', 'x-api-key': apiKey });
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

/** Undefined for a text that is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `{data: [{id, …}]}`, as both interfaces have it. Members of other forms are left out. LLM-E002 for anything else. */
function modelsOf(provider: Provider, answer: unknown): readonly ModelInfo[] {
  const { data } = isObject(answer) ? answer : { data: undefined };
  if (!Array.isArray(data))
    throw new EngineError('LLM-E002', `the provider ${provider.id} gave no list of models: check its base_url`);
  const models = new Map<string, ModelInfo>();
  for (const item of data.slice(0, MODEL_LIST_MAX) as readonly unknown[]) {
    if (!isObject(item)) continue;
    const { id } = item;
    if (typeof id !== 'string' || id === '' || id.length > MODEL_NAME_CHARS_MAX || !id.isWellFormed()) continue;
    models.set(id, modelInfo(provider, id, windowOf(item)));
  }
  return [...models.values()];
}

/** Servers have several names for the tokens that a model reads. */
function windowOf(item: Readonly<Record<string, unknown>>): number | undefined {
  for (const name of ['context_window', 'context_length', 'max_model_len', 'max_context_length', 'max_input_tokens']) {
    const value = item[name];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
