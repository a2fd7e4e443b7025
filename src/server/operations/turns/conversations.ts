// Lists the conversations of a harness, and the messages of one.
import { EngineError } from '../../../engine/base/errors.ts';
import type { ConversationView } from '../../../engine/calls/turns.ts';
import type { GrainView } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { readHarness, requireHarness } from '../../harness/store.ts';
import { defineOperation } from '../define.ts';
import { Slug } from '../harnesses/view.ts';
import { ORDERED_PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { described, Type } from '../type.ts';
import { ConversationId, conversationOf } from './schema.ts';

const TITLE_CHARS_MAX = 80;

const ConversationOutput = Type.Object({
  conversationId: ConversationId,
  slug: Slug,
  title: Type.String({ description: 'Beginning of the first message; empty when that was removed.' }),
  turnCount: Type.Integer({ description: 'Number of messages that were sent.' }),
  userId: Type.Optional(Type.String({ description: 'The person who speaks; absent where nobody is named.' })),
  createdAt: Type.Integer({ description: 'Time of the first message, in Unix seconds.' }),
  updatedAt: Type.Integer({ description: 'Time of the last message, in Unix seconds.' }),
});

export const harnessConversations = defineOperation({
  name: 'list_harness_conversations',
  summary: 'List the conversations of a harness, newest first.',
  description: 'By the time of their last message. A bound caller sees those of its namespace and user.',
  example: { slug: 'support', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: Type.Object({ slug: Slug, ...ORDERED_PAGE_INPUT }),
  output: Type.Object({
    conversations: Type.Array(described(ConversationOutput, 'A conversation.'), {
      description: 'Conversations of the page.',
    }),
    ...PAGE_OUTPUT,
  }),
  errors: ['HRN-E001', 'HRN-E002', 'VAL-E004'],
  http: [{ verb: 'GET', path: 'M/harnesses/{slug}/conversations' }],
  async run({ slug, ...page }, context) {
    await requireHarness(context, slug, 'user');
    await readHarness(context, context.memory, slug);
    const scope = `conversations ${slug}`;
    const { limit, offset, after } = readPage(page, scope, context.warnings);
    const found = await context.call('conversations', {
      slug,
      limit: offset + limit,
      after: after === undefined ? undefined : { updatedAtMs: after.timeMs, token: after.id },
    });
    const shown = found.conversations.slice(offset);
    const titles = await titlesOf(context, shown);
    const last = shown.at(-1);
    return {
      conversations: shown.map((one, at) => ({
        conversationId: one.conversationId,
        slug,
        title: titles[at] ?? '',
        turnCount: one.turnCount,
        userId: one.userId,
        createdAt: Math.floor(one.createdAtMs / 1_000),
        updatedAt: Math.floor(one.updatedAtMs / 1_000),
      })),
      total: found.total,
      nextCursor:
        found.more && last !== undefined
          ? writeCursor({ timeMs: last.updatedAtMs, id: last.token }, scope, 'desc')
          : null,
    };
  },
});

/** No title is stored: it goes with the message. */
async function titlesOf(context: Context, conversations: readonly ConversationView[]): Promise<string[]> {
  const titles = new Map<string, string>();
  const hashes = [...new Set(conversations.map(({ firstEvent }) => firstEvent))];
  for (let from = 0; from < hashes.length; ) {
    const { grains } = await context.call('fetch', { hashes: hashes.slice(from) });
    if (grains.length === 0) break;
    for (const grain of grains) if (grain !== null) titles.set(grain.hash, titleOf(grain));
    from += grains.length;
  }
  return conversations.map(({ firstEvent }) => titles.get(firstEvent) ?? '');
}

function titleOf({ fields }: GrainView): string {
  const text = String(fields['content'] ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length <= TITLE_CHARS_MAX ? text : `${text.slice(0, TITLE_CHARS_MAX - 1).toWellFormed()}…`;
}

const MessageOutput = Type.Object({
  role: Type.String({ description: 'The role of the speaker: user, assistant, or another one that an event has.' }),
  content: Type.String({ description: 'The text.' }),
  hash: Type.String({ description: 'Hash of the event.' }),
  createdAt: Type.Integer({ description: 'Time of the message, in Unix seconds.' }),
  actionHashes: Type.Optional(
    Type.Array(Type.String(), { description: 'Hashes of the actions that led to the answer; absent without any.' }),
  ),
});

export const harnessConversation = defineOperation({
  name: 'get_harness_conversation',
  summary: 'Show the messages of a conversation, oldest first.',
  description: 'The messages are the events of the session that the conversation names.',
  example: { slug: 'support', conversation_id: 'support-4711', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  disclosure: true,
  input: Type.Object({ slug: Slug, conversationId: ConversationId, ...ORDERED_PAGE_INPUT }),
  output: Type.Object({
    conversationId: ConversationId,
    messages: Type.Array(described(MessageOutput, 'A message.'), { description: 'Messages of the page.' }),
    ...PAGE_OUTPUT,
  }),
  errors: ['HRN-E001', 'HRN-E002', 'HRN-E004', 'VAL-E004'],
  http: [{ verb: 'GET', path: 'M/harnesses/{slug}/conversations/{conversation_id}' }],
  async run({ slug, conversationId, ...page }, context) {
    await requireHarness(context, slug, 'user');
    await readHarness(context, context.memory, slug);
    const scope = `conversation ${slug} ${conversationId}`;
    const { limit, offset, after } = readPage({ ...page, order: 'asc' }, scope, context.warnings);
    const { grains, total, more, next } = await context.call('list', {
      filter: { sessionId: conversationOf(conversationId), grainTypes: ['event'] },
      limit,
      offset: offset === 0 ? undefined : offset,
      order: 'asc',
      after: after === undefined ? undefined : { createdAtMs: after.timeMs, hash: after.id },
    });
    if (total === 0 && after === undefined)
      throw new EngineError('HRN-E004', `the harness has no conversation ${JSON.stringify(conversationId)}`, {
        details: [{ field: 'conversation_id', issue: 'not found' }],
      });
    return {
      conversationId,
      messages: grains.map(messageOf),
      total,
      nextCursor:
        more && next !== undefined ? writeCursor({ timeMs: next.createdAtMs, id: next.hash }, scope, 'asc') : null,
    };
  },
});

function messageOf({ fields, hash, createdAt }: GrainView) {
  const { role, content, context } = fields;
  const held = typeof context === 'object' && context !== null && !Array.isArray(context) ? context : {};
  const actions = held['action_hashes'];
  return {
    role: typeof role === 'string' ? role : 'user',
    content: typeof content === 'string' ? content : '',
    hash,
    createdAt,
    actionHashes: Array.isArray(actions) ? actions.filter((one) => typeof one === 'string') : undefined,
  };
}
