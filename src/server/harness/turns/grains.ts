// The fields of the grains that a turn writes.
import { defined } from '../../../engine/base/defined.ts';
import { actionsOf, type NewCall, type Turn } from '../../../engine/turn/turn.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { type Persons, sourceFields } from '../../models/persons.ts';
import type { FinishReason, TokenUsage } from '../../models/request.ts';
import type { CallResult } from './tool-runs.ts';

type Place = Pick<Turn, 'conversationId' | 'sessionId' | 'slug' | 'namespace' | 'userId'>;

interface Spoken {
  /** The persons whose texts the model was shown. */
  readonly persons: Persons;
  readonly model: string;
  readonly reason: FinishReason;
  readonly usage: TokenUsage | undefined;
}

function placed({ conversationId, namespace, userId }: Place): JsonObject {
  return defined({ session_id: conversationId, namespace, user_id: userId });
}

/** The message that begins a turn. */
export function messageFields(turn: Place, content: string): JsonObject {
  return {
    ...placed(turn),
    content,
    role: 'user',
    source_type: 'user',
    // Another turn may bring the same words in the same second.
    run_id: turn.sessionId,
    context: { harness: turn.slug },
  };
}

/** The model's words before it calls tools. */
export function saidFields(turn: Turn, content: string, spoken: Spoken): JsonObject {
  return { ...spokenFields(turn, content, spoken), stop_reason: 'tool_use' };
}

/** The final answer. It names the actions that led to it. */
export function answerFields(turn: Turn, content: string, spoken: Spoken): JsonObject {
  const actions = actionsOf(turn);
  return {
    ...spokenFields(turn, content, spoken),
    stop_reason: spoken.reason,
    context: defined({ harness: turn.slug, action_hashes: actions.length === 0 ? undefined : [...actions] }),
  };
}

function spokenFields(turn: Turn, content: string, { persons, model, usage }: Spoken): JsonObject {
  return defined({
    ...placed(turn),
    ...sourceFields(persons, turn.userId),
    content,
    role: 'assistant',
    source_type: 'agent',
    run_id: turn.sessionId,
    parent_message_id: turn.userEvent,
    model_id: model,
    token_usage: usage === undefined ? undefined : { ...usage },
    context: { harness: turn.slug },
  });
}

/** A call before it is run. `expiresAtMs`: when the caller must have answered. */
export function actionFields(
  turn: Turn,
  { callId, tool }: NewCall,
  {
    input,
    persons,
    expiresAtMs,
  }: { readonly input: JsonObject; readonly persons: Persons; readonly expiresAtMs: number | undefined },
): JsonObject {
  return defined({
    ...placed(turn),
    ...sourceFields(persons, turn.userId),
    tool_name: tool,
    input,
    tool_call_id: callId,
    call_batch_id: `${turn.sessionId}/${turn.iteration + 1}`,
    parent_task_id: turn.sessionId,
    kind: 'execution',
    status: 'pending',
    source_type: 'agent',
    expires_at_sec: expiresAtMs === undefined ? undefined : Math.floor(expiresAtMs / 1_000),
  });
}

/** The fields that a call gets when it has ended. */
export function endedFields(
  { output, failed, cause, reason }: Pick<CallResult, 'output' | 'failed' | 'cause' | 'reason'>,
  durationMs: number | undefined,
  by: 'host' | 'client' = 'host',
): JsonObject {
  return defined({
    status: failed ? 'failed' : 'completed',
    is_error: failed,
    content: output === undefined || output === '' || output === null ? undefined : output,
    error: reason,
    failure_cause: cause,
    failure_detail: reason,
    duration_ms: durationMs,
    actor_execution_environment: by === 'host' ? 'server_side_host' : 'client_side_unattested',
  });
}
