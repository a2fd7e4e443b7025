// Sends a message to a harness, and goes on with a turn that awaits its caller.
import { TURN_CALLS_MAX, TURN_MESSAGE_CHARS_MAX } from '../../../engine/base/limits.ts';
import { toNfc } from '../../../engine/base/nfc.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import type * as Turns from '../../harness/turns/chat.ts';
import { defineOperation } from '../define.ts';
import { Slug } from '../harnesses/view.ts';
import { described, Type } from '../type.ts';
import {
  ClientTools,
  ConversationId,
  conversationOf,
  JsonOutput,
  readTools,
  TurnOutput,
  TurnSessionId,
  turnOutput,
} from './schema.ts';

const turns = onDemand<typeof Turns>(import.meta.url, '../../harness/turns/chat');

export const harnessChat = defineOperation({
  name: 'harness_chat',
  summary: 'Send a message to a harness and get the answer of its model.',
  description:
    'The model may call tools. Those of the server run before the answer; for those of the caller the turn pauses with the status requires_action.',
  example: { slug: 'support', conversation_id: 'support-4711', user_message: 'Where is my order?', user_id: 'ann' },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  disclosure: true,
  keptByShards: true,
  input: Type.Object({
    slug: Slug,
    conversationId: ConversationId,
    userMessage: Type.String({
      minLength: 1,
      maxLength: TURN_MESSAGE_CHARS_MAX,
      description: 'The message, of at most 262,144 characters.',
    }),
    userId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'The person who speaks, to whom what is stored belongs; the default is the one of the binding.',
      }),
    ),
    provider: Type.Optional(
      Type.String({ minLength: 1, description: 'Provider for this turn; the default is that of the harness.' }),
    ),
    model: Type.Optional(
      Type.String({ minLength: 1, description: 'Model for this turn; the default is that of the harness.' }),
    ),
    clientTools: Type.Optional(ClientTools),
  }),
  output: TurnOutput,
  errors: ['HRN-E001', 'HRN-E002', 'HRN-E003', 'HRN-E007', 'HRN-E010', 'LLM-E001', 'LLM-E002', 'LLM-E003'],
  http: [{ verb: 'POST', path: 'M/harnesses/{slug}/chat' }],
  async run({ slug, conversationId, userMessage, userId, provider, model, clientTools }, context) {
    const answer = await turns().beginTurn(context, {
      slug,
      conversationId: conversationOf(conversationId),
      text: userMessage,
      userId: userId === undefined ? undefined : toNfc(userId),
      provider,
      model,
      clientTools: readTools(clientTools),
    });
    return turnOutput(answer, context.warnings.splice(0));
  },
});

const ToolOutputInput = Type.Object({
  toolCallId: Type.String({ minLength: 1, maxLength: 128, description: 'Id of the pending call.' }),
  output: Type.Optional(JsonOutput('The answer of the tool, as JSON of at most 262,144 bytes; no default.')),
  error: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4_096, description: 'Why the call failed; by default it did not.' }),
  ),
  isError: Type.Optional(
    Type.Boolean({ description: 'Whether the call failed; the default is true with an error, else false.' }),
  ),
});

export const harnessResume = defineOperation({
  name: 'harness_resume',
  summary: 'Go on with a turn that awaits the outputs of tools that the caller runs.',
  description:
    'It answers every pending call exactly once. A turn that a restart of the server interrupted goes on too; it may have no pending calls.',
  example: {
    slug: 'support',
    session_id: 'ses_aaaaaaaaaaaaaaaaaaaaaaaa',
    tool_outputs: [{ tool_call_id: 'call_1', output: { state: 'shipped' } }],
  },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  disclosure: true,
  keptByShards: true,
  input: Type.Object({
    slug: Slug,
    sessionId: TurnSessionId,
    toolOutputs: Type.Array(described(ToolOutputInput, 'An output.'), {
      maxItems: TURN_CALLS_MAX,
      description: 'The output of each pending call, in any order.',
    }),
  }),
  output: TurnOutput,
  errors: ['HRN-E001', 'HRN-E002', 'HRN-E004', 'HRN-E005', 'HRN-E006', 'HRN-E007', 'LLM-E001', 'LLM-E002', 'LIM-E003'],
  http: [{ verb: 'POST', path: 'M/harnesses/{slug}/chat/resume' }],
  async run({ slug, sessionId, toolOutputs }, context) {
    const answer = await turns().resumeTurn(context, { slug, sessionId, outputs: toolOutputs });
    return turnOutput(answer, context.warnings.splice(0));
  },
});
