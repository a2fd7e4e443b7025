import { includesScope } from '../../auth/principal.ts';
import { readHarness, requireHarness } from '../../harness/store.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, pageOf, readPage } from '../page.ts';
import { described, Type } from '../type.ts';
import { ToolOutput, toolView } from './tool-schema.ts';
import { Slug } from './view.ts';

const SCOPE = 'harness tools';

export const harnessTools = defineOperation({
  name: 'harness_tools',
  summary: 'List the tools of a harness, newest first.',
  description: 'Locations and locked arguments are shown to callers that may write.',
  example: { slug: 'support' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: false,
  paged: true,
  input: Type.Object({ slug: Slug, ...PAGE_INPUT }),
  output: Type.Object({
    tools: Type.Array(described(ToolOutput, 'A tool.'), { description: 'The tools of the page.' }),
    ...PAGE_OUTPUT,
  }),
  errors: ['HRN-E001', 'HRN-E002', 'VAL-E004'],
  http: [{ verb: 'GET', path: 'M/harnesses/{slug}/tools' }],
  async run({ slug, ...input }, context) {
    await requireHarness(context, slug, 'user');
    const { tools } = await readHarness(context, context.memory, slug);
    const places = tools.map((tool) => ({ timeMs: tool.createdAt * 1000, id: tool.hash, tool }));
    places.sort((one, other) => one.timeMs - other.timeMs || (one.id < other.id ? -1 : 1));
    const page = readPage(input, SCOPE, context.warnings);
    const { items, total, nextCursor } = pageOf(places, page, (place) => place, SCOPE);
    const isWriter = includesScope(context.principal, 'write');
    return { tools: items.map(({ tool }) => toolView(tool, isWriter)), total, nextCursor };
  },
});
