import { SESSION_GOALS_MAX } from '../../../engine/base/limits.ts';
import { defineCall } from '../define.ts';
import { grainOutput } from '../grains/view.ts';
import { described, Type } from '../type.ts';
import { GoalOutput, goalOutput } from './goal-view.ts';
import { ActionsOutput, SessionId, SessionIdOutput, StateOutput, sessionIdOf } from './schema.ts';

const ACTIONS_DEFAULT = 20;
const ACTIONS_MAX = 500;

const bootstrapGoals = { states: ['active'], limit: SESSION_GOALS_MAX };

const seenTime = (which: 'first' | 'last') =>
  Type.Union([Type.Integer(), Type.Null()], {
    description: `Creation time of the ${which} grain of the session in Unix seconds; null where it has none.`,
  });

/** An agent calls it when it wakes up. */
export const bootstrap = defineCall({
  name: 'session_bootstrap',
  summary: 'Show what an agent needs to continue a session: state, active goals, last actions.',
  description:
    'The current state, the active goals by priority and the last actions. A session that has no grains is empty, not an error.',
  example: { sid: 'support-4711', actions_limit: 20 },
  needs: 'read',
  reach: 'binding',
  mutates: false,
  input: Type.Object({
    sid: SessionId,
    actionsLimit: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Number of actions at most; the default is 20, and above 500 is treated as 500.',
        default: ACTIONS_DEFAULT,
      }),
    ),
  }),
  output: Type.Object({
    sessionId: SessionIdOutput,
    firstSeen: seenTime('first'),
    lastSeen: seenTime('last'),
    state: StateOutput,
    activeGoals: Type.Array(described(GoalOutput, 'A goal.'), {
      description: 'Active goals: critical, high, medium, low, then newest first; at most 100.',
    }),
    activeGoalsTotal: Type.Integer({ description: 'Number of active goals, beyond those that are shown.' }),
    recentActions: ActionsOutput,
    recentActionsTotal: Type.Integer({ description: 'Number of actions of the session, beyond those that are shown.' }),
  }),
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/bootstrap' }],
  call: {
    method: 'session',
    ask: ({ sid, actionsLimit = ACTIONS_DEFAULT }) => ({
      input: {
        sessionId: sessionIdOf(sid),
        state: true,
        seen: true,
        goals: bootstrapGoals,
        actions: { limit: Math.min(actionsLimit, ACTIONS_MAX) },
      },
    }),
    answer: ({ state, seen, goals, goalsTotal, actions, actionsTotal }, { sid }) => ({
      sessionId: sid,
      firstSeen: seen === null ? null : Math.floor(seen.firstMs / 1000),
      lastSeen: seen === null ? null : Math.floor(seen.lastMs / 1000),
      state: state === null ? null : grainOutput(state),
      activeGoals: goals.map(goalOutput),
      activeGoalsTotal: goalsTotal,
      recentActions: actions.map(grainOutput),
      recentActionsTotal: actionsTotal,
    }),
  },
});
