// The answer to a repeated request: what its thread has already, without asking a model.
import { defined } from '../../engine/base/defined.ts';
import type { GrainView, JsonObject } from '../../shards/protocol.ts';
import type { ChatEvent, OpenedChat } from './event.ts';

export function repeated({ hash, fields }: GrainView, key: string | undefined): OpenedChat {
  const { content, stop_reason: reason, token_usage: usage, session_id: threadId, model_id: model } = fields;
  const data: JsonObject = defined({
    finish_reason: reason ?? 'stop',
    usage: usage === undefined || usage === null ? undefined : usage,
    thread_id: threadId ?? null,
    message_hash: hash,
    model: model ?? null,
    repeated: true,
  });
  const events: readonly ChatEvent[] = [
    { event: 'text', data: { delta: String(content) } },
    { event: 'done', data },
  ];
  return {
    key,
    async *events() {
      yield* events;
    },
  };
}
