import { inTurn, putSettings } from '../../harness/change.ts';
import { readHarness, requireHarness } from '../../harness/store.ts';
import { defineOperation } from '../define.ts';
import { refuseHosted } from '../settings/view.ts';
import { Type } from '../type.ts';
import { changedSettings, SETTINGS } from './members.ts';
import { HarnessOutput, harnessView, Slug } from './view.ts';

export const harnessChange = defineOperation({
  name: 'change_harness',
  summary: 'Change what a harness says of itself; members that are absent stay.',
  description:
    'A change makes a new version of the goal grain. Tools and workflow are changed by bind-tool and provision.',
  example: { slug: 'support', system_prompt: 'Answer in two sentences.', max_iterations: 4 },
  needs: 'write',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({ slug: Slug, ...SETTINGS }),
  output: HarnessOutput,
  errors: ['AUT-E006', 'HRN-E001', 'HRN-E002', 'VAL-E001', 'CAL-E002'],
  http: [{ verb: 'PATCH', path: 'M/harnesses/{slug}' }],
  async run({ slug, ...asked }, context) {
    refuseHosted(context.services, 'a hosted deployment does not manage harnesses');
    await requireHarness(context, slug, 'manager');
    const { memory } = context;
    await inTurn(context, slug, async () => {
      const before = await readHarness(context, memory, slug);
      const settings = changedSettings(before, asked);
      await putSettings(context, slug, { goal: asked.goal ?? before.goal, settings, before });
    });
    return harnessView(await readHarness(context, memory, slug));
  },
});
