// The messages of a thread: the events of its session.
import { readThread } from '../../chat/threads.ts';
import { defineOperation } from '../define.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { described, Type } from '../type.ts';
import { MessageOutput, messageOutput, ThreadId } from './view.ts';

const SCOPE = 'messages';

export const threadMessages = defineOperation({
  name: 'list_messages',
  summary: 'List the messages of a thread, oldest first.',
  description: 'Every event whose session_id is the id of the thread is a message of it, however it was stored.',
  example: { thread_id: 'thr_aaaaaaaaaaaaaaaaaaaaaaaa', limit: 50 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  disclosure: true,
  mutates: false,
  paged: true,
  input: Type.Object({
    threadId: ThreadId,
    ...PAGE_INPUT,
    order: Type.Optional(
      Type.Enum(['asc', 'desc'], {
        description: 'Order by time: asc is oldest first, desc newest first; the default is asc.',
        default: 'asc',
      }),
    ),
  }),
  output: Type.Object({
    messages: Type.Array(described(MessageOutput, 'A message.'), { description: 'The messages of the page.' }),
    ...PAGE_OUTPUT,
  }),
  errors: ['CHT-E001', 'VAL-E004'],
  http: [{ verb: 'GET', path: 'M/chat/threads/{thread_id}/messages' }],
  async run({ order = 'asc', ...input }, context) {
    const page = readPage({ ...input, order }, SCOPE, context.warnings);
    const { threadId } = await readThread(context, input.threadId);
    const { grains, total, more, next } = await context.call('list', {
      filter: { sessionId: threadId, grainTypes: ['event'] },
      limit: page.limit,
      order,
      after: page.after === undefined ? undefined : { createdAtMs: page.after.timeMs, hash: page.after.id },
      offset: page.offset === 0 ? undefined : page.offset,
    });
    return {
      messages: grains.map(messageOutput),
      total,
      nextCursor:
        more && next !== undefined ? writeCursor({ timeMs: next.createdAtMs, id: next.hash }, SCOPE, order) : null,
    };
  },
});
