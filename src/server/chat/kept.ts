// A chat turn stores its answer as an event of the thread, a record of the grains that the model was shown, and an audit
// entry.
import { createHash } from 'node:crypto';
import { defined } from '../../engine/base/defined.ts';
import { CHAT_SHOWN_MAX } from '../../engine/base/limits.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import type { LanguageChoice } from '../models/language.ts';
import { type Persons, sourceFields } from '../models/persons.ts';
import type { FinishReason, TokenUsage } from '../models/request.ts';
import { eventFields, type StoredMessage } from './messages.ts';
import type { Place } from './place.ts';
import type { RunCall } from './tool-calls.ts';

type Call = Context['call'];

/** Stores the answer in the thread and returns its hash. An answer without words leaves nothing. */
export async function keepAnswer(
  call: Call,
  place: Place,
  {
    text,
    persons,
    calls,
    usage,
    finish,
    choice,
    answers,
  }: {
    readonly text: string;
    /** The persons whose texts the model was shown. */
    readonly persons: Persons;
    readonly calls: readonly RunCall[];
    readonly usage: TokenUsage | undefined;
    readonly finish: FinishReason;
    readonly choice: LanguageChoice;
    /** The message that is answered; undefined without a thread. */
    readonly answers: StoredMessage | undefined;
  },
): Promise<string | undefined> {
  if (answers === undefined || text.trim() === '') return undefined;
  await place.after(answers.createdAtMs);
  const blocks = calls.map(({ call: { id, name }, result, actionHash }) =>
    defined({ type: 'tool_call', id, name, is_error: result.isError, action_hash: actionHash }),
  );
  const fields: JsonObject = {
    ...eventFields(place),
    ...sourceFields(persons, place.userId),
    ...defined({
      token_usage: usage === undefined ? undefined : { ...usage },
      content_blocks: blocks.length === 0 ? undefined : blocks,
    }),
    content: text,
    role: 'assistant',
    source_type: 'agent',
    model_id: choice.model,
    stop_reason: finish,
    parent_message_id: answers.hash,
  };
  const { hash } = await call(
    'add',
    { grainType: 'event', fields, answers: answers.hash, sync: false },
    place.keyed('answer'),
  );
  return hash;
}

/** Leaves the provenance record of the turn: every grain whose content the model was shown. */
export async function keepRecord(
  call: Call,
  { userId, namespace }: Place,
  {
    shown,
    question,
    options,
  }: { readonly shown: readonly string[]; readonly question: string; readonly options: readonly string[] },
): Promise<string | undefined> {
  const { recallId } = await call('keepRecall', {
    mode: 'chat',
    asked: true,
    query: {
      detect_contradictions: false,
      grain_type: null,
      has_embedding: false,
      has_text: true,
      options,
      text_sha256: createHash('sha256').update(question).digest('hex'),
    },
    namespace: namespace ?? '',
    ...defined({ userId }),
    candidateCount: shown.length,
    results: shown.slice(0, CHAT_SHOWN_MAX).map((hash) => ({ hash, score: [] })),
    resultCount: shown.length,
    excluded: { counts: {}, named: [] },
  });
  return recallId;
}

export async function noteTurn(
  call: Call,
  { threadId, userId }: Place,
  {
    ended,
    recallId,
    provider,
    model,
    steps,
    calls,
  }: {
    /** `ok`, the code of what ended the turn, or `gone` when the client went away. */
    readonly ended: string;
    readonly recallId: string | undefined;
    readonly provider: string;
    readonly model: string;
    readonly steps: number;
    readonly calls: number;
  },
): Promise<void> {
  await call('note', {
    event: 'chat.turn',
    userId,
    details: defined({
      ended,
      provider,
      model,
      steps,
      tool_calls: calls,
      recall_id: recallId,
    }),
    texts: defined({ thread: threadId }),
  });
}
