// Schemas that the operations on turns of harnesses share.
import { CLIENT_TOOLS_MAX, CONVERSATION_ID_CHARS_MAX } from '../../../engine/base/limits.ts';
import { toNfc } from '../../../engine/base/nfc.ts';
import { checkToolDefinition } from '../../../engine/govern/policy/tool-schema.ts';
import { actionsOf } from '../../../engine/turn/turn.ts';
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';
import type { TurnAnswer } from '../../harness/turns/chat.ts';
import type { ClientTool } from '../../harness/turns/offered.ts';
import type { PendingCall } from '../../harness/turns/turn-result.ts';
import { described, type Static, Type } from '../type.ts';

export const ConversationId = Type.String({
  minLength: 1,
  maxLength: CONVERSATION_ID_CHARS_MAX,
  description: 'Id of the conversation, chosen by the caller: the session_id of its grains. The same id continues it.',
});

export const TurnSessionId = Type.String({
  minLength: 1,
  maxLength: CONVERSATION_ID_CHARS_MAX,
  description: 'Id of the turn, as the answer to its message named it.',
});

/** The id as grains have it. */
export function conversationOf(id: string): string {
  return toNfc(id);
}

export const JsonOutput = (description: string) => Type.Unsafe<JsonValue>({ description });
const JsonMembers = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true });

export const ClientTools = Type.Array(
  described(
    Type.Object({
      toolName: Type.String({
        pattern: '^[a-zA-Z0-9_.-]{1,64}$',
        description: 'Name of the tool: letters, digits, dots, hyphens and underscores, at most 64.',
      }),
      description: Type.String({
        minLength: 1,
        maxLength: 4_096,
        description: 'Description of the tool for the model.',
      }),
      inputSchema: described(JsonMembers, 'JSON Schema of the arguments, an object at its root.'),
    }),
    'A tool.',
  ),
  {
    maxItems: CLIENT_TOOLS_MAX,
    description:
      'Tools that the caller runs itself, for this turn only, beside those of the harness; the default is none.',
  },
);

/** Throws MEM-E101 to MEM-E106 for a schema that no model may be shown. */
export function readTools(tools: Static<typeof ClientTools> | undefined): readonly ClientTool[] | undefined {
  for (const { toolName, description, inputSchema } of tools ?? [])
    checkToolDefinition({
      kind: 'definition',
      tool_name: toolName,
      tool_description: description,
      input_schema: inputSchema,
    });
  return tools;
}

const PendingOutput = Type.Object({
  toolCallId: Type.String({ description: 'Id of the call, which its output names.' }),
  toolName: Type.String({ description: 'Name of the tool.' }),
  arguments: described(JsonMembers, 'Arguments of the call.'),
  executorUri: Type.String({ description: 'Location of the tool, which begins with client://.' }),
  expiresAt: Type.Integer({ description: 'Time by which the caller must resume, in Unix seconds.' }),
});

const InlineOutput = Type.Object({
  toolCallId: Type.String({ description: 'Id of the call.' }),
  toolName: Type.String({ description: 'Name of the tool.' }),
  output: JsonOutput('The answer of the tool, or the error; null without either.'),
  isError: Type.Boolean({ description: 'Whether the call failed.' }),
  actionHash: Type.String({ description: 'Hash of the action that records the call.' }),
});

export const PendingCalls = Type.Array(described(PendingOutput, 'A call.'), {
  description: 'Calls of tools that the caller is to run, each of which a resume answers.',
});

const NullableHash = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const TurnOutput = Type.Object({
  status: Type.Enum(['completed', 'requires_action', 'running', 'cancelled', 'failed', 'expired'], {
    description:
      'How the turn stands: completed, requires_action where the caller is to resume it, or cancelled; for a repeated request also what became of it since.',
  }),
  text: Type.String({ description: "The model's answer; empty unless the turn is completed." }),
  sessionId: TurnSessionId,
  conversationId: ConversationId,
  pendingToolCalls: PendingCalls,
  inlineToolResults: Type.Array(described(InlineOutput, 'A call.'), {
    description: 'Calls of tools that the server ran in this turn, in the order in which the model asked for them.',
  }),
  actionHashes: Type.Array(Type.String(), { description: 'Hashes of the actions of this turn.' }),
  userEventHash: Type.String({ description: 'Hash of the event with the message.' }),
  assistantEventHash: NullableHash('Hash of the event with the answer; null unless the turn is completed.'),
  recallId: Type.Optional(
    Type.String({ description: 'Id of the provenance record that names every grain that the model was shown.' }),
  ),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'Parts of the request that were not fulfilled.' })),
});
export type TurnOutput = Static<typeof TurnOutput>;

export function turnOutput(
  { turn, text, pending, inline, recallId }: TurnAnswer,
  warnings: readonly string[],
): TurnOutput {
  return {
    status: turn.status === 'awaiting_client' ? 'requires_action' : turn.status,
    text,
    sessionId: turn.sessionId,
    conversationId: turn.conversationId,
    pendingToolCalls: pending.map(pendingOutput),
    inlineToolResults: inline.map((one) => ({ ...one })),
    actionHashes: [...actionsOf(turn)],
    userEventHash: turn.userEvent,
    assistantEventHash: turn.assistantEvent ?? null,
    recallId,
    warnings: warnings.length === 0 ? undefined : [...warnings],
  };
}

export function pendingOutput(call: PendingCall): Static<typeof PendingOutput> {
  return { ...call };
}
