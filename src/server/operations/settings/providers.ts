// Providers: services with models, their addresses and keys.
import { EngineError } from '../../../engine/base/errors.ts';
import { PROVIDER_KEY_CHARS_MAX, PROVIDER_URL_CHARS_MAX } from '../../../engine/base/limits.ts';
import type { Context } from '../../context.ts';
import { checkedBaseUrl } from '../../models/base-url.ts';
import { probe } from '../../models/probe.ts';
import { PROVIDER_KINDS, type ProviderKind, USUAL_URL } from '../../models/roles.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, type Place, pageOf, readPage } from '../page.ts';
import { described, Type } from '../type.ts';
import { ModelName, ProviderId, ProviderOutput, providerView, Region, refuseHosted } from './view.ts';

const SCOPE = 'providers';

export const providersList = defineOperation({
  name: 'list_providers',
  summary: 'List the providers of models, those of the start options first.',
  description: 'Their keys are not shown.',
  example: {},
  needs: 'read',
  on: 'deployment',
  reach: 'deployment',
  mutates: false,
  paged: true,
  input: Type.Object(PAGE_INPUT),
  output: Type.Object({
    providers: Type.Array(ProviderOutput, { description: 'The providers of the page.' }),
    ...PAGE_OUTPUT,
  }),
  http: [{ verb: 'GET', path: '/settings/providers' }],
  async run(input, { services, warnings }) {
    const page = readPage(input, SCOPE, warnings);
    const all = services.providers
      .list()
      .map((provider, at, { length }) => ({ provider, place: placeAt(length - at) }));
    const { items, total, nextCursor } = pageOf(all.toReversed(), page, ({ place }) => place, SCOPE);
    return { providers: items.map(({ provider }) => providerView(provider, services)), total, nextCursor };
  },
});

/** Providers have an order of their own, which stands where lists have times. */
function placeAt(timeMs: number): Place {
  return { timeMs, id: '' };
}

export const providerPut = defineOperation({
  name: 'set_provider',
  summary: 'Make a provider, or replace its settings.',
  description:
    'The key is sealed and never shown again. Without `api_key` the key stays, if kind and host stay; members that are absent keep their values.',
  example: { id: 'local', kind: 'ollama', base_url: 'http://127.0.0.1:11434' },
  needs: 'admin',
  on: 'deployment',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    id: ProviderId,
    kind: Type.Enum([...PROVIDER_KINDS], {
      description: 'Interface of the provider: openai, anthropic, ollama, openai_compatible, or mock for tests.',
    }),
    apiKey: Type.Optional(
      Type.String({
        maxLength: PROVIDER_KEY_CHARS_MAX,
        description: 'Key that the server proves itself with; blank or absent: the key that it has stays.',
      }),
    ),
    baseUrl: Type.Optional(
      Type.String({
        maxLength: PROVIDER_URL_CHARS_MAX,
        description:
          "Address of the interface, http or https, with its version (`/v1`); the default is the one that it has, or the kind's usual one.",
      }),
    ),
    region: Type.Optional(Region),
    enabled: Type.Optional(
      Type.Boolean({ description: 'Whether it may be called; the default is the value that it has, or true.' }),
    ),
  }),
  output: Type.Object({
    ...ProviderOutput.properties,
    created: Type.Boolean({ description: 'Whether the provider is new.' }),
  }),
  errors: ['VAL-E001', 'AUT-E006', 'LIM-E002'],
  http: [
    {
      verb: 'PUT',
      path: '/settings/providers/{id}',
      successStatus: ({ created }) => (created ? 201 : 200),
      otherStatuses: { 201: 'The provider is new.' },
    },
  ],
  async run({ id, kind, apiKey, baseUrl, region, enabled }, { services, principal }) {
    refuseHosted(services);
    const wanted = {
      id,
      kind,
      apiKey: keyOf(apiKey),
      baseUrl: await addressOf({ id, kind, baseUrl }, services),
      region,
      enabled,
    };
    const { provider, isNew } = await services.providers.put(wanted, principal.actor);
    return { ...providerView(provider, services), created: isNew };
  },
});

function keyOf(apiKey: string | undefined): string | undefined {
  const key = apiKey?.trim();
  if (key === undefined || key === '') return undefined;
  // The message must not quote it.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new EngineError('VAL-E001', '`api_key` must be printable ASCII characters without spaces', {
      details: [{ field: 'api_key', issue: 'not a key' }],
    });
  return key;
}

async function addressOf(
  { id, kind, baseUrl }: { readonly id: string; readonly kind: ProviderKind; readonly baseUrl: string | undefined },
  { providers, outgoing }: Context['services'],
): Promise<string> {
  if (kind === 'mock') {
    if (baseUrl === undefined || baseUrl === '') return '';
    throw badUrl('a mock has no `base_url`');
  }
  if (baseUrl !== undefined && baseUrl !== '') return checkedBaseUrl(baseUrl, outgoing);
  const before = providers.find(id);
  const kept = before?.kind === kind ? before.baseUrl : USUAL_URL[kind];
  if (kept === undefined) throw badUrl('`base_url` is required for the kind openai_compatible');
  return kept;
}

function badUrl(message: string): EngineError {
  return new EngineError('VAL-E001', message, { details: [{ field: 'base_url', issue: message }] });
}

export const providerDelete = defineOperation({
  name: 'delete_provider',
  summary: 'Delete a provider with its key.',
  description: 'A provider whose model has a role cannot be deleted.',
  example: { id: 'local' },
  needs: 'admin',
  on: 'deployment',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({ id: ProviderId }),
  output: Type.Object({ deleted: Type.Literal(true, { description: 'Always true.' }) }),
  errors: ['LLM-E003', 'LLM-E004', 'AUT-E006'],
  http: [{ verb: 'DELETE', path: '/settings/providers/{id}' }],
  async run({ id }, { services, principal }) {
    refuseHosted(services);
    await services.providers.remove(id, principal.actor);
    return { deleted: true as const };
  },
});

export const providerTest = defineOperation({
  name: 'test_provider',
  summary: 'Ask a provider for its models, or a model for a word or a vector.',
  description: 'The question is made by the server; no text of a memory is sent.',
  example: { id: 'local', model: 'llama3.2' },
  needs: 'admin',
  on: 'deployment',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    id: ProviderId,
    model: Type.Optional(described(ModelName, 'Model to ask; the default asks the provider for its models.')),
  }),
  output: Type.Object({
    ok: Type.Boolean({ description: 'Whether the provider answered as it should.' }),
    latencyMs: Type.Number({ description: 'Time until the answer, in milliseconds.' }),
    error: Type.Optional(Type.String({ description: 'The failure, in words.' })),
  }),
  errors: ['LLM-E003', 'AUT-E006'],
  http: [{ verb: 'POST', path: '/settings/providers/{id}/test' }],
  async run({ id, model }, { services, principal }) {
    refuseHosted(services);
    const provider = services.providers.get(id);
    const startedMs = performance.now();
    let failed: string | undefined;
    try {
      services.providers.callable(id);
      await probe(provider, model, services);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      failed = error.message;
    }
    const latencyMs = Math.round((performance.now() - startedMs) * 10) / 10;
    await services.control.commit((change) =>
      change.audit({
        event: 'provider.tested',
        actor: principal.actor,
        subject: '',
        details: { provider_id: id, ok: failed === undefined },
      }),
    );
    return { ok: failed === undefined, latencyMs, error: failed };
  },
});
