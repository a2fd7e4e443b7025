// A goal as the operations on goals show it (service contract 4.3).
import type { GrainView, JsonValue } from '../../../shards/protocol.ts';
import { type Static, Type } from '../type.ts';

export const GoalOutput = Type.Object({
  hash: Type.String({ description: 'Hash of the current version of the goal.' }),
  blobHash: Type.String({ description: 'The same as hash.' }),
  description: Type.String({ description: 'The state to be reached, in words.' }),
  goalState: Type.String({ description: 'State of the goal: active, satisfied, failed or suspended.' }),
  priority: Type.String({ description: 'Priority of the goal: critical, high, medium or low, or as it was sent.' }),
  criteria: Type.Union([Type.String(), Type.Null()], {
    description: 'When the goal counts as reached; null where nobody has said.',
  }),
  progress: Type.Union([Type.Number(), Type.Null()], {
    description: 'How far the goal has come, from 0 to 1; null where nobody has said.',
  }),
  parentGoals: Type.Array(Type.String(), { description: 'Hashes of the goals that this one is a part of.' }),
  delegateTo: Type.Union([Type.String(), Type.Null()], {
    description: 'Agent to which the goal was delegated; null where it was not.',
  }),
  stateReason: Type.Union([Type.String(), Type.Null()], {
    description: 'Why the goal is in its state; null where nobody has said.',
  }),
  createdAt: Type.Integer({ description: 'Time at which this version was created, in Unix seconds.' }),
  updatedAt: Type.Integer({ description: 'Time of the last change of the goal, in Unix seconds.' }),
});
export type GoalOutput = Static<typeof GoalOutput>;

export function goalOutput({ hash, fields, createdAt }: Pick<GrainView, 'hash' | 'fields' | 'createdAt'>): GoalOutput {
  const text = (name: string): string | null => textOf(fields[name]);
  const progress = fields['progress'];
  const parents = fields['parent_goals'];
  return {
    hash,
    blobHash: hash,
    description: text('description') ?? '',
    goalState: text('goal_state') ?? 'active',
    priority: text('priority') ?? 'medium',
    criteria: text('criteria'),
    progress: typeof progress === 'number' ? progress : null,
    parentGoals: Array.isArray(parents) ? parents.filter((parent) => typeof parent === 'string') : [],
    delegateTo: text('delegate_to'),
    stateReason: text('state_reason'),
    createdAt,
    updatedAt: createdAt,
  };
}

/** Criteria may be a list of texts, and an imported priority a number. */
function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return Array.isArray(value) && value.length > 0 ? value.map(String).join('; ') : null;
}
