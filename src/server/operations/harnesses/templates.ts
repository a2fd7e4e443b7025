import { onDemand } from '../../../engine/base/on-demand.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { ListHarnessTemplatesRequest, ListHarnessTemplatesResponse } from '../../gen/memory/v1/memory.ts';
import { namedText } from '../../harness/assemble/named.ts';
import type * as Templates from '../../harness/templates/table.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { nodeOf, outward } from '../names.ts';
import { described, type Static, Type } from '../type.ts';
import { TOOL_BODY } from './tool-schema.ts';

const inTable = onDemand<typeof Templates>(import.meta.url, '../../harness/templates/table');

const Template = Type.Object({
  slug: Type.String({ description: 'Slug of the template.' }),
  name: Type.String({ description: 'Name of the template.' }),
  description: Type.String({ description: 'Description of an agent of this template.' }),
  goal: Type.String({ description: 'Goal of the agent; empty where whoever provisions it states one.' }),
  systemPrompt: Type.String({ description: 'Instructions for the model.' }),
  assembleQuery: Type.String({ description: 'Name of the query that assembles the context of a turn.' }),
  assembleText: Type.String({ description: 'The CAL text of that query, for a turn that has a user.' }),
  tools: Type.Array(described(Type.Object(TOOL_BODY), 'A tool, as bind-tool takes it.'), {
    description: 'Suggested tools: those of the server, and some that the caller of a turn would run.',
  }),
});
/** To give tools their outside names. */
const TOOLS = nodeOf(Type.Array(Type.Object(TOOL_BODY)));

const Output = Type.Object({
  templates: Type.Array(described(Template, 'A template.'), { description: 'All templates.' }),
});

export const harnessTemplates = defineOperation({
  name: 'harness_templates',
  summary: 'List the templates of harnesses.',
  description: 'A template gives a harness its goal, prompt, query and tools when it is made or provisioned.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'nothing',
  mutates: false,
  input: Type.Object({}),
  output: Output,
  exec: { command: 'harness_templates' },
  grpc: rpc({
    rpc: 'ListHarnessTemplates',
    request: ListHarnessTemplatesRequest,
    response: ListHarnessTemplatesResponse,
    write: ({ templates }: Static<typeof Output>) => ({
      templates: templates.map(({ slug, name, description, goal, assembleQuery, tools }) => ({
        slug,
        name,
        description,
        goal,
        assembleQuery,
        toolsJson: JSON.stringify(outward(TOOLS, tools)),
      })),
    }),
  }),
  run: async () => ({
    templates: inTable().TEMPLATES.map(({ goal = '', tools, ...template }) => ({
      slug: template.slug,
      name: template.name,
      description: template.description,
      goal,
      systemPrompt: template.systemPrompt,
      assembleQuery: template.assembleQuery,
      assembleText: namedText(template.assembleQuery) ?? '',
      tools: tools.map(({ executorUri, executorKind: _, examples, annotations, ...tool }) => ({
        ...tool,
        location: executorUri,
        examples: examples as JsonObject[], // of a template: arguments of calls
        annotations: { ...annotations },
      })),
    })),
  }),
});
