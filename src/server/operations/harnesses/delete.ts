import { inTurn } from '../../harness/change.ts';
import { forgetHarness, readHarness, requireHarness } from '../../harness/store.ts';
import { defineOperation } from '../define.ts';
import { refuseHosted } from '../settings/view.ts';
import { Type } from '../type.ts';
import { Slug } from './view.ts';

export const harnessDelete = defineOperation({
  name: 'delete_harness',
  summary: 'Delete a harness: every version of its definition is forgotten.',
  description: 'Its conversations stay: they are events of their sessions.',
  example: { slug: 'support' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: true,
  onUnknown: 'refuse',
  input: Type.Object({ slug: Slug }),
  output: Type.Object({
    deleted: Type.Literal(true, { description: 'Always true.' }),
    slug: Slug,
  }),
  errors: ['AUT-E006', 'HRN-E001', 'HRN-E002', 'POL-E001', 'POL-E003'],
  http: [{ verb: 'DELETE', path: 'M/harnesses/{slug}' }],
  async run({ slug }, context) {
    refuseHosted(context.services, 'a hosted deployment does not manage harnesses');
    await requireHarness(context, slug, 'manager');
    await inTurn(context, slug, async () => {
      await readHarness(context, context.memory, slug);
      await forgetHarness(context, context.memory, slug);
    });
    return { deleted: true as const, slug };
  },
});
