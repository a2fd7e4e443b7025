// Threads of chats: lists, makes, shows, changes and deletes them.
import { EngineError } from '../../../engine/base/errors.ts';
import { NAME_CHARS_MAX, THREAD_METADATA_CHARS_MAX } from '../../../engine/base/limits.ts';
import { ARCHIVED_TAG, THREAD_TAG } from '../../../engine/calls/session.ts';
import { stringifyJson } from '../../../engine/grain/api/json.ts';
import {
  changeThread,
  createThread,
  deleteThread,
  readThread,
  sizesOf,
  type Thread,
  threadOf,
} from '../../chat/threads.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { Fields } from '../grains/fields.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { plainText } from '../text.ts';
import { described, Type } from '../type.ts';
import { ThreadId, ThreadOutput, threadOutput } from './view.ts';

const SCOPE = 'threads';

const TITLE = plainText({ maxLength: NAME_CHARS_MAX });
const WORDS = {
  title: Type.Optional(described(TITLE, 'Title of the thread, at most 256 characters; no default.')),
  metadata: Type.Optional(
    described(
      Fields,
      'The data that the caller keeps with the thread, at most 16,384 characters of JSON; the default is empty.',
    ),
  ),
};

function checkMetadata(metadata: object | undefined): void {
  if (metadata === undefined || stringifyJson(metadata).length <= THREAD_METADATA_CHARS_MAX) return;
  const issue = `longer than ${THREAD_METADATA_CHARS_MAX} characters of JSON`;
  throw new EngineError('VAL-E001', `\`metadata\` is ${issue}`, { details: [{ field: 'metadata', issue }] });
}

async function viewOf(context: Context, thread: Thread) {
  const [size = { count: 0, lastMs: 0 }] = await sizesOf(context, [thread]);
  return threadOutput(thread, size);
}

export const threadsList = defineOperation({
  name: 'list_threads',
  summary: 'List the threads of chats, newest first.',
  description: 'A thread stays in its place when it gets messages.',
  example: { archived: false, limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  disclosure: true,
  mutates: false,
  paged: true,
  input: Type.Object({
    ...PAGE_INPUT,
    archived: Type.Optional(
      Type.Boolean({ description: 'Only archived threads (true) or only others (false); the default is all.' }),
    ),
  }),
  output: Type.Object({
    threads: Type.Array(described(ThreadOutput, 'A thread.'), { description: 'The threads of the page.' }),
    ...PAGE_OUTPUT,
  }),
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/chat/threads' }],
  async run(input, context) {
    const { archived } = input;
    const page = readPage(input, SCOPE, context.warnings);
    const { grains, total, more, next } = await context.call('list', {
      filter: {
        grainTypes: ['state'],
        tags: archived === true ? [THREAD_TAG, ARCHIVED_TAG] : [THREAD_TAG],
        excludeTags: archived === false ? [ARCHIVED_TAG] : undefined,
      },
      limit: page.limit,
      order: page.order,
      after: page.after === undefined ? undefined : { createdAtMs: page.after.timeMs, hash: page.after.id },
      offset: page.offset === 0 ? undefined : page.offset,
    });
    const threads = grains.map(threadOf);
    const sizes = await sizesOf(context, threads);
    return {
      threads: threads.map((thread, at) => threadOutput(thread, sizes[at] ?? { count: 0, lastMs: 0 })),
      total,
      nextCursor:
        more && next !== undefined ? writeCursor({ timeMs: next.createdAtMs, id: next.hash }, SCOPE, page.order) : null,
    };
  },
});

export const threadCreate = defineOperation({
  name: 'create_thread',
  summary: 'Make a thread for a chat.',
  description: 'Its messages are events whose session_id is the id of the thread.',
  example: { title: 'Refund of order 17', user_id: 'ada', metadata: { channel: 'web' } },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  disclosure: true,
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({
    ...WORDS,
    userId: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The data subject of the thread and, by default, of its messages; the default is none.',
      }),
    ),
    namespace: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Namespace of the thread and, by default, of its messages; the default is default.',
      }),
    ),
  }),
  output: ThreadOutput,
  http: [{ verb: 'POST', path: 'M/chat/threads', successStatus: 201 }],
  async run(input, context) {
    checkMetadata(input.metadata);
    return await viewOf(context, await createThread(context, input));
  },
});

export const threadGet = defineOperation({
  name: 'get_thread',
  summary: 'Show a thread of a chat.',
  description: 'Its messages have a list of their own.',
  example: { thread_id: 'thr_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  disclosure: true,
  mutates: false,
  input: Type.Object({ threadId: ThreadId }),
  output: ThreadOutput,
  errors: ['CHT-E001'],
  http: [{ verb: 'GET', path: 'M/chat/threads/{thread_id}' }],
  async run({ threadId }, context) {
    return await viewOf(context, await readThread(context, threadId));
  },
});

export const threadChange = defineOperation({
  name: 'change_thread',
  summary: 'Change the title of a thread, archive it, or replace its metadata.',
  description:
    'Members that are not sent stay as they are. The earlier version stays in the history of the thread’s state.',
  example: { thread_id: 'thr_aaaaaaaaaaaaaaaaaaaaaaaa', title: 'Refund', archived: true },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  disclosure: true,
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({
    threadId: ThreadId,
    title: Type.Optional(
      described(TITLE, 'New title of the thread, at most 256 characters; the default is as before.'),
    ),
    archived: Type.Optional(Type.Boolean({ description: 'Whether the thread is archived; the default is as before.' })),
    metadata: Type.Optional(described(Fields, 'New metadata in place of the old; the default is as before.')),
  }),
  output: ThreadOutput,
  errors: ['CHT-E001', 'POL-E004'],
  http: [{ verb: 'PATCH', path: 'M/chat/threads/{thread_id}' }],
  async run({ threadId, title, archived, metadata }, context) {
    checkMetadata(metadata);
    return await viewOf(context, await changeThread(context, threadId, { title, archived, metadata }));
  },
});

export const threadDelete = defineOperation({
  name: 'delete_thread',
  summary: 'Delete a thread: its messages are forgotten.',
  description:
    'The calls of tools in it are forgotten too. Facts that were learnt from it stay. When the policy keeps one of its messages, nothing is deleted.',
  example: { thread_id: 'thr_aaaaaaaaaaaaaaaaaaaaaaaa', reason: 'Asked for by the user.' },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  disclosure: true,
  access: 'calls',
  mutates: true,
  onUnknown: 'refuse',
  slow: true,
  input: Type.Object({
    threadId: ThreadId,
    reason: Type.Optional(
      Type.String({
        description: 'Why the thread is deleted, which a policy may demand; the default is the x-reason header.',
      }),
    ),
  }),
  output: Type.Object({
    deleted: Type.Literal(true, { description: 'Always true.' }),
    threadId: ThreadId,
    forgotten: Type.Integer({
      description: 'Number of messages and calls of tools that were forgotten, old versions included.',
    }),
  }),
  errors: ['CHT-E001', 'POL-E001', 'POL-E003'],
  http: [{ verb: 'DELETE', path: 'M/chat/threads/{thread_id}' }],
  async run({ threadId, reason }, context) {
    const thread = await readThread(context, threadId);
    const forgotten = await deleteThread(context, thread, reason);
    await context.call('note', {
      event: 'chat.thread_deleted',
      userId: thread.userId,
      details: { count: forgotten },
      texts: { thread: threadId },
    });
    return { deleted: true as const, threadId, forgotten };
  },
});
