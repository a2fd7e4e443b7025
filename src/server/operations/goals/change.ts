// Moves a goal to another state, and delegates it to another agent.
import { GOAL_EVIDENCE_MAX } from '../../../engine/base/limits.ts';
import type { Output as CallOutput } from '../../../shards/protocol.ts';
import { defineOperation } from '../define.ts';
import { bodyOf } from '../grains/fields.ts';
import { Hash } from '../grains/view.ts';
import { inward, isMembers, type Members, nodeOf, outsideSchema } from '../names.ts';
import { GoalOutput, goalOutput } from '../sessions/goal-view.ts';
import { described, Type } from '../type.ts';
import { GOAL_STATES } from './list.ts';

const CHANGED = {
  previousHash: Type.String({ description: 'Hash of the version before; the same as hash when nothing changed.' }),
  previousState: Type.Enum([...GOAL_STATES], { description: 'State of the goal before.' }),
  changed: Type.Boolean({ description: 'False when the goal was so already: there is no new version.' }),
};

const GoalHash = described(Hash, 'Hash of the goal in any of its versions; the newest version is changed.');

const StateInput = Type.Object({
  hash: GoalHash,
  state: Type.Enum([...GOAL_STATES], {
    description: 'The new state: active, satisfied, failed or suspended, which blocks the goal.',
  }),
  reason: Type.Optional(
    Type.String({
      description: 'Why the goal moves, which becomes its state_reason; the default is the x-reason header.',
    }),
  ),
  evidence: Type.Optional(
    Type.Array(Hash, {
      maxItems: GOAL_EVIDENCE_MAX,
      description: 'Hashes that are added to the evidence of the goal; the default is none.',
    }),
  ),
  progress: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'How far the goal has come; a satisfied goal has 1; the default is as before.',
    }),
  ),
});

export const moveGoal = defineOperation({
  name: 'move_goal',
  summary: 'Move a goal to another state.',
  description:
    'It makes a new version. The goal may narrow its moves by allowed_transitions, and ask for evidence before it is satisfied.',
  example: {
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    state: 'satisfied',
    reason: 'The money is back.',
  },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  input: StateInput,
  output: Type.Object({ ...GoalOutput.properties, ...CHANGED }),
  errors: ['MEM-E001', 'GOL-E001', 'GOL-E002', 'POL-E004', 'VAL-E001'],
  http: [
    {
      verb: 'PUT',
      path: 'M/goals/{hash}/state',
      bodySchema: bodySchema(StateInput.properties),
      otherNames: ['goal_state'],
      read: ({ params, json }) => withAliases(json, { of: 'state', names: ['goal_state'], input: StateInput, params }),
    },
  ],
  async run({ hash, state, reason, evidence, progress }, context) {
    const why = reason ?? context.reason;
    const done = await context.call(
      'changeGoal',
      { hash, change: { to: state, reason: why, evidence, progress } },
      why === undefined ? {} : { reason: why },
    );
    return { ...viewOf(done), ...changedOf(done) };
  },
});

const DelegateInput = Type.Object({
  hash: GoalHash,
  targetAgent: Type.String({ minLength: 1, maxLength: 256, description: 'Agent that takes the goal.' }),
  reason: Type.Optional(
    Type.String({
      description: 'Why the goal is delegated, which becomes its state_reason; the default is the x-reason header.',
    }),
  ),
});

const AGENT_NAMES = ['agent_id', 'delegate_to'];

export const delegateGoal = defineOperation({
  name: 'delegate_goal',
  summary: 'Delegate a goal to another agent.',
  description: 'It makes a new version, which names the agent and the one before.',
  example: {
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    target_agent: 'billing',
    reason: 'Billing can refund.',
  },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  input: DelegateInput,
  output: Type.Object({
    ...GoalOutput.properties,
    delegateFrom: Type.Union([Type.String(), Type.Null()], {
      description: 'Agent that had the goal before; null where none is known.',
    }),
    ...CHANGED,
  }),
  errors: ['MEM-E001', 'AGT-E003', 'POL-E004', 'VAL-E001'],
  http: [
    {
      verb: 'POST',
      path: 'M/goals/{hash}/delegate',
      bodySchema: bodySchema(DelegateInput.properties),
      otherNames: AGENT_NAMES,
      read: ({ params, json }) =>
        withAliases(json, { of: 'target_agent', names: AGENT_NAMES, input: DelegateInput, params }),
    },
  ],
  async run({ hash, targetAgent, reason }, context) {
    const why = reason ?? context.reason;
    const done = await context.call(
      'changeGoal',
      { hash, change: { delegateTo: targetAgent, reason: why } },
      why === undefined ? {} : { reason: why },
    );
    const from = done.fields['delegate_from'];
    return { ...viewOf(done), delegateFrom: typeof from === 'string' ? from : null, ...changedOf(done) };
  },
});

function viewOf({ hash, fields }: CallOutput<'changeGoal'>): GoalOutput {
  return goalOutput({ hash, fields, createdAt: Number(fields['created_at']) });
}

function changedOf({ previousHash, previousState, changed }: CallOutput<'changeGoal'>) {
  return { previousHash, previousState, changed };
}

/** The members of the input that the body has: the hash is in the path. */
function bodySchema({ hash: _, ...members }: Readonly<Record<string, object>> & { readonly hash: object }): Members {
  return outsideSchema(Type.Object(members as Parameters<typeof Type.Object>[0])); // schemas, as they were made
}

/** Reads the body under the mechanical rules, with further names for one member, and the hash from the path. */
function withAliases(
  json: unknown,
  {
    of,
    names,
    input,
    params,
  }: {
    readonly of: string;
    readonly names: readonly string[];
    readonly input: typeof StateInput | typeof DelegateInput;
    readonly params: Readonly<Record<string, string>>;
  },
): Members {
  const body = { ...bodyOf(json) };
  for (const name of names) if (body[of] === undefined || body[of] === null) body[of] = body[name];
  const { hash: _, ...sent } = body;
  const members = inward(nodeOf(input), sent);
  return { ...(isMembers(members) ? members : {}), hash: params['hash'] };
}
