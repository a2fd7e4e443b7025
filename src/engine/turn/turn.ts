// The turn of a harness as a state machine. A turn answers one message of a conversation: the model is called, its tools
// run, and their results go back to it, until it answers in words. Each step is one transaction, so a turn that a crash
// interrupts is found in one of these states:
//
//   running           the server works on it; `server` names the run of the server
//   awaiting_client   the caller runs tools, or a restart interrupted the turn; it waits for a resume
//   completed, cancelled, failed, expired   the turn has ended
//
// A turn names grains and holds none of their text: messages are events, calls of tools are actions.

export const TURN_STATUSES = ['running', 'awaiting_client', 'completed', 'cancelled', 'failed', 'expired'] as const;
export type TurnStatus = (typeof TURN_STATUSES)[number];

/** Why a call of a tool failed, as action grains say it. */
export type FailureCause = 'timeout' | 'executor_error' | 'schema_validation_failed' | 'user_aborted' | 'unknown';

/** A call that the model asked for. */
export interface ToolCall {
  /** Unique in the turn. */
  readonly callId: string;
  readonly tool: string;
  /** The caller runs it (`client`), or the server does. */
  readonly by: 'client' | 'host';
  /** A second run does no harm: the tool only reads, or is annotated as idempotent. */
  readonly repeatable: boolean;
  readonly state: 'pending' | 'completed' | 'failed';
  /** Hash of the current version of its action. */
  readonly action: string;
}

/** An answer of the model that asked for tools. */
export interface TurnStep {
  /** Hash of the event with the text that the model wrote besides the calls; absent if it wrote none. */
  readonly said?: string | undefined;
  readonly calls: readonly ToolCall[];
}

export interface Turn {
  readonly sessionId: string;
  readonly slug: string;
  readonly conversationId: string;
  readonly userId?: string | undefined;
  readonly namespace: string;
  readonly status: TurnStatus;
  /** Counts the changes: a change names the version that it builds on. */
  readonly version: number;
  /** The run of the server that works on the turn, or did last. */
  readonly server: string;
  /** Answers of the model so far. */
  readonly iteration: number;
  /** Hash of the event with the message. */
  readonly userEvent: string;
  readonly steps: readonly TurnStep[];
  /** Hash of the event with the final answer. */
  readonly assistantEvent?: string | undefined;
  /** The caller's choices for this turn, in place of the harness's own. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** Tools that the caller offered for this turn, as JSON. */
  readonly clientTools?: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** When a turn that awaits its client expires. */
  readonly expiresAtMs?: number | undefined;
  /** The code of the error that ended a failed turn. */
  readonly failure?: string | undefined;
  /** A restart of the server interrupted the turn, and it has not been resumed yet. */
  readonly interrupted?: true | undefined;
}

/** A call as the model asked for it, before its action is written. */
export type NewCall = Pick<ToolCall, 'callId' | 'tool' | 'by' | 'repeatable'>;

/** An event that changes the state of a turn. */
export type TurnEvent =
  /** The model asked for tools. `invalid`: calls that are not run, because what the model sent is wrong. */
  | { readonly kind: 'answered'; readonly calls: readonly NewCall[] }
  /** A tool of the server has ended. */
  | { readonly kind: 'resolved'; readonly callId: string; readonly failed: boolean }
  /** Only calls of the client are left. */
  | { readonly kind: 'paused'; readonly untilMs: number }
  /** The caller resumes the turn with the outcome of each call that it was asked for. */
  | {
      readonly kind: 'resumed';
      readonly server: string;
      readonly outputs: readonly { readonly callId: string; readonly failed: boolean }[];
    }
  /** The model answered in words. */
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly code: string }
  | { readonly kind: 'cancelled' }
  /** The client did not answer in time. */
  | { readonly kind: 'expired' }
  /** Another run of the server finds the turn as its predecessor left it. */
  | { readonly kind: 'interrupted'; readonly server: string; readonly untilMs: number };

/** How a pending call ends with a change. */
export interface Outcome {
  readonly callId: string;
  readonly action: string;
  readonly by: ToolCall['by'];
  readonly failed: boolean;
  /** Set for calls that the turn itself ends, without an output. */
  readonly cause?: FailureCause | undefined;
  readonly detail?: string | undefined;
}

/** The turn after an event. Actions of `outcomes` get a new version, in their order. */
export interface Change {
  readonly turn: Turn;
  readonly outcomes: readonly Outcome[];
}

/** An event that the turn's state does not allow. */
export type Refusal = { readonly refused: 'state' | 'outputs'; readonly reason: string };

export const LOST_CALL = 'the server stopped while the tool ran, so its effect is not known';
const EXPIRED_CALL = 'the caller did not answer in time';
const CANCELLED_CALL = 'the turn was cancelled';
const ENDED_CALL = 'the turn failed before the call ended';

export function isOver({ status }: Pick<Turn, 'status'>): boolean {
  return status !== 'running' && status !== 'awaiting_client';
}

/** The calls of the last step that have not ended. Earlier steps have none. */
export function pendingCalls(turn: Pick<Turn, 'steps'>, by?: ToolCall['by']): readonly ToolCall[] {
  return (turn.steps.at(-1)?.calls ?? []).filter(
    (call) => call.state === 'pending' && (by === undefined || call.by === by),
  );
}

/** The hashes of all actions of the turn, in the order of the calls. */
export function actionsOf({ steps }: Pick<Turn, 'steps'>): readonly string[] {
  return steps.flatMap(({ calls }) => calls.map(({ action }) => action));
}

/** The event that follows from the state of a turn and the time alone; undefined if there is none. */
export function dueEvent(turn: Turn, nowMs: number, server: string, pauseMs: number): TurnEvent | undefined {
  if (turn.status === 'awaiting_client' && (turn.expiresAtMs ?? 0) <= nowMs) return { kind: 'expired' };
  if (turn.status === 'running' && turn.server !== server)
    return { kind: 'interrupted', server, untilMs: nowMs + pauseMs };
  return undefined;
}

/**
 * The turn after an event. `actions`: the hashes of the actions that were written for new calls, in their order; `said`:
 * of the event with what the model said; `answer`: of the event with the final answer.
 */
export function applyEvent(
  turn: Turn,
  event: TurnEvent,
  nowMs: number,
  written: {
    readonly actions?: readonly string[] | undefined;
    readonly said?: string | undefined;
    readonly answer?: string | undefined;
  } = {},
): Change | Refusal {
  const refusal = refuse(turn, event, nowMs);
  if (refusal !== undefined) return refusal;
  const next = { ...turn, version: turn.version + 1, updatedAtMs: Math.max(nowMs, turn.updatedAtMs) };
  switch (event.kind) {
    case 'answered': {
      const calls = event.calls.map(
        (call, at): ToolCall => ({ ...call, state: 'pending', action: written.actions?.[at] ?? '' }),
      );
      const step: TurnStep = written.said === undefined ? { calls } : { said: written.said, calls };
      return { turn: { ...next, iteration: turn.iteration + 1, steps: [...turn.steps, step] }, outcomes: [] };
    }
    case 'resolved':
      return ended(next, [outcomeOf(turn, event)]);
    case 'paused':
      return { turn: { ...next, status: 'awaiting_client', expiresAtMs: event.untilMs }, outcomes: [] };
    case 'resumed': {
      const { expiresAtMs: _, interrupted: __, ...rest } = next;
      const running: Turn = { ...rest, status: 'running', server: event.server };
      return ended(
        running,
        event.outputs.map((output) => outcomeOf(turn, output)),
      );
    }
    case 'completed':
      return {
        turn: over({ ...next, iteration: turn.iteration + 1, assistantEvent: written.answer }, 'completed'),
        outcomes: [],
      };
    case 'failed':
      return ended(over({ ...next, failure: event.code }, 'failed'), allFailed(turn, 'unknown', ENDED_CALL));
    case 'cancelled':
      return ended(over(next, 'cancelled'), allFailed(turn, 'user_aborted', CANCELLED_CALL));
    case 'expired':
      return ended(over(next, 'expired'), allFailed(turn, 'timeout', EXPIRED_CALL));
    case 'interrupted': {
      const lost = pendingCalls(turn, 'host').filter(({ repeatable }) => !repeatable);
      return ended(
        {
          ...next,
          status: 'awaiting_client',
          server: event.server,
          expiresAtMs: event.untilMs,
          interrupted: true,
        },
        lost.map((call) => failed(call, 'unknown', LOST_CALL)),
      );
    }
  }
}

/** A refusal of an event that does not fit the state of the turn. */
function refuse(turn: Turn, event: TurnEvent, nowMs: number): Refusal | undefined {
  if (isOver(turn)) return state(`the turn has ended: it is ${turn.status}`);
  const { status } = turn;
  const pending = pendingCalls(turn);
  switch (event.kind) {
    case 'answered':
      if (status !== 'running' || pending.length > 0) return state('the turn is not waiting for the model');
      return event.calls.length === 0 ? state('the model asked for no tool') : undefined;
    case 'resolved':
      return status === 'running' && pending.some(({ callId, by }) => callId === event.callId && by === 'host')
        ? undefined
        : state('no such call is under way');
    case 'paused': {
      const isReady = status === 'running' && pending.length > 0 && pending.every(({ by }) => by === 'client');
      return isReady ? undefined : state('there is nothing to wait for');
    }
    case 'resumed':
      if (status !== 'awaiting_client') return state('the turn is not waiting for its client');
      if ((turn.expiresAtMs ?? 0) <= nowMs) return state('the turn has expired');
      return refuseOutputs(
        pendingCalls(turn, 'client').map(({ callId }) => callId),
        event.outputs.map(({ callId }) => callId),
      );
    case 'completed':
      return status === 'running' && pending.length === 0 ? undefined : state('calls are still pending');
    case 'failed':
      return status === 'running' ? undefined : state('the turn is not running');
    case 'cancelled':
      return undefined;
    case 'expired':
      return status === 'awaiting_client' ? undefined : state('the turn is not waiting for its client');
    case 'interrupted':
      return status === 'running' && turn.server !== event.server ? undefined : state('the turn is not interrupted');
  }
}

/** Every pending call is answered once. */
function refuseOutputs(asked: readonly string[], answered: readonly string[]): Refusal | undefined {
  const open = new Set(asked);
  for (const callId of answered)
    if (!open.delete(callId))
      return outputs(`the call ${callId} ${asked.includes(callId) ? 'has two outputs' : 'is not pending'}`);
  const [missing] = open;
  return missing === undefined ? undefined : outputs(`the call ${missing} has no output`);
}

function state(reason: string): Refusal {
  return { refused: 'state', reason };
}

function outputs(reason: string): Refusal {
  return { refused: 'outputs', reason };
}

function outcomeOf(turn: Turn, of: { readonly callId: string; readonly failed: boolean }): Outcome {
  const call = pendingCalls(turn).find(({ callId }) => callId === of.callId);
  return { callId: of.callId, action: call?.action ?? '', by: call?.by ?? 'host', failed: of.failed };
}

function failed({ callId, action, by }: ToolCall, cause: FailureCause, detail: string): Outcome {
  return { callId, action, by, failed: true, cause, detail };
}

function allFailed(turn: Turn, cause: FailureCause, detail: string): readonly Outcome[] {
  return pendingCalls(turn).map((call) => failed(call, cause, detail));
}

function over(turn: Turn, status: TurnStatus): Turn {
  const { expiresAtMs: _, interrupted: __, ...rest } = turn;
  return { ...rest, status };
}

/** The turn with these calls ended. */
function ended(turn: Turn, outcomes: readonly Outcome[]): Change {
  if (outcomes.length === 0) return { turn, outcomes };
  const failures = new Map(outcomes.map((outcome) => [outcome.callId, outcome.failed]));
  const last = turn.steps.at(-1)!; // it has the calls
  const calls = last.calls.map((call): ToolCall => {
    const isFailed = failures.get(call.callId);
    return isFailed === undefined || call.state !== 'pending'
      ? call
      : { ...call, state: isFailed ? 'failed' : 'completed' };
  });
  return { turn: { ...turn, steps: [...turn.steps.slice(0, -1), { ...last, calls }] }, outcomes };
}

/** The turn with the hash of the new version of an action. */
export function withAction(turn: Turn, old: string, action: string): Turn {
  return {
    ...turn,
    steps: turn.steps.map((step) => ({
      ...step,
      calls: step.calls.map((call) => (call.action === old ? { ...call, action } : call)),
    })),
  };
}
