// Changes of a definition. A grain is written only if it says something new, so a repeated change makes no version.
import { EngineError } from '../../engine/base/errors.ts';
import { HARNESS_TOOLS_MAX } from '../../engine/base/limits.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { modelName } from './arguments/check.ts';
import { goalFields, type HarnessDefinition, type HarnessParts, type Settings, WORKFLOW_FIELDS } from './definition.ts';
import { putGrain } from './store.ts';
import { canonicalText, specHashOf, type ToolDefinition, type ToolSpec, toolFields } from './tool.ts';

export interface Written {
  readonly hash: string;
  /** False: the definition said so before. */
  readonly changed: boolean;
}

/** Changes of one harness take turns. */
export function inTurn<T>({ services, memory }: Context, slug: string, work: () => Promise<T>): Promise<T> {
  return services.harnessChanges.take([`${memory.number} ${slug}`], work);
}

/** Writes goal and settings. */
export async function putSettings(
  context: Context,
  slug: string,
  { goal, settings, before }: { goal: string | undefined; settings: Settings; before: HarnessDefinition | undefined },
): Promise<Written> {
  const fields = goalFields(slug, goal, settings);
  if (before !== undefined && canonicalText(fields) === canonicalText(goalFields(slug, before.goal, before)))
    return { hash: before.goalHash, changed: false };
  const hash = await putGrain(context, context.memory, {
    slug,
    grainType: 'goal',
    // The goal of an agent is not reached by a change of its words.
    fields: before === undefined ? fields : { ...fields, goal_state: 'active' },
    replaces: before?.goalHash,
  });
  return { hash, changed: true };
}

export async function putWorkflow(
  context: Context,
  slug: string,
  workflow: JsonObject,
  { workflow: held }: HarnessParts,
): Promise<Written> {
  if (held !== undefined && canonicalText(held.fields) === canonicalText(workflow))
    return { hash: held.hash, changed: false };
  const dropped = Object.fromEntries(WORKFLOW_FIELDS.map((name) => [name, null]));
  const hash = await putGrain(context, context.memory, {
    slug,
    grainType: 'workflow',
    fields: held === undefined ? workflow : { ...dropped, ...workflow },
    replaces: held?.hash,
  });
  return { hash, changed: true };
}

const TOOL_OPTIONS = ['output_schema', 'locked_params', 'examples', 'annotations'];

export async function putTool(
  context: Context,
  slug: string,
  tool: ToolSpec,
  before: ToolDefinition | undefined,
): Promise<Written> {
  if (before !== undefined && before.specHash === specHashOf(tool)) return { hash: before.hash, changed: false };
  const dropped = Object.fromEntries(TOOL_OPTIONS.map((name) => [name, null]));
  const fields = toolFields(tool);
  const hash = await putGrain(context, context.memory, {
    slug,
    grainType: 'action',
    fields: before === undefined ? fields : { ...dropped, ...fields },
    replaces: before?.hash,
  });
  return { hash, changed: true };
}

/** LIM-E002 for too many tools, VAL-E001 for two that a model could not tell apart. */
export function checkToolNames(names: readonly string[]): void {
  const distinct = new Set(names);
  if (distinct.size > HARNESS_TOOLS_MAX)
    throw new EngineError('LIM-E002', `a harness has at most ${HARNESS_TOOLS_MAX} tools`);
  const known = new Map<string, string>();
  for (const name of distinct) {
    const other = known.get(modelName(name));
    if (other !== undefined)
      throw new EngineError(
        'VAL-E001',
        `models would see ${other} and ${name} under the same name, ${modelName(name)}: rename one`,
        {
          details: [{ field: 'tool_name', issue: 'the same name for models as another tool' }],
        },
      );
    known.set(modelName(name), name);
  }
}
