import { EngineError } from '../../../engine/base/errors.ts';
import { HARNESS_ITERATIONS_DEFAULT, HARNESS_TOOLS_MAX } from '../../../engine/base/limits.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import { defNamespaceOf } from '../../../engine/govern/harness-namespace.ts';
import { fromApi } from '../../../engine/grain/api/input.ts';
import type { Context } from '../../context.ts';
import { checkToolNames, inTurn, putSettings, putTool, putWorkflow } from '../../harness/change.ts';
import {
  ASSEMBLE_QUERY_DEFAULT,
  goalFields,
  type HarnessDefinition,
  type HarnessParts,
  type Settings,
  workflowFields,
} from '../../harness/definition.ts';
import { checkGrains, findParts, requireHarness, requireRoom } from '../../harness/store.ts';
import type * as Templates from '../../harness/templates/table.ts';
import type { HarnessTemplate } from '../../harness/templates/template.ts';
import { specHashOf, type ToolSpec, toolFields } from '../../harness/tool.ts';
import { defineOperation } from '../define.ts';
import { Fields } from '../grains/fields.ts';
import { described, type Static, Type } from '../type.ts';
import { checkedTool } from './bind-tool.ts';
import { changedSettings, SETTINGS } from './members.ts';
import { TOOL_BODY } from './tool-schema.ts';
import { Slug } from './view.ts';

const templates = onDemand<typeof Templates>(import.meta.url, '../../harness/templates/table');

const Input = Type.Object({
  slug: Slug,
  ...SETTINGS,
  template: Type.Optional(
    Type.String({ description: 'Slug of a template, for what the request does not say; by default there is none.' }),
  ),
  workflow: Type.Optional(
    described(Fields, 'Graph of steps: nodes, edges, bindings, retries, trigger; the default is as before.'),
  ),
  tools: Type.Optional(
    Type.Array(Type.Object(TOOL_BODY, { description: 'A tool, as in bind-tool.' }), {
      maxItems: HARNESS_TOOLS_MAX,
      description:
        'Tools to bind; others of the harness stay. The default is the builtin tools of the template, for a new harness or with a template.',
    }),
  ),
});

export const harnessProvision = defineOperation({
  name: 'provision_harness',
  summary: 'Create or change a harness that is ready to take turns.',
  description:
    'The same request again changes nothing. Tools are bound first and the goal is written last, so a refused tool leaves the harness as it was, but for the tools before it.',
  example: { slug: 'support', template: 'support-copilot', name: 'Support', max_iterations: 6 },
  needs: 'write',
  on: 'memory',
  reach: 'memory',
  access: 'calls',
  mutates: true,
  onUnknown: 'warn',
  input: Input,
  output: Type.Object({
    slug: Slug,
    status: Type.Literal('provisioned', { description: 'Always provisioned.' }),
    goalHash: Type.String({ description: 'Hash of the goal grain.' }),
    workflowHash: Type.Optional(Type.String({ description: 'Hash of the workflow, if the harness has one.' })),
    toolHashes: Type.Array(Type.String(), { description: "Hashes of the harness's tools, by name." }),
    defNamespace: Type.String({ description: 'Namespace of the grains of the definition.' }),
  }),
  errors: ['HRN-E001', 'HRN-E003', 'HRN-E009', 'MEM-E101', 'MEM-E102', 'MEM-E104', 'MEM-E106', 'LIM-E002', 'CAL-E002'],
  http: [{ verb: 'POST', path: 'M/harnesses/{slug}/provision' }],
  async run(input, context) {
    const { slug } = input;
    await requireHarness(context, slug, 'manager');
    const template = input.template === undefined ? undefined : templates().templateNamed(input.template);
    const stated = input.tools === undefined ? undefined : await checkedTools(input.tools, context);
    const workflow = input.workflow === undefined ? undefined : checkedWorkflow(input.workflow);
    const hashes = await context.once(() =>
      inTurn(context, slug, async () => {
        const { before, parts } = await findParts(context, context.memory, slug);
        if (before === undefined) await requireRoom(context, context.memory);
        const goal = input.goal ?? template?.goal ?? before?.goal;
        if (goal === undefined)
          throw new EngineError('HRN-E003', 'state a `goal`: neither template nor definition has one', {
            details: [{ field: 'goal', issue: 'required' }],
          });
        const settings = changedSettings(startOf(slug, context, { before, template }), input);
        const tools = stated ?? suggestedTools(template, before);
        return write(context, slug, { before, parts, goal, settings, workflow, tools });
      }),
    );
    return { slug, status: 'provisioned' as const, ...hashes, defNamespace: defNamespaceOf(slug) };
  },
});

/** The settings before the request's own members: the template's, then those of the definition. */
function startOf(
  slug: string,
  { services }: Context,
  { before, template }: { before: HarnessDefinition | undefined; template: HarnessTemplate | undefined },
): Settings {
  return {
    name: before?.name ?? template?.name ?? slug,
    description: before?.description ?? template?.description ?? '',
    template: template?.slug ?? before?.template,
    systemPrompt: template?.systemPrompt ?? before?.systemPrompt ?? '',
    model: before?.model,
    provider: before?.provider,
    assembleQuery: template?.assembleQuery ?? before?.assembleQuery ?? ASSEMBLE_QUERY_DEFAULT,
    maxIterations: before?.maxIterations ?? HARNESS_ITERATIONS_DEFAULT,
    status: 'provisioned',
    createdAt: before?.createdAt ?? Math.floor(services.clock.nowMs() / 1000),
  };
}

/**
 * The tools of the template that need nothing but this server, where the harness has none of that name. A harness that was
 * made from a template gets them when it is first provisioned.
 */
function suggestedTools(
  template: HarnessTemplate | undefined,
  before: HarnessDefinition | undefined,
): readonly ToolSpec[] {
  // An imported definition may name a template that this build does not have.
  const first =
    before?.status === 'draft' ? templates().TEMPLATES.find(({ slug }) => slug === before.template) : undefined;
  const { tools = [] } = template ?? first ?? {};
  const held = new Set(before?.tools.map(({ toolName }) => toolName));
  return tools.filter(({ toolName, executorUri }) => executorUri.startsWith('builtin://') && !held.has(toolName));
}

interface Wanted {
  readonly before: HarnessDefinition | undefined;
  readonly parts: HarnessParts;
  readonly goal: string;
  readonly settings: Settings;
  readonly workflow: Static<typeof Fields> | undefined;
  readonly tools: readonly ToolSpec[];
}

/**
 * The goal comes last: without it there is no harness, so a crash in the first provision leaves none. The repeated request
 * takes over the parts that are there.
 */
async function write(context: Context, slug: string, { before, parts, goal, settings, workflow, tools }: Wanted) {
  const hashes = new Map(parts.tools.map(({ toolName, hash }) => [toolName, hash]));
  checkToolNames([...hashes.keys(), ...tools.map(({ toolName }) => toolName)]);
  const heldTools = new Map(parts.tools.map((tool) => [tool.toolName, tool]));
  const changed = tools.filter((tool) => heldTools.get(tool.toolName)?.specHash !== specHashOf(tool));
  // A policy that refuses one of them must not leave the others behind.
  await checkGrains(context, context.memory, slug, [
    ...changed.map((tool) => ({ grainType: 'action' as const, fields: toolFields(tool) })),
    ...(workflow === undefined ? [] : [{ grainType: 'workflow' as const, fields: workflow }]),
    { grainType: 'goal', fields: goalFields(slug, goal, settings) },
  ]);
  // Replacements of grains come first: a policy may refuse those alone.
  const ordered = tools.toSorted(
    (one, other) => Number(heldTools.has(other.toolName)) - Number(heldTools.has(one.toolName)),
  );
  let changes = 0;
  const count = ({ hash, changed }: { readonly hash: string; readonly changed: boolean }): string => {
    if (changed) changes += 1;
    return hash;
  };
  for (const tool of ordered)
    hashes.set(tool.toolName, count(await putTool(context, slug, tool, heldTools.get(tool.toolName))));
  const workflowHash =
    workflow === undefined ? parts.workflow?.hash : count(await putWorkflow(context, slug, workflow, parts));
  const goalHash = count(await putSettings(context, slug, { goal, settings, before }));
  if (changes > 0)
    await context.call('note', {
      event: 'harness.provisioned',
      details: { changes, created: before === undefined ? 1 : 0 },
      texts: { slug },
    });
  const byName = [...hashes].sort(([one], [other]) => (one < other ? -1 : 1));
  return { goalHash, workflowHash, toolHashes: byName.map(([, hash]) => hash) };
}

async function checkedTools(
  bodies: readonly Parameters<typeof checkedTool>[0][],
  context: Context,
): Promise<readonly ToolSpec[]> {
  const tools: ToolSpec[] = [];
  for (const body of bodies) tools.push(await checkedTool(body, context));
  const names = tools.map(({ toolName }) => toolName);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new EngineError('VAL-E001', `\`tools\` defines ${twice} twice`, {
      details: [{ field: 'tools', issue: 'a name twice' }],
    });
  return tools;
}

/** Checked before anything is written. VAL-E001, VAL-E003. */
function checkedWorkflow(given: Static<typeof Fields>): Static<typeof Fields> {
  const fields = workflowFields(given);
  fromApi('workflow', fields, { nowMs: 0 });
  return fields;
}
