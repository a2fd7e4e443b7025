// A turn of a chat as a stream of server-sent events (service contract, section 18.4).
import { steadyMs } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import {
  CHAT_HISTORY_MAX,
  CHAT_INPUT_CHARS_MAX,
  CHAT_MESSAGES_MAX,
  CHAT_TURN_MS,
} from '../../../engine/base/limits.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import type { OpenedChat } from '../../chat/event.ts';
import { answerTo, type Said, storeSaid } from '../../chat/messages.ts';
import { Place } from '../../chat/place.ts';
import { repeated } from '../../chat/repeated.ts';
import { readThread, type Thread } from '../../chat/threads.ts';
import type * as ChatTurn from '../../chat/turn.ts';
import type { Context } from '../../context.ts';
import { leavingTo } from '../../models/egress.ts';
import type { LanguageChoice } from '../../models/language.ts';
import { personsOf } from '../../models/persons.ts';
import { defineOperation } from '../define.ts';
import { TEXT } from '../json-schema.ts';
import { described, type Static, Type } from '../type.ts';
import { ThreadId } from './view.ts';

const HISTORY_DEFAULT = 10;
const NAMESPACE_DEFAULT = 'default';

const Message = Type.Object({
  role: Type.Enum(['system', 'user', 'assistant'], {
    description: 'The speaker; system adds to what the model is told and is not kept.',
  }),
  content: Type.String({ minLength: 1, description: 'Text of the message.' }),
});

const Input = Type.Object({
  messages: Type.Array(described(Message, 'A message.'), {
    minItems: 1,
    maxItems: CHAT_MESSAGES_MAX,
    description:
      'The messages in order; the last one is the user’s. With a thread only the new ones, together at most 262,144 characters.',
  }),
  threadId: Type.Optional(
    described(ThreadId, 'Thread that the messages and the answer belong to; without one nothing of them is kept.'),
  ),
  model: Type.Optional(Type.String({ minLength: 1, description: 'Model; the default is that of the role chat.' })),
  provider: Type.Optional(
    Type.String({ minLength: 1, description: 'Provider of the model; the default is that of the role chat.' }),
  ),
  contextLimit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: CHAT_HISTORY_MAX,
      description: 'Messages of the thread before these that the model is shown; the default is 10.',
      default: HISTORY_DEFAULT,
    }),
  ),
  userId: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'The person whom the chat is with: the model is shown what is about that person or about nobody; the default is the person of the thread.',
    }),
  ),
  namespace: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Namespace that the model is shown and writes to; the default is that of the thread, unless that is default: then the model is shown all.',
    }),
  ),
  toolsEnabled: Type.Optional(
    Type.Boolean({
      description: 'Whether the model may call tools: recall, add, supersede, forget and goals; the default is true.',
      default: true,
    }),
  ),
  temperature: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 2,
      description: 'Temperature of the model; the default is that of the settings.',
    }),
  ),
  maxTokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Tokens of each answer of the model at most; the default is that of the settings.',
    }),
  ),
});

const chatTurn = onDemand<typeof ChatTurn>(import.meta.url, '../../chat/turn');

export const chatStream = defineOperation({
  name: 'chat_stream',
  summary: 'Ask a model that reads and writes the memory, and stream its answer.',
  description:
    'Streams server-sent events: progress, text, tool_call and tool_result, then done or error. A thread shows its last messages to the model and keeps the new ones. The model stops when the client leaves.',
  example: {
    messages: [{ role: 'user', content: 'What does Ada drink?' }],
    user_id: 'ada',
    context_limit: 10,
  },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  disclosure: true,
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: Input,
  output: Type.Object({ opened: Type.Unsafe<OpenedChat>({ description: 'The turn before its stream begins.' }) }),
  errors: ['CHT-E001', 'HRN-E010', 'LLM-E001', 'LLM-E003', 'POL-E005', 'POL-E007', 'POL-E008', 'VAL-E001', 'VAL-E005'],
  http: [
    {
      verb: 'POST',
      path: 'M/chat/stream',
      answers: { 'text/event-stream': TEXT },
      reply: ({ opened }) => ({
        kind: 'open',
        status: 200,
        headers: {},
        open: ({ chats }, request, { headers }) => chats.open(opened, request, headers),
      }),
    },
  ],
  async run(input, context) {
    checkSaid(input.messages);
    const { services, idempotency } = context;
    const choice = services.models.resolve('chat', { provider: input.provider, model: input.model });
    services.chats.check(idempotency?.key);
    await services.chats.pace.step();
    const thread = input.threadId === undefined ? undefined : await readThread(context, input.threadId);
    const release = thread && services.chats.claim(`${context.memory.number} ${thread.threadId}`);
    try {
      return { opened: { ...(await openedTurn(input, context, { thread, choice })), release } };
    } catch (error) {
      release?.();
      throw error;
    }
  },
});

/** Stores what is said, and prepares the turn that answers it. */
async function openedTurn(
  input: Static<typeof Input>,
  context: Context,
  { thread, choice }: { readonly thread: Thread | undefined; readonly choice: LanguageChoice },
): Promise<OpenedChat> {
  const { services, idempotency } = context;
  const place = new Place(context, {
    threadId: thread?.threadId,
    userId: input.userId ?? thread?.userId ?? context.userId,
    namespace: input.namespace ?? placeOf(thread) ?? context.namespace,
    deadlineMs: steadyMs(services.clock) + CHAT_TURN_MS,
  });
  // Texts that the policy keeps here are refused before anything is stored or sent.
  await leavingTo(context.memory, choice, { persons: personsOf([place]), hasGrants: services.hasGrants });
  if (place.userId !== undefined) await checkPerson(context, place.userId);
  const stored = thread === undefined ? [] : await storeSaid(context, place, input.messages);
  const last = stored.at(-1);
  const known = idempotency === undefined || last === undefined ? undefined : await answerTo(context, place, last);
  if (known !== undefined) return repeated(known, idempotency?.key);
  const turn = new (chatTurn().Turn)({
    context,
    place,
    choice,
    said: input.messages,
    stored,
    contextLimit: input.contextLimit ?? HISTORY_DEFAULT,
    toolsEnabled: input.toolsEnabled ?? true,
    temperature: input.temperature,
    maxTokens: input.maxTokens,
    check: () => checkCaller(context),
  });
  return { key: idempotency?.key, erased: (whose) => turn.erased(whose), events: (signal) => turn.events(signal) };
}

/** A thread that was made in a namespace of its own stays in it; one in the default namespace may look everywhere. */
function placeOf(thread: Thread | undefined): string | undefined {
  return thread?.namespace === NAMESPACE_DEFAULT ? undefined : thread?.namespace;
}

function checkSaid(messages: readonly Said[]): void {
  const refuse = (message: string, issue: string): EngineError =>
    new EngineError('VAL-E001', message, { details: [{ field: 'messages', issue }] });
  if (messages.at(-1)?.role !== 'user')
    throw refuse('the last of `messages` must have the role user', 'not of the user');
  if (messages.reduce((sum, { content }) => sum + content.length, 0) > CHAT_INPUT_CHARS_MAX)
    throw refuse(`\`messages\` have more than ${CHAT_INPUT_CHARS_MAX} characters`, 'too long');
  if (messages.some(({ content }) => !content.isWellFormed() || content.includes('\u0000')))
    throw refuse('`messages` must be strings without NUL and unpaired surrogates', 'not a string');
}

/** POL-E008 for a restricted person, before the stream begins. */
async function checkPerson(context: Context, userId: string): Promise<void> {
  await context.call('list', { filter: { userId }, limit: 1, order: 'desc' });
}

/** A turn may last for minutes: its caller must still be one. */
function checkCaller({ principal, services, memory }: Context): void {
  if (!isLiveCaller({ principal, services })) throw new EngineError('AUT-E004', 'the key was revoked or has expired');
  if (services.memories.find(memory.id)?.number !== memory.number)
    throw new EngineError('MEM-E003', 'the memory was deleted');
}

/** False once the caller's key was revoked, or its key or token has expired. */
export function isLiveCaller({ principal, services }: Pick<Context, 'principal' | 'services'>): boolean {
  const { keyId, untilMs } = principal;
  if (keyId !== undefined && !services.keys.isLive(keyId)) return false;
  return untilMs === undefined || services.clock.nowMs() < untilMs;
}
