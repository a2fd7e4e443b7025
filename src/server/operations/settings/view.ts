// Providers, models and assignments as clients see them. A provider's key is never among it.
import { EngineError } from '../../../engine/base/errors.ts';
import { MODEL_NAME_CHARS_MAX, PROVIDER_ID_CHARS_MAX } from '../../../engine/base/limits.ts';
import type { Services } from '../../context.ts';
import { CAPABILITIES, type ModelInfo } from '../../models/capabilities.ts';
import { type Assignment, PROVIDER_KINDS, type Provider, ROLES, type Role } from '../../models/roles.ts';
import { seconds } from '../seconds.ts';
import { plainText } from '../text.ts';
import { described, type Static, Type } from '../type.ts';

/** The form of ids: they stand in paths and messages. */
export const ProviderId = Type.String({
  minLength: 1,
  maxLength: PROVIDER_ID_CHARS_MAX,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'Id of the provider.',
});

export const ModelName = plainText({ minLength: 1, maxLength: MODEL_NAME_CHARS_MAX });

export const ProviderOutput = Type.Object({
  id: Type.String({ description: 'Id of the provider.' }),
  kind: Type.Enum([...PROVIDER_KINDS], { description: 'Interface of the provider.' }),
  baseUrl: Type.String({ description: 'Address of its interface; empty for a mock.' }),
  region: Type.Optional(Type.String({ description: 'Region where it processes what it is sent.' })),
  apiKeySet: Type.Boolean({ description: 'Whether the server has a key for it.' }),
  apiKeyLast4: Type.Optional(
    Type.String({ description: 'Last four characters of that key; absent for a key that is short.' }),
  ),
  enabled: Type.Boolean({ description: 'Whether it may be called.' }),
  modelsCachedAt: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Time at which it last listed its models, in Unix seconds; null when no such list is kept.',
  }),
  readOnly: Type.Boolean({ description: 'Whether it comes from the options of the start, and cannot be changed.' }),
});

/** Keys are longer; of a short one, four characters would be too much. */
const KEY_SHOWN_CHARS_MIN = 12;

export function providerView(provider: Provider, services: Services): Static<typeof ProviderOutput> {
  const { id, kind, baseUrl, region, apiKey, enabled, readOnly } = provider;
  const keptAtMs = services.modelLists.keptAtMs(provider);
  return {
    id,
    kind,
    baseUrl,
    region,
    apiKeySet: apiKey !== undefined,
    apiKeyLast4: apiKey === undefined || apiKey.length < KEY_SHOWN_CHARS_MIN ? undefined : apiKey.slice(-4),
    enabled,
    modelsCachedAt: keptAtMs === undefined ? null : seconds(keptAtMs),
    readOnly: readOnly || isHosted(services),
  };
}

export const ModelOutput = Type.Object({
  id: Type.String({ description: 'Name of the model at its provider.' }),
  provider: Type.String({ description: 'Id of the provider.' }),
  capabilities: Type.Array(Type.Enum([...CAPABILITIES]), {
    description: 'The roles of the model, as its name tells; empty for models of images or sound.',
  }),
  contextWindow: Type.Optional(Type.Integer({ description: 'Tokens that it reads at once, where that is known.' })),
  dimensions: Type.Optional(Type.Integer({ description: 'Length of its vectors, where that is known.' })),
});

export function modelView(
  { id, capabilities, contextWindow, dimensions }: ModelInfo,
  provider: string,
): Static<typeof ModelOutput> {
  return { id, provider, capabilities: [...capabilities], contextWindow, dimensions };
}

const AssignedModel = Type.Object({
  provider: Type.String({ description: 'Id of the provider.' }),
  model: Type.String({ description: 'Name of the model.' }),
});

const USES: Readonly<Record<Role, string>> = {
  chat: 'Answers in chats and harnesses, and orders hits for llm_rerank.',
  extraction: 'Finds facts in texts; null: the rules do.',
  embedding: 'Makes vectors for memories that name no vector_backend; null: the one of the start options does.',
  rerank: 'Orders the hits of a recall.',
  hyde: 'Imagines an answer, for the vector of a question.',
  consolidation: 'Proposes how to merge what rules cannot decide.',
};

export const AssignmentsOutput = Type.Object({
  assignments: Type.Object(
    Object.fromEntries(
      ROLES.map((role) => [role, Type.Union([AssignedModel, Type.Null()], { description: USES[role] })]),
    ) as Record<Role, ReturnType<typeof assigned>>, // one member for each role
    { description: 'Model of each role; null: none.' },
  ),
  readOnly: Type.Boolean({ description: 'Whether assignments cannot be changed in this deployment.' }),
});

function assigned() {
  return Type.Union([AssignedModel, Type.Null()]);
}

export function assignmentsView(services: Services): Static<typeof AssignmentsOutput> {
  const now = services.providers.assignments();
  const shown = (one: Assignment | null) => (one === null ? null : { provider: one.provider, model: one.model });
  return {
    assignments: {
      chat: shown(now.chat),
      extraction: shown(now.extraction),
      embedding: shown(now.embedding),
      rerank: shown(now.rerank),
      hyde: shown(now.hyde),
      consolidation: shown(now.consolidation),
    },
    readOnly: isHosted(services),
  };
}

/** True in a deployment whose settings its operator keeps for himself. */
export function isHosted({ config }: Pick<Services, 'config'>): boolean {
  return config.deployment === 'hosted';
}

/** AUT-E006 in such a deployment. */
export function refuseHosted(
  services: Pick<Services, 'config'>,
  reason = 'the settings of a hosted deployment are read-only',
): void {
  if (isHosted(services)) throw new EngineError('AUT-E006', reason);
}

export const Region = described(
  plainText({ minLength: 1, maxLength: 64 }),
  'Region where it processes what it is sent, as policies name regions; the default is the one that it has, or none.',
);
