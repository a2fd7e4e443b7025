// A harness as clients see it.
import type { HarnessDefinition } from '../../harness/definition.ts';
import { described, type Static, Type } from '../type.ts';

export const Slug = Type.String({
  description: 'Slug of the harness: 1 to 63 lower-case letters, digits and hyphens, none of them at an end.',
});

const ToolSummary = Type.Object({
  toolName: Type.String({ description: 'Name of the tool.' }),
  toolHash: Type.String({ description: 'Hash of the grain that defines it.' }),
  description: Type.String({ description: 'Description of the tool for the model.' }),
  executorKind: Type.Enum(['host', 'client'], {
    description:
      'The side that runs it: the server or a host of its choice (host), or the caller of the turn (client).',
  }),
});

export const HarnessOutput = Type.Object({
  slug: Slug,
  name: Type.String({ description: 'Name of the harness, for people.' }),
  description: Type.String({ description: 'The purpose of the harness; empty where nobody has stated it.' }),
  template: Type.Union([Type.String(), Type.Null()], {
    description: 'Template that it was made from; null without one.',
  }),
  goal: Type.Union([Type.String(), Type.Null()], {
    description: 'The goal of the agent; null where nobody has stated it, and then it takes no turns.',
  }),
  systemPrompt: Type.String({ description: 'Instructions for the model; empty where nobody has stated any.' }),
  assembleQuery: Type.String({ description: 'Query that assembles the context of a turn: a name, or CAL text.' }),
  model: Type.Union([Type.String(), Type.Null()], {
    description: 'Model that answers; null: the model of the role chat.',
  }),
  provider: Type.Union([Type.String(), Type.Null()], {
    description: 'Provider of the model; null: the provider of the role chat.',
  }),
  maxIterations: Type.Integer({ description: 'Calls of the model that one turn may make.' }),
  status: Type.Enum(['draft', 'provisioned'], {
    description: 'Whether the harness was provisioned: it then takes turns.',
  }),
  defNamespace: Type.String({ description: 'Namespace of the grains of the definition.' }),
  goalHash: Type.String({ description: 'Hash of the goal grain, which holds the members above.' }),
  workflowHash: Type.Union([Type.String(), Type.Null()], { description: 'Hash of the workflow; null without one.' }),
  tools: Type.Array(described(ToolSummary, 'A tool.'), { description: 'Tools of the harness, by name.' }),
  createdAt: Type.Integer({ description: 'Time at which the harness was made, in Unix seconds.' }),
  updatedAt: Type.Integer({ description: 'Time of the newest change of its definition, in Unix seconds.' }),
});

export type HarnessView = Static<typeof HarnessOutput>;

export function harnessView(harness: HarnessDefinition): HarnessView {
  return {
    slug: harness.slug,
    name: harness.name,
    description: harness.description,
    template: harness.template ?? null,
    goal: harness.goal ?? null,
    systemPrompt: harness.systemPrompt,
    assembleQuery: harness.assembleQuery,
    model: harness.model ?? null,
    provider: harness.provider ?? null,
    maxIterations: harness.maxIterations,
    status: harness.status,
    defNamespace: harness.defNamespace,
    goalHash: harness.goalHash,
    workflowHash: harness.workflow?.hash ?? null,
    tools: harness.tools.map(({ toolName, hash, description, executorKind }) => ({
      toolName,
      toolHash: hash,
      description,
      executorKind,
    })),
    createdAt: harness.createdAt,
    updatedAt: harness.updatedAt,
  };
}
