// The messages and calls of a turn so far, read from its grains. A model is shown what is stored: what the policy
// redacted is redacted, and what was erased in the meantime is gone.
import { TOOL_RESULT_CHARS_MAX } from '../../../engine/base/limits.ts';
import { stringifyJson } from '../../../engine/grain/api/json.ts';
import { actionsOf, type ToolCall, type Turn } from '../../../engine/turn/turn.ts';
import type { GrainView, JsonObject, JsonValue } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import type { ModelMessage } from '../../models/request.ts';
import { modelName } from '../arguments/check.ts';
import type { DataMarks } from './data-marks.ts';

/** A call with its action; undefined when that was removed, or may not be read. */
export interface CallOnRecord extends ToolCall {
  readonly grain: GrainView | undefined;
}

export interface StepOnRecord {
  readonly said: string | undefined;
  readonly calls: readonly CallOnRecord[];
}

export interface Transcript {
  /** The message that began the turn; undefined when it was removed. */
  readonly message: string | undefined;
  readonly steps: readonly StepOnRecord[];
  /** The final answer; undefined before it. */
  readonly answer: GrainView | undefined;
}

/** Reads all grains of the turn as the caller may see them. */
export async function readTranscript(context: Pick<Context, 'call'>, turn: Turn): Promise<Transcript> {
  const events = turn.steps.flatMap(({ said }) => said ?? []);
  const hashes = [turn.userEvent, ...(turn.assistantEvent === undefined ? [] : [turn.assistantEvent])];
  const all = [...hashes, ...events, ...actionsOf(turn)].filter((hash) => hash !== '');
  const byHash = new Map<string, GrainView>();
  // An answer has a bound of bytes: what does not fit is asked for again.
  for (let from = 0; from < all.length; ) {
    const { grains } = await context.call('fetch', { hashes: all.slice(from) });
    if (grains.length === 0) break;
    for (const grain of grains) if (grain !== null) byHash.set(grain.hash, grain);
    from += grains.length;
  }
  return {
    message: contentOf(byHash.get(turn.userEvent)),
    steps: turn.steps.map(({ said, calls }) => ({
      said: said === undefined ? undefined : contentOf(byHash.get(said)),
      calls: calls.map((call) => ({ ...call, grain: byHash.get(call.action) })),
    })),
    answer: turn.assistantEvent === undefined ? undefined : byHash.get(turn.assistantEvent),
  };
}

export function contentOf(grain: GrainView | undefined): string | undefined {
  const content = grain?.fields['content'];
  return typeof content === 'string' ? content : undefined;
}

export function argumentsOf({ grain }: CallOnRecord): JsonObject {
  const input = grain?.fields['input'];
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
}

/** The result of a call: its output, or why it failed. */
export function outputOf({ grain }: CallOnRecord): JsonValue {
  const { content, error } = grain?.fields ?? {};
  // Answers show an empty content where an action has none.
  return content !== undefined && content !== '' ? content : (error ?? null);
}

/** The messages of the turn after the first one. */
export function messagesOf({ steps }: Pick<Transcript, 'steps'>, marks: DataMarks): ModelMessage[] {
  return steps.flatMap(({ said, calls }): ModelMessage[] => [
    {
      role: 'assistant',
      text: said,
      toolCalls: calls.map((call) => ({ id: call.callId, name: modelName(call.tool), arguments: argumentsOf(call) })),
    },
    ...calls.map(
      (call): ModelMessage => ({
        role: 'tool',
        toolCallId: call.callId,
        toolName: modelName(call.tool),
        text: marks.around(cut(textOf(call))),
        isError: call.state === 'failed',
      }),
    ),
  ]);
}

function textOf(call: CallOnRecord): string {
  if (call.grain === undefined) return 'The result was removed from the memory.';
  const output = outputOf(call);
  if (output === null) return call.state === 'failed' ? 'The call failed.' : 'The call ended without an output.';
  if (call.state === 'failed' && output === call.grain.fields['error']) return `The call failed: ${String(output)}`;
  return typeof output === 'string' ? output : stringifyJson(output);
}

function cut(text: string): string {
  if (text.length <= TOOL_RESULT_CHARS_MAX) return text;
  return `${text.slice(0, TOOL_RESULT_CHARS_MAX).toWellFormed()}\n[${text.length - TOOL_RESULT_CHARS_MAX} more characters were left out]`;
}
