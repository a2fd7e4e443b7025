import { EngineError } from '../../../engine/base/errors.ts';
import {
  HARNESS_DESCRIPTION_CHARS_MAX,
  HARNESS_ITERATIONS_DEFAULT,
  NAME_CHARS_MAX,
} from '../../../engine/base/limits.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import { inTurn, putSettings } from '../../harness/change.ts';
import { ASSEMBLE_QUERY_DEFAULT } from '../../harness/definition.ts';
import { checkSlug } from '../../harness/slug.ts';
import { findHarness, readHarness, requireHarness, requireRoom } from '../../harness/store.ts';
import type * as Templates from '../../harness/templates/table.ts';
import { defineOperation } from '../define.ts';
import { refuseHosted } from '../settings/view.ts';
import { plainText } from '../text.ts';
import { described, Type } from '../type.ts';
import { HarnessOutput, harnessView, Slug } from './view.ts';

const templates = onDemand<typeof Templates>(import.meta.url, '../../harness/templates/table');

export const harnessCreate = defineOperation({
  name: 'create_harness',
  summary: 'Make a harness: the definition of an agent in this memory.',
  description: 'It is a draft until it is provisioned. A template gives it a goal, a prompt and a query.',
  example: { slug: 'support', name: 'Support', template: 'support-copilot' },
  needs: 'write',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({
    slug: Slug,
    name: described(
      plainText({ minLength: 1, maxLength: NAME_CHARS_MAX }),
      'Name for people to read, of at most 256 characters.',
    ),
    description: Type.Optional(
      described(
        plainText({ maxLength: HARNESS_DESCRIPTION_CHARS_MAX }),
        'The purpose of the harness, of at most 4,096 characters; the default is that of the template.',
      ),
    ),
    template: Type.Optional(Type.String({ description: 'Slug of a template; by default there is no template.' })),
  }),
  output: HarnessOutput,
  errors: ['AUT-E006', 'HRN-E001', 'HRN-E008', 'HRN-E009', 'LIM-E002'],
  http: [{ verb: 'POST', path: 'M/harnesses', successStatus: 201 }],
  async run({ slug, name, description, template: templateName }, context) {
    refuseHosted(context.services, 'a hosted deployment does not manage harnesses');
    const { services, memory } = context;
    checkSlug(slug);
    const template = templateName === undefined ? undefined : templates().templateNamed(templateName);
    await requireHarness(context, slug, 'manager');
    await context.once(() =>
      inTurn(context, slug, async () => {
        if ((await findHarness(context, memory, slug)) !== undefined) throw taken(slug);
        await requireRoom(context, memory);
        const settings = {
          name,
          description: description ?? template?.description ?? '',
          template: template?.slug,
          systemPrompt: template?.systemPrompt ?? '',
          assembleQuery: template?.assembleQuery ?? ASSEMBLE_QUERY_DEFAULT,
          maxIterations: HARNESS_ITERATIONS_DEFAULT,
          status: 'draft' as const,
          createdAt: Math.floor(services.clock.nowMs() / 1000),
        };
        await putSettings(context, slug, { goal: template?.goal, settings, before: undefined });
        return null;
      }),
    );
    return harnessView(await readHarness(context, memory, slug));
  },
});

function taken(slug: string): EngineError {
  return new EngineError('HRN-E008', `the memory has a harness ${slug} already`, {
    details: [{ field: 'slug', issue: 'taken' }],
  });
}
