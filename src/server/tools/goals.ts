// The tool `goals`: what is to be reached, for the session of the conversation, or for its person.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { TOOL_HITS_MAX } from '../../engine/base/limits.ts';
import { fieldKey } from '../../engine/index/parts/part.ts';
import type { GrainView, JsonObject } from '../../shards/protocol.ts';
import { personsOf } from '../models/persons.ts';
import { GOAL_STATES } from '../operations/goals/list.ts';
import { type Static, Type } from '../operations/type.ts';
import { ownFields, ownGrain, type ToolCaller } from './caller.ts';
import { grainForModel } from './grain.ts';
import { type ToolOutcome, toolOf } from './tool.ts';

const State = Type.Enum([...GOAL_STATES], { description: 'State of the goals to list, or new state of the goal.' });

const Input = Type.Object({
  action: Type.Enum(['list', 'create', 'update'], { description: 'The act to carry out.' }),
  state: Type.Optional(State),
  description: Type.Optional(
    Type.String({ minLength: 1, description: 'The state to be reached, in words; for create.' }),
  ),
  priority: Type.Optional(
    Type.Enum(['critical', 'high', 'medium', 'low'], { description: 'Priority of a new goal; the default is medium.' }),
  ),
  criteria: Type.Optional(Type.String({ minLength: 1, description: 'When the goal counts as reached; for create.' })),
  hash: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Hash of the goal; for update.' })),
  progress: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'How far the goal has come, from 0 to 1; for update.' }),
  ),
  reason: Type.Optional(Type.String({ minLength: 1, description: 'Why the goal changes; for update.' })),
});
type Input = Static<typeof Input>;

export const goalsTool = toolOf({
  name: 'goals',
  description: 'List the goals of the conversation, create one, or move one to another state.',
  annotations: { read_only: false, destructive: false, idempotent: false },
  input: Input,
  run: (caller, input) => ACTIONS[input.action](caller, input),
});

const ACTIONS: Readonly<Record<Input['action'], (caller: ToolCaller, input: Input) => Promise<ToolOutcome>>> = {
  list: async (caller, { state = 'active' }) => {
    const { goals, total } = await goalsIn(caller, state);
    const output = { goals: goals.map(grainForModel), total };
    return { output, shown: goals.map(({ hash }) => hash), persons: personsOf(goals) };
  },
  create: async (caller, { description, priority = 'medium', criteria }) => {
    if (description === undefined) throw missing('description');
    const fields: JsonObject = defined({
      ...ownFields(caller),
      session_id: caller.sessionId,
      description,
      goal_state: 'active',
      priority,
      criteria,
    });
    const asked = { grainType: 'goal', fields, sync: false, event: 'goal.created' } as const;
    const { hash, duplicate } = await caller.context.call('add', asked);
    return { output: { status: duplicate ? 'known already' : 'created', hash }, shown: [] };
  },
  update: async (caller, { hash, state, progress, reason }) => {
    if (hash === undefined) throw missing('hash');
    if (state === undefined) throw missing('state');
    await ownGrain(caller, hash);
    const asked = { hash, change: { to: state, reason, progress } };
    const done = await caller.context.call('changeGoal', asked, defined({ reason }));
    return { output: { status: done.changed ? 'updated' : 'unchanged', hash: done.hash }, shown: [] };
  },
};

async function goalsIn(
  { context, sessionId, namespace, userId }: ToolCaller,
  state: string,
): Promise<{ readonly goals: readonly GrainView[]; readonly total: number }> {
  if (sessionId !== undefined) {
    const only = defined({ namespace, forUser: userId });
    const found = await context.call('session', { sessionId, only, goals: { states: [state], limit: TOOL_HITS_MAX } });
    return { goals: found.goals, total: found.goalsTotal };
  }
  const { grains, total } = await context.call('list', {
    filter: {
      grainTypes: ['goal'],
      namespace,
      forUser: userId,
      anyOf: [{ facet: 'field', values: [fieldKey('goal_state', state)] }],
    },
    limit: TOOL_HITS_MAX,
    order: 'desc',
  });
  return { goals: grains, total };
}

function missing(field: string): EngineError {
  return new EngineError('VAL-E003', `missing field \`${field}\``, { details: [{ field, issue: 'required' }] });
}
