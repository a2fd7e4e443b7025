// Chat threads as they are stored: the state of a session, by its tag, and the events of that session. Nothing of a thread
// is kept anywhere else, so policy, restriction, consent, binding and erasure hold for it as for every grain.
import { createHash } from 'node:crypto';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { BATCH_GRAINS_MAX, IDEMPOTENCY_KEEP_MS, PAGE_LIMIT_MAX } from '../../engine/base/limits.ts';
import { ARCHIVED_TAG, THREAD_TAG } from '../../engine/calls/session.ts';
import type { GrainFilter, GrainView, JsonObject, JsonValue, Output } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { base32, randomId } from '../control/ids.ts';

export interface Thread {
  readonly threadId: string;
  readonly title: string | undefined;
  readonly archived: boolean;
  readonly metadata: JsonObject;
  readonly namespace: string;
  readonly userId: string | undefined;
  /** In seconds. */
  readonly createdAt: number;
  readonly changedAt: number;
  /** The current version of its state. */
  readonly hash: string;
}

/** The members of a thread that its caller sets. */
export interface ThreadWords {
  readonly title?: string | undefined;
  readonly archived?: boolean | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** Text by which a search finds the state of a thread without a title: it says nothing itself. */
const UNTITLED = 'chat thread';
const ID_BYTES = 15;
/** Attempts of a change that meets another change of the same thread. */
const CHANGE_TRIES = 5;

/** Grains that are removed with their thread. Beliefs learnt from it stay. */
const MESSAGE_TYPES = ['event', 'action'];

export function threadOf({ fields, hash, namespace, userId, createdAt }: GrainView): Thread {
  const data = objectOf(fields['data']);
  const tags = fields['tags'];
  const { title, changed_at: changedAt } = data;
  return {
    threadId: String(fields['session_id']),
    title: typeof title === 'string' ? title : undefined,
    archived: Array.isArray(tags) && tags.includes(ARCHIVED_TAG),
    metadata: objectOf(data['metadata']),
    namespace,
    userId,
    createdAt,
    changedAt: typeof changedAt === 'number' ? changedAt : createdAt,
    hash,
  };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}; // checked
}

/** CHT-E001 when the caller sees no such thread; else what reading its state would throw. */
export async function readThread(context: Pick<Context, 'call'>, threadId: string): Promise<Thread> {
  const { state } = await context.call('thread', { threadId });
  if (state !== null) return threadOf(state);
  throw new EngineError('CHT-E001', 'the memory has no chat thread with this id', {
    details: [{ field: 'thread_id', issue: 'not found' }],
  });
}

/** With an idempotency key the id follows from it, while the key is kept: a repeated request finds the thread of the first one. */
export async function createThread(
  context: Context,
  {
    userId,
    namespace,
    ...words
  }: ThreadWords & { readonly userId?: string | undefined; readonly namespace?: string | undefined },
): Promise<Thread> {
  const { idempotency } = context;
  const threadId = idempotency === undefined ? randomId('thr') : await idOfKey(context, idempotency.key);
  const fields: JsonObject = {
    ...stateFields(words, undefined),
    ...defined({ session_id: threadId, user_id: userId, namespace }),
  };
  await context.call('add', { grainType: 'state', fields, sync: false });
  return await readThread(context, threadId);
}

/** A key that is used again after a day or more makes another thread: the first one has messages of its own. */
async function idOfKey(context: Context, key: string): Promise<string> {
  const nowMs = context.services.clock.nowMs();
  for (let use = 0; use < KEY_USES_MAX; use += 1) {
    const threadId = `thr_${idFrom(use === 0 ? key : `${key} ${use}`)}`;
    const { state } = await context.call('thread', { threadId }, { idempotency: undefined });
    if (state === null || state.createdAt * 1_000 + IDEMPOTENCY_KEEP_MS > nowMs) return threadId;
  }
  return randomId('thr');
}

/** Days on which a key is looked for; after that, a repeated request makes a thread of its own. */
const KEY_USES_MAX = 32;

function idFrom(key: string): string {
  const digest = createHash('sha256').update(`thread ${key}`).digest();
  return base32(digest, 0, ID_BYTES);
}

function stateFields(
  { title, archived = false, metadata = {} }: ThreadWords,
  changedAt: number | undefined,
): JsonObject {
  return {
    data: defined({ title, metadata, changed_at: changedAt }),
    tags: archived ? [THREAD_TAG, ARCHIVED_TAG] : [THREAD_TAG],
    embedding_text: title === undefined || title.trim() === '' ? UNTITLED : title,
  };
}

/** Makes a new version of the thread's state; what is not named stays. Its place among the threads stays too. */
export async function changeThread(context: Context, threadId: string, words: ThreadWords): Promise<Thread> {
  for (let tries = 1; ; tries++) {
    const thread = await readThread(context, threadId);
    const { title, archived, metadata } = thread;
    const now = Math.floor(context.services.clock.nowMs() / 1_000);
    const fields = {
      ...stateFields({ title, archived, metadata, ...defined(words) }, now),
      created_at: thread.createdAt,
    };
    try {
      await context.call('supersede', { oldHash: thread.hash, fields });
      return await readThread(context, threadId);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'MEM-E002' || tries === CHANGE_TRIES) throw error;
    }
  }
}

/** Sizes of threads, in their order. */
export async function sizesOf(
  context: Pick<Context, 'call'>,
  threads: readonly Thread[],
): Promise<Output<'sessionSizes'>['sizes']> {
  if (threads.length === 0) return [];
  const { sizes } = await context.call('sessionSizes', { sessionIds: threads.map(({ threadId }) => threadId) });
  return sizes;
}

/**
 * Forgets the thread's messages and the calls of tools in it, every version, then its state. All of them are checked
 * before one goes: a policy that holds one message keeps the thread whole. The state goes last, so that a deletion that
 * broke off can be repeated. Returns the number of messages and calls that went.
 */
export async function deleteThread(
  context: Context,
  { threadId }: Thread,
  reason: string | undefined,
): Promise<number> {
  const extras = defined({ reason });
  const forgetAll = async (hashes: readonly string[], check: boolean): Promise<void> => {
    for (let from = 0; from < hashes.length; from += BATCH_GRAINS_MAX)
      await context.call('forget', { hashes: hashes.slice(from, from + BATCH_GRAINS_MAX), check }, extras);
  };
  const states = await hashesOf(context, { sessionId: threadId, tags: [THREAD_TAG], grainTypes: ['state'] });
  let count = 0;
  for (;;) {
    const messages = await hashesOf(context, { sessionId: threadId, grainTypes: MESSAGE_TYPES });
    await forgetAll([...messages, ...states], true);
    await forgetAll(messages, false);
    count += messages.length;
    // A turn that is under way may have added some.
    if (messages.length === 0) break;
  }
  await forgetAll(states, false);
  return count;
}

async function hashesOf(context: Context, filter: GrainFilter): Promise<string[]> {
  const hashes: string[] = [];
  let after: Output<'list'>['next'];
  do {
    const page = await context.call('list', {
      filter: { ...filter, includeSuperseded: true },
      limit: PAGE_LIMIT_MAX,
      order: 'asc',
      after,
    });
    for (const { hash } of page.grains) hashes.push(hash);
    after = page.more ? page.next : undefined;
  } while (after !== undefined);
  return hashes;
}
