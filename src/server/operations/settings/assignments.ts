// The models of the roles.
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import type { Services } from '../../context.ts';
import { modelBackend } from '../../embedding/backends.ts';
import { vectorLength } from '../../models/probe.ts';
import { type Assignment, OWN_MODELS } from '../../models/roles.ts';
import { defineOperation } from '../define.ts';
import { outsideSchema } from '../names.ts';
import { described, Type } from '../type.ts';
import { AssignmentsOutput, assignmentsView, ModelName, ProviderId, refuseHosted } from './view.ts';

export const assignments = defineOperation({
  name: 'model_assignments',
  summary: 'Show the model of each role.',
  description: 'A role that was not set has the model that the start options name.',
  example: {},
  needs: 'read',
  on: 'deployment',
  reach: 'nothing',
  mutates: false,
  input: Type.Object({}),
  output: AssignmentsOutput,
  http: [{ verb: 'GET', path: '/settings/model-assignments' }],
  run: async (_, { services }) => assignmentsView(services),
});

const Wanted = Type.Union([
  Type.Object({ provider: ProviderId, model: described(ModelName, 'Name of the model.') }),
  Type.Null(),
]);

const Input = Type.Object({
  assignments: Type.Object(
    {
      chat: Type.Optional(described(Wanted, 'Model of chats and harnesses.')),
      extraction: Type.Optional(described(Wanted, 'Model that finds facts in texts.')),
      embedding: Type.Optional(
        described(Wanted, 'Model that makes vectors; the provider `onnx` stands for the models of this server.'),
      ),
      rerank: Type.Optional(
        described(
          Wanted,
          'Model that orders the hits of a recall; as for vectors, `onnx` stands for the models of this server.',
        ),
      ),
      hyde: Type.Optional(described(Wanted, 'Model that imagines an answer.')),
      consolidation: Type.Optional(described(Wanted, 'Model that proposes what to merge.')),
    },
    { description: 'The roles to set; the others keep their models.' },
  ),
});

export const assignmentsPut = defineOperation({
  name: 'set_model_assignments',
  summary: 'Set the models of some roles; null: the role has none.',
  description:
    'It wins over the start options. A new embedding model gives a vector first; then memories are embedded again in the background, and old vectors answer until then.',
  example: { assignments: { chat: { provider: 'local', model: 'llama3.2' } } },
  needs: 'admin',
  on: 'deployment',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'refuse',
  input: Input,
  output: AssignmentsOutput,
  errors: ['LLM-E002', 'LLM-E003', 'AUT-E006'],
  http: [
    {
      verb: 'PUT',
      path: '/settings/model-assignments',
      // Elsewhere null stands for an absent member; here it takes a role's model away.
      read: ({ json }) => json,
      bodySchema: outsideSchema(Input),
    },
  ],
  async run({ assignments: wanted }, { services, principal }) {
    refuseHosted(services);
    const { embedding, rerank } = wanted;
    if (rerank?.provider === OWN_MODELS) await services.localReranker.check(rerank.model);
    await services.providers.assign(
      defined({ ...wanted, embedding: embedding ? await withDimensions(embedding, services) : embedding }),
      principal.actor,
      { vectorLength: services.embedders.status('remote').dimensions || undefined },
    );
    return assignmentsView(services);
  },
});

/** The vectors that are kept have one length, so it must be known. */
async function withDimensions(wanted: Assignment, { providers, outgoing, embedders }: Services): Promise<Assignment> {
  if (wanted.provider === OWN_MODELS) return { ...wanted, dimensions: await ownLength(wanted.model, embedders) };
  const provider = providers.callable(wanted.provider);
  const now = providers.assignmentOf('embedding');
  if (now?.provider === wanted.provider && now.model === wanted.model) return now;
  return { ...wanted, dimensions: await vectorLength(provider, wanted.model, outgoing) };
}

/** Loads a model of the operator. LLM-E003 when there is none of that name, LLM-E002 when it cannot be used. */
async function ownLength(model: string, embedders: Services['embedders']): Promise<number> {
  const backend = modelBackend(model);
  if (!embedders.has(backend))
    throw new EngineError('LLM-E003', `there is no model ${JSON.stringify(model)} in models/: granary model list`);
  const embedder = await embedders.ready(backend);
  if (embedder !== undefined) return embedder.dimensions;
  throw new EngineError('LLM-E002', embedders.status(backend).reason ?? `the model ${model} cannot be loaded`);
}
