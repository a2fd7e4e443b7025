// Calls on one session: its state, goals and actions, and what it says more than once. A grain belongs to a session by its session id, or by a
// namespace of the same name.
import type { JsonObject } from '../grain/api/json-value.ts';
import type { GrainFilter, GrainView } from './grain.ts';
import type { RowsOf } from './row.ts';

/** Where a page of actions ended: the creation time and the hash of its last action. */
export interface ActionPlace {
  readonly createdAtMs: number;
  readonly hash: string;
}

export interface ActionsQuery {
  readonly limit: number;
  /** The default is desc: newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** Only actions after this place. */
  readonly after?: ActionPlace | undefined;
  /** Actions to pass over, after `after`. */
  readonly offset?: number | undefined;
  readonly toolName?: string | undefined;
  /** Only failed actions. */
  readonly failed?: true | undefined;
}

/** Where a page of goals ended: the rank of its last goal's priority, its creation time and its hash. */
export interface GoalPlace extends ActionPlace {
  readonly rank: number;
}

export interface GoalsQuery {
  readonly states: readonly string[];
  readonly limit: number;
  /** Only goals after this place. */
  readonly after?: GoalPlace | undefined;
  /** Goals to pass over, after `after`. */
  readonly offset?: number | undefined;
}

export interface SessionQuery {
  readonly sessionId: string;
  /** Only grains of the session that pass this too. */
  readonly only?: Pick<GrainFilter, 'namespace' | 'forUser'> | undefined;
  /** Answer with the current state. */
  readonly state?: true | undefined;
  /** Answer with the times of the first and the last grain. */
  readonly seen?: true | undefined;
  /** Answer with the goals in these states, in the order of their priority, at most `limit`. */
  readonly goals?: GoalsQuery | undefined;
  readonly actions?: ActionsQuery | undefined;
  /** Answer with the places of the goals and actions alone, which opens no grain. */
  readonly placesOnly?: true | undefined;
  /** Maximum JSON bytes of all grains; replaces the default for an answer. */
  readonly bytesMax?: number | undefined;
}

/** Members that were not asked for are empty. */
export interface SessionView {
  /** The newest current state of the session. */
  readonly state: GrainView | null;
  /** Creation times of the oldest and the newest grain of the session, of any type, in ms. */
  readonly seen: { readonly firstMs: number; readonly lastMs: number } | null;
  /** By priority, then newest first. Ends early if the answer has no more room. */
  readonly goals: readonly GrainView[];
  readonly goalsTotal: number;
  /** True if more goals follow these. */
  readonly moreGoals: boolean;
  /** Newest first. Ends early if the answer has no more room. */
  readonly actions: readonly GrainView[];
  readonly actionsTotal: number;
  /** True if there are more actions than these. */
  readonly moreActions: boolean;
  /** With `placesOnly`, in the order of the list; the rank of an action is 0. */
  readonly places?: readonly GoalPlace[] | undefined;
}

export interface ToolTally {
  readonly tool: string;
  readonly calls: number;
  readonly successes: number;
  readonly failures: number;
  readonly durationMs: number;
}

export interface ErrorTally {
  readonly error: string;
  readonly count: number;
}

export interface SessionSummary {
  readonly calls: number;
  readonly successes: number;
  readonly failures: number;
  readonly durationMs: number;
  /** Most calls first. */
  readonly tools: readonly ToolTally[];
  /** Most frequent first. */
  readonly errors: readonly ErrorTally[];
  /** True if there are more tools or errors than these. The sums cover all. */
  readonly cut: boolean;
}

export interface ChainQuery {
  /** Names whose actions are asked for: of a task, a call, or a hash. */
  readonly below: readonly string[];
  /** Names, as above, of actions that have children. Actions beside these are not part of the chain. */
  readonly above: readonly string[];
  readonly limit: number;
}

/** Actions in no particular order. */
export interface ActionChain {
  readonly below: readonly GrainView[];
  readonly above: readonly GrainView[];
  /** True if the chain has more actions than `limit`, or than an answer holds. */
  readonly cut: boolean;
}

export type ContextFormat = 'json' | 'text';

export interface ContextQuery {
  readonly sessionId: string;
  readonly tokenBudget: number;
  readonly format: ContextFormat;
  /** How well grains match the caller's query, 0 to 1, by hash. Other grains do not match it. */
  readonly relevance?: readonly (readonly [hash: string, relevance: number])[] | undefined;
  /**
   * Actions and beliefs to skip, in the order of their value: those of earlier calls, which each read up to
   * CONTEXT_OPENED_MAX of them. State and goals come with the first call.
   */
  readonly offset?: number | undefined;
}

/** A grain of a context, in both formats. */
export interface ContextPiece {
  readonly kind: 'goal' | 'action' | 'belief';
  readonly hash: string;
  readonly createdAtMs: number;
  /** By which actions and beliefs are chosen; 0 for goals, which have an order of their own. */
  readonly value: number;
  /** Rank of a goal's priority, 1 to 4; 0 for other kinds. */
  readonly rank: number;
  readonly body: JsonObject;
  readonly line: string;
  /** Characters that it costs, with what parts it from its neighbour. */
  readonly chars: Readonly<Record<ContextFormat, number>>;
}

/** The state of a session as far as it fits its share of a budget. */
export interface ContextState {
  readonly hash: string;
  readonly createdAtMs: number;
  /** Null if it does not fit with any of its keys. */
  readonly shown: JsonObject | null;
  /** Characters that it costs. */
  readonly chars: number;
  /** Number of keys that were left out. */
  readonly trimmedKeys: number;
}

/** Candidates for a context: as many as would fit if this partition were the only one. */
export interface ContextFound {
  readonly state: ContextState | null;
  readonly goals: readonly ContextPiece[];
  /** Actions and beliefs, the most valuable first. */
  readonly items: readonly ContextPiece[];
  /** Number of grains of the session, with those that did not fit. */
  readonly totals: { readonly goals: number; readonly actions: number; readonly beliefs: number };
  /** True if there is room for more actions and beliefs than one call reads. */
  readonly more: boolean;
}

export interface CompiledContext {
  readonly state: JsonObject | null;
  readonly goals: readonly JsonObject[];
  readonly actions: readonly JsonObject[];
  readonly beliefs: readonly JsonObject[];
  /** Only in the format `text`. */
  readonly text: string | undefined;
  readonly estimatedTokens: number;
  readonly truncated: boolean;
  /** Number of what was left out, by kind. */
  readonly dropped: {
    readonly states: number;
    readonly stateKeys: number;
    readonly goals: number;
    readonly actions: number;
    readonly beliefs: number;
  };
}

/** Grains that say the same as another one. */
export interface DuplicateGroup {
  readonly canonical: string;
  /** With how similar each one is to the canonical grain, 0 to 1. */
  readonly duplicates: readonly { readonly hash: string; readonly similarity: number }[];
}

export interface DuplicatesFound {
  /** Number of grains that were compared. */
  readonly analyzed: number;
  /** Number of partitions with such grains. Only grains of one partition are compared with each other. */
  readonly partitions: number;
  readonly groups: readonly DuplicateGroup[];
  /** True if not everything was compared, or not every duplicate is named. */
  readonly cut: boolean;
}

/** The tag of the state that makes its session a chat thread, and of one that is archived. */
export const THREAD_TAG = 'chat_thread';
export const ARCHIVED_TAG = 'chat_archived';

/** The events of a session that the caller may see. */
export interface SessionSize {
  readonly count: number;
  /** Creation time of the newest one in ms; 0 without any. */
  readonly lastMs: number;
}

/** The calls on a session. */
export interface SessionCalls {
  session: { input: SessionQuery; output: SessionView };
  /** Counts of the session's actions, from columns of the index. */
  sessionSummary: { input: { readonly sessionId: string }; output: SessionSummary };
  /** The parts of a context, before it is compiled over all partitions. */
  sessionContext: { input: ContextQuery; output: ContextFound };
  /** Statements of the session that this partition holds more than once. */
  sessionDuplicates: {
    input: { readonly sessionId: string; readonly threshold: number };
    output: DuplicatesFound;
  };
  /**
   * Replaces grains by a new version of one of them. Its hash is the output; with `check`, which changes nothing, the
   * hash of the canonical grain.
   */
  mergeGrains: {
    input: DuplicateGroup & { readonly check?: true | undefined };
    output: { readonly hash: string };
  };
  /** Actions of the session that hang together with those that are named. */
  sessionChain: { input: ChainQuery & { readonly sessionId: string }; output: ActionChain };
  /** The state of a chat thread (session/thread.ts); null when there is none. Refused as a read by its hash is. */
  thread: { input: { readonly threadId: string }; output: { readonly state: GrainView | null } };
  /** The sizes of sessions, in their order. */
  sessionSizes: {
    input: { readonly sessionIds: readonly string[] };
    output: { readonly sizes: readonly SessionSize[] };
  };
}

export const SESSION_ROWS = {
  session: { kind: 'read', trail: 'entry', refusal: 'first', gather: 'own', governed: 'reads', access: 'viewer' },
  sessionSummary: {
    kind: 'read',
    trail: 'entry',
    refusal: 'first',
    gather: 'merged',
    governed: 'reads',
    access: 'viewer',
  },
  sessionContext: {
    kind: 'read',
    trail: 'entry',
    refusal: 'first',
    gather: 'merged',
    governed: 'reads',
    access: 'viewer',
  },
  sessionChain: { kind: 'read', trail: 'entry', refusal: 'first', gather: 'own', governed: 'reads', access: 'viewer' },
  sessionDuplicates: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: 'reads',
    refusal: 'first',
    access: 'viewer',
  },
  thread: { kind: 'read', trail: 'entry', refusal: 'each', gather: 'merged', governed: 'reads', access: 'viewer' },
  sessionSizes: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'first',
    gather: 'merged',
    governed: { nothing: 'numbers and times of the events that the caller may see' },
    access: { open: 'numbers and times of the events that the caller may view' },
  },
  mergeGrains: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'same',
    gather: 'own',
    governed: 'writes',
    access: 'editor',
  },
} as const satisfies RowsOf<SessionCalls>;
