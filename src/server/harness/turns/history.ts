// The messages of a conversation before a turn.
import { TURN_HISTORY_MAX } from '../../../engine/base/limits.ts';
import { sourceUsersOf } from '../../../engine/grain/api/source-users.ts';
import type { Turn } from '../../../engine/turn/turn.ts';
import type { GrainView } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { type Persons, personsOf } from '../../models/persons.ts';
import type { ModelMessage } from '../../models/request.ts';
import { contentOf } from './transcript.ts';

export interface History {
  readonly messages: readonly ModelMessage[];
  /** Hashes of the events that they are from. */
  readonly shown: readonly string[];
  readonly persons: Persons;
}

/** Events to read: more than the messages of the history, because some events, such as the turn's own, are left out. */
const READ = TURN_HISTORY_MAX * 3;

/** The last messages of the conversation, oldest first, as far as the caller may see them. */
export async function readHistory(context: Pick<Context, 'call'>, turn: Turn): Promise<History> {
  const { grains } = await context.call('list', {
    filter: { sessionId: turn.conversationId, grainTypes: ['event'] },
    limit: READ,
    order: 'desc',
  });
  const messages: ModelMessage[] = [];
  const shown: GrainView[] = [];
  for (const grain of grains) {
    const { role, run_id: run } = grain.fields;
    const text = contentOf(grain);
    if (run === turn.sessionId || text === undefined || text === '') continue;
    if (grain.userId !== undefined && grain.userId !== turn.userId) continue;
    // An answer that was written from other people's grains may say something that this person's turn may not see.
    if (turn.userId !== undefined && grain.userId === undefined && sourceUsersOf(grain.fields).length > 0) continue;
    if (role !== 'user' && role !== 'assistant') continue;
    messages.unshift({ role, text });
    shown.unshift(grain);
    if (messages.length === TURN_HISTORY_MAX) break;
  }
  // A conversation with a model begins with a message to it.
  while (messages[0]?.role === 'assistant') {
    messages.shift();
    shown.shift();
  }
  return { messages, shown: shown.map(({ hash }) => hash), persons: personsOf(shown) };
}
