import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { GOAL_PARENTS_MAX } from '../../../engine/base/limits.ts';
import type { GrainView, JsonObject } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { Fields } from '../grains/fields.ts';
import { Hash } from '../grains/view.ts';
import { seconds } from '../seconds.ts';
import { GoalOutput, goalOutput } from '../sessions/goal-view.ts';
import { SessionId, sessionIdOf } from '../sessions/schema.ts';
import { described, Type } from '../type.ts';
import { GOAL_STATES } from './list.ts';

const PRIORITY_DEFAULT = 'medium';
const NOT_READABLE =
  'the goal is stored and cannot be read: it is older than the policy keeps goals, or it was removed meanwhile';

export const createGoal = defineOperation({
  name: 'create_goal',
  summary: 'Create a goal of a session.',
  description: 'The goal is active. A goal that the memory holds already is not stored again.',
  example: { sid: 'support-4711', description: 'Refund order 17', priority: 'high', criteria: 'The money is back.' },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({
    sid: SessionId,
    description: Type.String({ minLength: 1, description: 'The state to be reached, in words.' }),
    priority: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Priority of the goal: critical, high, medium or low; another word counts as medium, which is the default.',
        default: PRIORITY_DEFAULT,
      }),
    ),
    criteria: Type.Optional(Type.String({ description: 'When the goal counts as reached; no default.' })),
    parentGoals: Type.Optional(
      Type.Array(Hash, {
        maxItems: GOAL_PARENTS_MAX,
        description: 'Hashes of the goals that this one is a part of, in any version; the default is none.',
      }),
    ),
    deadline: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Time by which the goal should be reached, in Unix seconds; no default.',
      }),
    ),
    expiryPolicy: Type.Optional(
      described(
        Fields,
        'The effect of a passed deadline: {deadline, mode}, where hard fails the goal and soft suspends it; no default.',
      ),
    ),
    evidenceRequired: Type.Optional(
      Type.Union([Type.Boolean(), Type.Integer({ minimum: 0 })], {
        description: 'Pieces of evidence that a satisfied goal needs, or true for one; the default is none.',
      }),
    ),
    allowedTransitions: Type.Optional(
      Type.Array(Type.Enum([...GOAL_STATES]), {
        description: 'States to which the goal may be moved; the default, an empty list, allows all.',
      }),
    ),
    assignedAgent: Type.Optional(
      Type.String({ minLength: 1, description: 'Agent that works on the goal; no default.' }),
    ),
    userId: Type.Optional(Type.String({ minLength: 1, description: 'The data subject; the default is none.' })),
    namespace: Type.Optional(
      Type.String({ minLength: 1, description: 'Namespace of the goal; the default is default.', default: 'default' }),
    ),
    createdAt: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Time of the goal in Unix seconds; the default is now.' }),
    ),
    tags: Type.Optional(Type.Array(Type.String(), { description: 'Tags of the goal; the default is none.' })),
  }),
  output: Type.Object({
    ...GoalOutput.properties,
    status: Type.Literal('created', { description: 'Always created, for a duplicate too.' }),
    duplicate: Type.Optional(Type.Literal(true, { description: 'True when the memory held the goal already.' })),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'Parts of the request that were ignored or not fulfilled.' }),
    ),
  }),
  errors: ['VAL-E001', 'VAL-E003'],
  http: [{ verb: 'POST', path: 'M/sessions/{sid}/goals/create', successStatus: 201 }],
  async run({ sid, ...goal }, context) {
    const fields: JsonObject = defined({
      session_id: sessionIdOf(sid),
      description: goal.description,
      goal_state: 'active',
      priority: goal.priority ?? PRIORITY_DEFAULT,
      criteria: goal.criteria,
      parent_goals: goal.parentGoals,
      deadline: goal.deadline,
      expiry_policy: goal.expiryPolicy,
      evidence_required: goal.evidenceRequired,
      allowed_transitions: goal.allowedTransitions,
      assigned_agent: goal.assignedAgent,
      user_id: goal.userId,
      namespace: goal.namespace,
      created_at: goal.createdAt,
      tags: goal.tags,
    });
    const { hash, duplicate, warnings } = await context.call('add', {
      grainType: 'goal',
      fields,
      sync: false,
      event: 'goal.created',
    });
    const stored = await ifReadable(context, hash);
    const asSent = { hash, fields, createdAt: goal.createdAt ?? seconds(context.services.clock.nowMs()) };
    const told = stored === undefined ? [...warnings, NOT_READABLE] : [...warnings];
    return {
      ...goalOutput(stored ?? asSent),
      status: 'created' as const,
      duplicate: duplicate ? (true as const) : undefined,
      warnings: told.length === 0 ? undefined : told,
    };
  },
});

/** Undefined for a goal whose time had ended before it was stored. */
async function ifReadable(context: Context, hash: string): Promise<GrainView | undefined> {
  try {
    return await context.call('get', { hash });
  } catch (error) {
    if (error instanceof EngineError && error.code === 'MEM-E001') return undefined;
    throw error;
  }
}
