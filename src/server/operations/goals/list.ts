// Lists the goals of a session by state.
import { EngineError } from '../../../engine/base/errors.ts';
import { rankOf } from '../../../engine/session/goals-of.ts';
import type { GrainView } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { ORDERED_PAGE_INPUT, PAGE_OUTPUT, type Place, readPage, writeCursor } from '../page.ts';
import { GoalOutput, goalOutput } from '../sessions/goal-view.ts';
import { SessionId, SessionIdOutput, sessionIdOf } from '../sessions/schema.ts';
import { described, type Static, Type } from '../type.ts';

export const GOAL_STATES = ['active', 'satisfied', 'failed', 'suspended'] as const;

const BlockedInput = Type.Object({ sid: SessionId, ...ORDERED_PAGE_INPUT });

const Output = Type.Object({
  sessionId: SessionIdOutput,
  goals: Type.Array(described(GoalOutput, 'A goal.'), {
    description: 'Goals of the session: critical, high, medium, low, then newest first.',
  }),
  ...PAGE_OUTPUT,
});

export const sessionGoals = defineOperation({
  name: 'session_goals',
  summary: 'List the goals of a session by priority.',
  description:
    'Only current versions are listed. A goal whose expiry_policy is due is in the state that this gives it.',
  example: { sid: 'support-4711', state: 'active', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: Type.Object({
    sid: SessionId,
    ...ORDERED_PAGE_INPUT,
    state: Type.Optional(
      Type.Enum([...GOAL_STATES, 'all'], {
        description: 'Only goals in this state, or all; the default is active.',
        default: 'active',
      }),
    ),
  }),
  output: Output,
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/goals' }],
  run: ({ state = 'active', ...input }, context) =>
    goalsPage(input, context, `goals ${state}`, state === 'all' ? GOAL_STATES : [state]),
});

export const blockedGoals = defineOperation({
  name: 'session_blocked_goals',
  summary: 'List the blocked goals of a session by priority.',
  description: 'A goal is blocked if it is suspended.',
  example: { sid: 'support-4711', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: BlockedInput,
  output: Output,
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/goals/blocked' }],
  run: (input, context) => goalsPage(input, context, 'goals suspended', ['suspended']),
});

async function goalsPage(
  input: Static<typeof BlockedInput>,
  context: Context,
  scope: string,
  states: readonly string[],
): Promise<Static<typeof Output>> {
  const { limit, offset, after } = readPage(input, scope, context.warnings);
  const { goals, goalsTotal, moreGoals } = await context.call('session', {
    sessionId: sessionIdOf(input.sid),
    goals: {
      states,
      limit,
      offset: offset === 0 ? undefined : offset,
      after: after === undefined ? undefined : goalPlaceOf(after),
    },
  });
  const last = goals.at(-1);
  return {
    sessionId: input.sid,
    goals: goals.map(goalOutput),
    total: goalsTotal,
    nextCursor: moreGoals && last !== undefined ? writeCursor(placeOf(last), scope, 'desc') : null,
  };
}

/** A cursor has no member for the rank, so the rank goes before the hash. */
function placeOf(goal: GrainView): Place {
  return { timeMs: goal.createdAtMs, id: `${rankOf(goal)} ${goal.hash}` };
}

const PLACE = /^([1-4]) ([0-9a-f]{64})$/;

function goalPlaceOf({ timeMs, id }: Place) {
  const [, rank, hash] = PLACE.exec(id) ?? [];
  if (rank === undefined || hash === undefined)
    throw new EngineError('VAL-E004', 'bad cursor', {
      details: [{ field: 'cursor', issue: 'not a cursor of this list' }],
    });
  return { rank: Number(rank), createdAtMs: timeMs, hash };
}
