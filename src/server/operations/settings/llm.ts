// The model of chats, and how it is asked.
import type { Services } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { described, type Static, Type } from '../type.ts';
import { isHosted, ModelName, ProviderId, refuseHosted } from './view.ts';

const Output = Type.Object({
  provider: Type.Union([Type.String(), Type.Null()], { description: 'Provider of the model; null: none.' }),
  model: Type.Union([Type.String(), Type.Null()], { description: 'Model that answers in chats; null: none.' }),
  temperature: Type.Union([Type.Number(), Type.Null()], {
    description: "Temperature of its answers, from 0 to 2; null: the provider's own.",
  }),
  maxTokens: Type.Union([Type.Integer(), Type.Null()], {
    description: "Tokens of an answer at most; null: the provider's own limit.",
  }),
  enabled: Type.Boolean({ description: 'Whether a model answers in chats.' }),
  readOnly: Type.Boolean({ description: 'Whether this cannot be changed in this deployment.' }),
});

function view(services: Services): Static<typeof Output> {
  const { chat } = services.providers;
  const assigned = services.providers.assignmentOf('chat');
  return {
    provider: assigned?.provider ?? null,
    model: assigned?.model ?? null,
    temperature: chat.temperature ?? null,
    maxTokens: chat.maxTokens ?? null,
    enabled: assigned !== null && chat.enabled !== false,
    readOnly: isHosted(services),
  };
}

export const llm = defineOperation({
  name: 'llm_settings',
  summary: 'Show the model of chats, and how it is asked.',
  description: 'The model is that of the role chat.',
  example: {},
  needs: 'read',
  on: 'deployment',
  reach: 'nothing',
  mutates: false,
  input: Type.Object({}),
  output: Output,
  http: [{ verb: 'GET', path: '/settings/llm' }],
  run: async (_, { services }) => view(services),
});

export const llmPut = defineOperation({
  name: 'set_llm_settings',
  summary: 'Set the model of chats, and how it is asked.',
  description: 'It assigns the role chat. Members that are absent keep their values.',
  example: { provider: 'local', model: 'llama3.2', temperature: 0.2, max_tokens: 1024 },
  needs: 'admin',
  on: 'deployment',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({
    provider: ProviderId,
    model: described(ModelName, 'Model that answers in chats.'),
    temperature: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 2,
        description: 'Temperature of its answers; the default is the present one.',
      }),
    ),
    maxTokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Tokens of an answer at most; the default is the present limit.',
      }),
    ),
    enabled: Type.Optional(
      Type.Boolean({ description: 'Whether a model answers in chats; the default is the present value.' }),
    ),
  }),
  output: Output,
  errors: ['LLM-E003', 'AUT-E006'],
  http: [{ verb: 'PUT', path: '/settings/llm' }],
  async run({ provider, model, temperature, maxTokens, enabled }, { services, principal }) {
    refuseHosted(services);
    await services.providers.assign({ chat: { provider, model } }, principal.actor, {
      chat: { temperature, maxTokens, enabled },
    });
    return view(services);
  },
});
