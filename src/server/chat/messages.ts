// The messages of a chat turn: those that the request brings become events of the thread, and those before them are the
// history that the model is shown.
import { defined } from '../../engine/base/defined.ts';
import { CHAT_HISTORY_CHARS_MAX } from '../../engine/base/limits.ts';
import type { GrainView, JsonObject } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import type { ModelMessage } from '../models/request.ts';
import type { Place } from './place.ts';

export interface Said {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface StoredMessage {
  readonly hash: string;
  readonly createdAtMs: number;
}

/** A message of the thread that the model is shown. */
export interface Shown {
  readonly grain: GrainView;
  readonly message: ModelMessage;
}

/** Fields of every event of the turn. `run_id` names the turn, so equal words in one second stay two messages. */
export function eventFields({ threadId, userId, namespace, turnId }: Place): JsonObject {
  return defined({ session_id: threadId, user_id: userId, namespace, run_id: turnId });
}

/** Stores what the request says, in its order. Messages of role system are for this turn alone and are not kept. */
export async function storeSaid(
  context: Pick<Context, 'call'>,
  place: Place,
  said: readonly Said[],
): Promise<StoredMessage[]> {
  const stored: StoredMessage[] = [];
  let last = 0;
  for (const [at, { role, content }] of said.entries()) {
    if (role === 'system') continue;
    const fields: JsonObject = defined({
      ...eventFields(place),
      // Two equal messages of one request are two messages.
      run_id: at === said.length - 1 ? place.turnId : `${place.turnId}-${at}`,
      content,
      role,
      source_type: role === 'assistant' ? 'agent' : undefined,
    });
    await place.after(last);
    const { hash } = await context.call(
      'add',
      { grainType: 'event', fields, sync: false },
      place.keyed(`message ${at}`),
    );
    const { createdAtMs } = await context.call('get', { hash });
    last = createdAtMs;
    stored.push({ hash, createdAtMs });
  }
  return stored;
}

/**
 * The messages of the thread before these, oldest first, at most `limit`, beginning with one of a user. Where the chat is with a
 * person, those of other persons are left out.
 */
export async function historyOf(
  context: Pick<Context, 'call'>,
  { threadId, userId }: Place,
  { before, limit }: { readonly before: StoredMessage | undefined; readonly limit: number },
): Promise<Shown[]> {
  if (threadId === undefined || before === undefined || limit === 0) return [];
  const { grains } = await context.call('list', {
    filter: { sessionId: threadId, grainTypes: ['event'], ...defined({ forUser: userId }) },
    limit,
    order: 'desc',
    after: before,
  });
  const shown: Shown[] = [];
  let left = CHAT_HISTORY_CHARS_MAX;
  for (const grain of grains) {
    const message = messageOf(grain);
    if (message === undefined) continue;
    left -= message.text?.length ?? 0;
    if (left < 0) break;
    shown.push({ grain, message });
  }
  shown.reverse();
  // A conversation that begins with an answer is refused by some providers.
  const first = shown.findIndex(({ message }) => message.role === 'user');
  return first < 0 ? [] : shown.slice(first);
}

function messageOf({ fields }: GrainView): ModelMessage | undefined {
  const { role, content } = fields;
  if (typeof content !== 'string' || content.trim() === '') return undefined;
  if (role === 'assistant') return { role, text: content };
  return role === undefined || role === 'user' ? { role: 'user', text: content } : undefined;
}

/** The answer that the thread has to a message; undefined while it has none. */
export async function answerTo(
  context: Pick<Context, 'call'>,
  { threadId, turnId }: Place,
  message: StoredMessage,
): Promise<GrainView | undefined> {
  if (threadId === undefined) return undefined;
  const { grains } = await context.call('list', {
    filter: { sessionId: threadId, grainTypes: ['event'] },
    limit: LATER_MESSAGES,
    order: 'asc',
    after: message,
  });
  return grains.find(({ fields }) => fields['role'] === 'assistant' && fields['run_id'] === turnId);
}

/** Messages among which the answer to a repeated request is looked for. */
const LATER_MESSAGES = 100;
