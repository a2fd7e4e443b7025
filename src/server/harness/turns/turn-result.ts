// The answer of a turn, made from its grains alone: a repeated request gets the same one.
import type { Turn } from '../../../engine/turn/turn.ts';
import { pendingCalls } from '../../../engine/turn/turn.ts';
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';
import { argumentsOf, type CallOnRecord, contentOf, outputOf, type Transcript } from './transcript.ts';

export interface PendingCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: JsonObject;
  readonly executorUri: string;
  /** In Unix seconds. */
  readonly expiresAt: number;
}

export interface InlineResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: JsonValue;
  readonly isError: boolean;
  readonly actionHash: string;
}

export function pendingOf(
  turn: Turn,
  transcript: Transcript,
  uriOf: (tool: string) => string | undefined,
): readonly PendingCall[] {
  if (turn.status !== 'awaiting_client') return [];
  const open = new Set(pendingCalls(turn, 'client').map(({ callId }) => callId));
  const calls = transcript.steps.at(-1)?.calls ?? [];
  return calls
    .filter(({ callId }) => open.has(callId))
    .map((call) => ({
      toolCallId: call.callId,
      toolName: call.tool,
      arguments: argumentsOf(call),
      executorUri: uriOf(call.tool) ?? `client://${call.tool}`,
      expiresAt: Math.floor((turn.expiresAtMs ?? 0) / 1_000),
    }));
}

/** The calls that the server ran, in the order in which the model asked for them. */
export function inlineResults({ steps }: Transcript): readonly InlineResult[] {
  return steps.flatMap(({ calls }) =>
    calls.filter(({ by, state }) => by === 'host' && state !== 'pending').map(inlineResult),
  );
}

function inlineResult(call: CallOnRecord): InlineResult {
  return {
    toolCallId: call.callId,
    toolName: call.tool,
    output: outputOf(call),
    isError: call.state === 'failed',
    actionHash: call.action,
  };
}

export function answerText({ answer }: Transcript): string {
  return contentOf(answer) ?? '';
}
