// The models of the providers.
import { EngineError } from '../../../engine/base/errors.ts';
import { CAPABILITIES } from '../../models/capabilities.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, type PageInput, type Place, pageOf, readPage } from '../page.ts';
import { type Static, Type } from '../type.ts';
import { ModelOutput, modelView, ProviderId } from './view.ts';

const SCOPE = 'models';

const Output = Type.Object({
  models: Type.Array(ModelOutput, { description: 'The models of the page.' }),
  ...PAGE_OUTPUT,
});

type ModelView = Static<typeof ModelOutput>;

function page(models: readonly ModelView[], input: PageInput, warnings: string[]) {
  const placeOf = ({ provider, id }: ModelView): Place => ({ timeMs: 0, id: `${provider}/${id}` });
  // Models have no times; without an `order` they come by name.
  const asked = readPage({ ...input, order: input.order ?? 'asc' }, SCOPE, warnings);
  const sorted = [...models].sort((one, other) => (placeOf(one).id < placeOf(other).id ? -1 : 1));
  const { items, total, nextCursor } = pageOf(sorted, asked, placeOf, SCOPE);
  return { models: [...items], total, nextCursor };
}

export const providerModels = defineOperation({
  name: 'provider_models',
  summary: 'List the models of a provider, by name.',
  description:
    'The provider is asked, and its answer kept for ten minutes. Of one that does not answer, models of its kind are listed.',
  example: { id: 'local' },
  needs: 'read',
  on: 'deployment',
  reach: 'nothing',
  mutates: false,
  paged: true,
  input: Type.Object({ id: ProviderId, ...PAGE_INPUT }),
  output: Output,
  errors: ['LLM-E003'],
  http: [{ verb: 'GET', path: '/settings/providers/{id}/models' }],
  async run({ id, ...input }, { services, warnings }) {
    const { models } = await services.modelLists.of(services.providers.get(id));
    return page(
      models.map((model) => modelView(model, id)),
      input,
      warnings,
    );
  },
});

export const models = defineOperation({
  name: 'list_models',
  summary: 'List the models of all providers that are switched on, by provider and name.',
  description: 'Each provider is asked as for its own list.',
  example: { capability: 'chat' },
  needs: 'read',
  on: 'deployment',
  reach: 'nothing',
  mutates: false,
  paged: true,
  input: Type.Object({
    capability: Type.Optional(Type.String({ description: `Only models for this: ${CAPABILITIES.join(', ')}.` })),
    ...PAGE_INPUT,
  }),
  output: Output,
  errors: ['VAL-E001'],
  http: [{ verb: 'GET', path: '/models' }],
  async run({ capability, ...input }, { services, warnings }) {
    const wanted = CAPABILITIES.find((one) => one === capability);
    if (capability !== undefined && wanted === undefined) {
      const issue = `must be one of ${CAPABILITIES.join(', ')}`;
      throw new EngineError('VAL-E001', `\`capability\` ${issue}`, { details: [{ field: 'capability', issue }] });
    }
    const enabled = services.providers.list().filter((provider) => provider.enabled);
    const lists = await Promise.all(
      enabled.map(async (provider) => {
        const { models: found } = await services.modelLists.of(provider);
        return found.map((model) => modelView(model, provider.id));
      }),
    );
    const all = lists.flat().filter(({ capabilities }) => wanted === undefined || capabilities.includes(wanted));
    return page(all, input, warnings);
  },
});
