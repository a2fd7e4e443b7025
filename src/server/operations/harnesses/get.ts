import { readHarness, requireHarness } from '../../harness/store.ts';
import { defineOperation } from '../define.ts';
import { refuseHosted } from '../settings/view.ts';
import { Type } from '../type.ts';
import { HarnessOutput, harnessView, Slug } from './view.ts';

export const harnessGet = defineOperation({
  name: 'get_harness',
  summary: 'Show a harness.',
  description: 'With its goal, its prompt, its query and the names of its tools.',
  example: { slug: 'support' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  input: Type.Object({ slug: Slug }),
  output: HarnessOutput,
  errors: ['AUT-E006', 'HRN-E001', 'HRN-E002'],
  http: [{ verb: 'GET', path: 'M/harnesses/{slug}' }],
  async run({ slug }, context) {
    refuseHosted(context.services, 'a hosted deployment does not manage harnesses');
    await requireHarness(context, slug, 'user');
    return harnessView(await readHarness(context, context.memory, slug));
  },
});
