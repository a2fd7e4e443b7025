import type { Context } from '../../context.ts';
import { checkToolNames, inTurn, putTool } from '../../harness/change.ts';
import { checkLocation } from '../../harness/location.ts';
import { readHarness, requireHarness } from '../../harness/store.ts';
import { specHashOf, type ToolSpec } from '../../harness/tool.ts';
import { type ToolBody, toolSpecOf } from '../../harness/tool-spec.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';
import { TOOL_BODY } from './tool-schema.ts';
import { Slug } from './view.ts';

export const harnessBindTool = defineOperation({
  name: 'bind_tool',
  summary: 'Give a harness a tool, or replace the tool of that name.',
  description: 'The same definition again makes no new version.',
  example: {
    slug: 'support',
    tool_name: 'orders.find',
    description: 'Finds an order by its number.',
    input_schema: {
      type: 'object',
      properties: { number: { type: 'string', pattern: '^[0-9]{1,12}$', description: 'Number of the order.' } },
      required: ['number'],
    },
    location: 'https://shop.example.com/tools/orders',
    annotations: { read_only: true, idempotent: true },
  },
  needs: 'write',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({ slug: Slug, ...TOOL_BODY }),
  output: Type.Object({
    toolHash: Type.String({ description: 'Hash of the grain that defines the tool.' }),
    toolName: Type.String({ description: 'Name of the tool.' }),
    executorKind: Type.Enum(['host', 'client'], {
      description: 'The side that runs it: the host, or the caller of the turn.',
    }),
    specHash: Type.String({ description: 'SHA-256 of the definition as JSON with sorted names.' }),
    status: Type.Literal('bound', { description: 'Always bound.' }),
  }),
  errors: [
    ...(['MEM-E101', 'MEM-E102', 'MEM-E103', 'MEM-E104', 'MEM-E105', 'MEM-E106'] as const),
    ...(['HRN-E001', 'HRN-E002', 'LIM-E002', 'LIM-E003'] as const),
  ],
  http: [{ verb: 'POST', path: 'M/harnesses/{slug}/bind-tool', successStatus: 201 }],
  async run({ slug, ...body }, context) {
    await requireHarness(context, slug, 'manager');
    const tool = await checkedTool(body, context);
    const { hash, specHash } = await context.once(() =>
      inTurn(context, slug, async () => {
        const harness = await readHarness(context, context.memory, slug);
        checkToolNames([...harness.tools.map(({ toolName }) => toolName), tool.toolName]);
        const before = harness.tools.find(({ toolName }) => toolName === tool.toolName);
        const written = await putTool(context, slug, tool, before);
        if (written.changed)
          await context.call('note', {
            event: 'harness.tool_bound',
            details: { replaced: before === undefined ? 0 : 1 },
            texts: { slug, tool: tool.toolName },
          });
        return { hash: written.hash, specHash: tool.specHash };
      }),
    );
    const { toolName, executorKind } = tool;
    return { toolHash: hash, toolName, executorKind, specHash, status: 'bound' as const };
  },
});

/** The tool of a request, with the hash of its definition. Looks up the host of an http(s) location. */
export async function checkedTool(body: ToolBody, { services }: Context): Promise<ToolSpec & { specHash: string }> {
  const spec = toolSpecOf(body);
  await checkLocation(spec.executorUri, services);
  return { ...spec, specHash: specHashOf(spec) };
}
