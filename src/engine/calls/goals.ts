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

export interface GoalTreeQuery {
  readonly sessionId: string;
  /** Only finds the session's goals that these hashes name in any version. */
  readonly named?: readonly string[] | undefined;
}

/** A goal in a tree. */
export interface GoalNode {
  readonly hash: string;
  readonly createdAtMs: number;
  /** Rank of its priority, 1 to 4. */
  readonly rank: number;
  readonly state: string;
  /** The current versions of its parents in the session. Parents elsewhere are named as the goal names them. */
  readonly parents: readonly string[];
}

export interface GoalTreeFound {
  readonly nodes: readonly GoalNode[];
  /** Number of the session's goals. */
  readonly total: number;
  /** For each hash that was asked for the current version of its goal; null for one that is not in the session. */
  readonly named: readonly (string | null)[];
}

/** The grain that a hash names in any version, as a walk up the parents of goals needs it. */
export interface NamedGoal {
  /** The same number for all versions of the grain, in its partition. */
  readonly chain: number;
  /** False for a grain of another type, which has no parents. */
  readonly isGoal: boolean;
  /** The parents that the newest version names. */
  readonly parents: readonly string[];
}

export interface GoalCalls {
  /** Changes the newest version of the goal that `hash` names in any version. */
  changeGoal: { input: { readonly hash: string; readonly change: GoalChange }; output: ChangedGoal };
  /** The goals of a session in every state, with their parents. */
  goalTree: { input: GoalTreeQuery; output: GoalTreeFound };
  /** The goal of each hash; null if it is not in this partition, or the caller may not read it. */
  namedGoals: { input: { hashes: readonly string[] }; output: { goals: readonly (NamedGoal | null)[] } };
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
  goalTree: {
    kind: 'long',
    changes: 'nothing',
    gather: 'own',
    governed: 'reads',
    refusal: 'first',
    access: 'viewer',
  },
  namedGoals: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'never',
    governed: 'reads',
    access: 'viewer',
  },
} as const satisfies RowsOf<GoalCalls>;
