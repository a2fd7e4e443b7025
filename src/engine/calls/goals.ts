// Calls on goals: the moves of one goal from state to state and from agent to agent.
import type { JsonObject } from '../grain/api/json-value.ts';
import type { RowsOf } from './row.ts';

export type GoalState = 'active' | 'satisfied' | 'failed' | 'suspended';

/** A change of a goal. Each makes a new version. */
export type GoalChange =
  | {
      readonly to: GoalState;
      readonly reason?: string | undefined;
      /** Hashes that are added to the goal's evidence. */
      readonly evidence?: readonly string[] | undefined;
      /** From 0 to 1. A satisfied goal has progress 1 whatever this says. */
      readonly progress?: number | undefined;
    }
  | { readonly delegateTo: string; readonly reason?: string | undefined };

export interface ChangedGoal {
  /** The current version after the change. */
  readonly hash: string;
  /** As answers show them. */
  readonly fields: JsonObject;
  /** The version that was current before; the same as `hash` when nothing changed. */
  readonly previousHash: string;
  readonly previousState: GoalState;
  readonly changed: boolean;
}

export interface GoalCalls {
  /** Changes the newest version of the goal that `hash` names in any version. */
  changeGoal: { input: { readonly hash: string; readonly change: GoalChange }; output: ChangedGoal };
}

export const GOAL_ROWS = {
  changeGoal: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: 'writes',
    access: 'editor',
  },
} as const satisfies RowsOf<GoalCalls>;
