// A thread and its messages as answers show them.

import type { SessionSize } from '../../../engine/calls/session.ts';
import { isJsonObject } from '../../../engine/grain/api/json-value.ts';
import type { GrainView, JsonValue } from '../../../shards/protocol.ts';
import type { Thread } from '../../chat/threads.ts';
import { Fields } from '../grains/fields.ts';
import { described, type Static, Type } from '../type.ts';

export const ThreadId = Type.String({ minLength: 1, maxLength: 256, description: 'Id of the thread.' });

export const ThreadOutput = Type.Object({
  threadId: ThreadId,
  title: Type.Union([Type.String(), Type.Null()], { description: 'Title of the thread; null where it has none.' }),
  createdAt: Type.Integer({ description: 'Time at which the thread was made, in Unix seconds.' }),
  updatedAt: Type.Integer({
    description: 'Time of the last message, or of the last change of the thread, in Unix seconds.',
  }),
  messageCount: Type.Integer({ description: 'Number of messages that the caller may read.' }),
  archived: Type.Boolean({ description: 'Whether the thread is archived.' }),
  metadata: described(Fields, 'The data that the caller keeps with the thread.'),
  namespace: Type.String({ description: 'Namespace of the thread and, by default, of its messages.' }),
  userId: Type.Optional(Type.String({ description: 'The data subject of the thread; absent where there is none.' })),
});
export type ThreadOutput = Static<typeof ThreadOutput>;

export function threadOutput(thread: Thread, { count, lastMs }: SessionSize): ThreadOutput {
  const { threadId, title, archived, metadata, namespace, userId, createdAt, changedAt } = thread;
  return {
    threadId,
    title: title ?? null,
    createdAt,
    updatedAt: Math.max(changedAt, Math.floor(lastMs / 1_000)),
    messageCount: count,
    archived,
    metadata,
    namespace,
    userId,
  };
}

const ToolCallOutput = Type.Object({
  id: Type.String({ description: 'Id of the call.' }),
  name: Type.String({ description: 'Name of the tool.' }),
  isError: Type.Boolean({ description: 'Whether the call failed.' }),
  grainHash: Type.Optional(
    Type.String({ description: 'Hash of the action that holds the arguments and the result of the call.' }),
  ),
});

const Usage = Type.Object({
  inputTokens: Type.Integer({ description: 'Tokens that the model read.' }),
  outputTokens: Type.Integer({ description: 'Tokens that the model wrote.' }),
});

export const MessageOutput = Type.Object({
  id: Type.String({ description: 'Id of the message: the hash of its grain.' }),
  grainHash: Type.String({ description: 'The same as id.' }),
  role: Type.String({ description: 'The speaker: user, assistant, system or tool.' }),
  content: Type.String({ description: 'Text of the message.' }),
  createdAt: Type.Integer({ description: 'Time of the message in Unix seconds.' }),
  userId: Type.Optional(Type.String({ description: 'The data subject; absent where there is none.' })),
  parentMessageId: Type.Optional(Type.String({ description: 'Id of the message that this one answers.' })),
  modelId: Type.Optional(Type.String({ description: 'Model that wrote the message.' })),
  stopReason: Type.Optional(Type.String({ description: 'Why the model stopped.' })),
  tokenUsage: Type.Optional(described(Usage, 'Tokens that the turn used.')),
  toolCalls: Type.Optional(
    Type.Array(ToolCallOutput, { description: 'Tools that the model called before it answered.' }),
  ),
});
export type MessageOutput = Static<typeof MessageOutput>;

export function messageOutput({ hash, fields, createdAt, userId }: GrainView): MessageOutput {
  const usage = fields['token_usage'];
  const calls = toolCallsOf(fields['content_blocks']);
  return {
    id: hash,
    grainHash: hash,
    role: textOf(fields['role']) ?? 'user',
    content: textOf(fields['content']) ?? '',
    createdAt,
    userId,
    parentMessageId: textOf(fields['parent_message_id']),
    modelId: textOf(fields['model_id']),
    stopReason: textOf(fields['stop_reason']),
    tokenUsage: isJsonObject(usage)
      ? { inputTokens: numberOf(usage['input_tokens']), outputTokens: numberOf(usage['output_tokens']) }
      : undefined,
    toolCalls: calls.length === 0 ? undefined : calls,
  };
}

function toolCallsOf(blocks: JsonValue | undefined): NonNullable<MessageOutput['toolCalls']> {
  if (!Array.isArray(blocks)) return [];
  return blocks.filter(isJsonObject).flatMap((block) => {
    const name = textOf(block['name']);
    if (block['type'] !== 'tool_call' || name === undefined) return [];
    const isError = block['is_error'] === true;
    return [{ id: textOf(block['id']) ?? '', name, isError, grainHash: textOf(block['action_hash']) }];
  });
}

const textOf = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
const numberOf = (value: JsonValue | undefined): number =>
  typeof value === 'number' && Number.isInteger(value) ? value : 0;
