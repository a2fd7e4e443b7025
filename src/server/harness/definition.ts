// The definition of a harness, and how it is stored in grains. All grains of it are in the namespace `harnesses/SLUG/def`:
//
//   goal      description: the goal; `context.harness`: the members of `Settings`, with snake_case names
//   workflow  at most one, as clients send it
//   action    one for each tool, of kind `definition`
//
// So history, audit, erasure, export and backup hold for a definition as for every grain.
import { HARNESS_ITERATIONS_DEFAULT, HARNESS_ITERATIONS_MAX } from '../../engine/base/limits.ts';
import { defNamespaceOf } from '../../engine/govern/harness-namespace.ts';
import type { GrainView, JsonObject, JsonValue } from '../../shards/protocol.ts';
import { type ToolDefinition, toolOf } from './tool.ts';

export type HarnessStatus = 'draft' | 'provisioned';

/** The members of a definition besides its goal, workflow and tools. */
export interface Settings {
  readonly name: string;
  readonly description: string;
  readonly template?: string | undefined;
  readonly systemPrompt: string;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** Name of an assemble query, or CAL text. */
  readonly assembleQuery: string;
  /** Calls of the model in one turn. */
  readonly maxIterations: number;
  readonly status: HarnessStatus;
  /** In Unix seconds. */
  readonly createdAt: number;
}

/** Workflow and tools of a definition. They are there without a goal after a provision that was cut off. */
export interface HarnessParts {
  readonly workflow?: WorkflowDefinition | undefined;
  /** By name. */
  readonly tools: readonly ToolDefinition[];
}

export interface HarnessDefinition extends Settings, HarnessParts {
  readonly slug: string;
  /** Undefined where nobody has stated one: a turn needs it (HRN-E003). */
  readonly goal: string | undefined;
  readonly goalHash: string;
  readonly defNamespace: string;
  /** Time of the newest change of any of its grains, in Unix seconds. */
  readonly updatedAt: number;
}

export interface WorkflowDefinition {
  readonly hash: string;
  /** The workflow's own fields, as clients send them. */
  readonly fields: JsonObject;
}

export const ASSEMBLE_QUERY_DEFAULT = 'agent_context';

/** Fields of a workflow that belong to its definition. */
export const WORKFLOW_FIELDS = ['nodes', 'edges', 'bindings', 'retries', 'trigger', 'name', 'status'] as const;

/** The fields of the goal grain. A goal grain needs a description: without a goal it is the harness's name. */
export function goalFields(slug: string, goal: string | undefined, settings: Settings): JsonObject {
  const harness: JsonObject = {
    slug,
    name: settings.name,
    description: settings.description,
    system_prompt: settings.systemPrompt,
    assemble_query: settings.assembleQuery,
    max_iterations: settings.maxIterations,
    status: settings.status,
    created_at: settings.createdAt,
  };
  const { template, model, provider } = settings;
  for (const [name, value] of Object.entries({ template, model, provider }))
    if (value !== undefined) harness[name] = value;
  if (goal === undefined) harness['without_goal'] = true;
  return { description: goal ?? settings.name, context: { harness } };
}

/** The settings that a goal grain holds for this harness; undefined for a goal that defines no harness. */
export function settingsOf({ fields }: GrainView, slug: string): JsonObject | undefined {
  const context = fields['context'];
  const harness = isMembers(context) ? context['harness'] : undefined;
  return isMembers(harness) && harness['slug'] === slug ? harness : undefined;
}

/**
 * The definition in these current grains of its namespace, newest first; undefined if none of them defines the harness.
 * Grains beside the definition are ignored, and of several that define the same thing the newest holds.
 */
export function definitionOf(slug: string, grains: readonly GrainView[]): HarnessDefinition | undefined {
  const goal = grains.find((grain) => grain.grainType === 'goal' && settingsOf(grain, slug) !== undefined);
  const held = goal === undefined ? undefined : settingsOf(goal, slug);
  if (goal === undefined || held === undefined) return undefined;
  const parts = partsOf(grains);
  const workflow = grains.find(({ grainType }) => grainType === 'workflow');
  const members = [goal, ...(workflow === undefined ? [] : [workflow]), ...parts.tools];
  return {
    ...settingsIn(held, slug, goal.createdAt),
    ...parts,
    slug,
    goal: held['without_goal'] === true ? undefined : textIn(goal.fields, 'description'),
    goalHash: goal.hash,
    defNamespace: defNamespaceOf(slug),
    updatedAt: Math.max(...members.map(({ createdAt }) => createdAt)),
  };
}

/** Of several that define the same tool, the newest. */
export function partsOf(grains: readonly GrainView[]): HarnessParts {
  const tools = new Map<string, ToolDefinition>();
  for (const grain of grains) {
    const tool = toolOf(grain);
    if (tool !== undefined && !tools.has(tool.toolName)) tools.set(tool.toolName, tool);
  }
  const workflow = grains.find(({ grainType }) => grainType === 'workflow');
  return {
    workflow: workflow === undefined ? undefined : { hash: workflow.hash, fields: workflowFields(workflow.fields) },
    tools: [...tools.values()].sort((one, other) => (one.toolName < other.toolName ? -1 : 1)),
  };
}

/** Hashes of the grains of a definition. */
export function grainsOf({ goalHash, workflow, tools }: HarnessDefinition): readonly string[] {
  return [goalHash, ...(workflow === undefined ? [] : [workflow.hash]), ...tools.map(({ hash }) => hash)];
}

/** Reads settings that any writer of the namespace may have made: what has the wrong form counts as absent. */
export function settingsIn(held: JsonObject, slug: string, createdAt: number): Settings {
  const iterations = held['max_iterations'];
  const created = held['created_at'];
  return {
    name: textIn(held, 'name') ?? slug,
    description: textIn(held, 'description') ?? '',
    template: textIn(held, 'template'),
    systemPrompt: textIn(held, 'system_prompt') ?? '',
    model: textIn(held, 'model'),
    provider: textIn(held, 'provider'),
    assembleQuery: textIn(held, 'assemble_query') ?? ASSEMBLE_QUERY_DEFAULT,
    maxIterations:
      typeof iterations === 'number' && Number.isInteger(iterations)
        ? Math.min(Math.max(iterations, 1), HARNESS_ITERATIONS_MAX)
        : HARNESS_ITERATIONS_DEFAULT,
    status: held['status'] === 'provisioned' ? 'provisioned' : 'draft',
    createdAt: typeof created === 'number' && Number.isInteger(created) ? created : createdAt,
  };
}

export function workflowFields(fields: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const name of WORKFLOW_FIELDS) {
    const value = fields[name];
    if (value !== undefined && value !== null) kept[name] = value;
  }
  return kept;
}

function textIn(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

export function isMembers(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
