// Shows and cancels turns of harnesses.
import { onDemand } from '../../../engine/base/on-demand.ts';
import { TURN_STATUSES } from '../../../engine/turn/turn.ts';
import { requireHarness } from '../../harness/store.ts';
import type * as Turns from '../../harness/turns/chat.ts';
import { defineOperation } from '../define.ts';
import { Slug } from '../harnesses/view.ts';
import { Type } from '../type.ts';
import { ConversationId, PendingCalls, pendingOutput, TurnSessionId } from './schema.ts';

const turns = onDemand<typeof Turns>(import.meta.url, '../../harness/turns/chat');

const input = Type.Object({ slug: Slug, sessionId: TurnSessionId });
const nullableSeconds = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });
const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const harnessSession = defineOperation({
  name: 'get_harness_session',
  summary: 'Show a turn of a harness: whether it runs, what it waits for, how it ended.',
  description: 'Turns that have ended are shown until 32 newer ones of their conversation have begun.',
  example: { slug: 'support', session_id: 'ses_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  disclosure: true,
  input,
  output: Type.Object({
    sessionId: TurnSessionId,
    slug: Slug,
    conversationId: ConversationId,
    status: Type.Enum([...TURN_STATUSES], { description: 'State of the turn.' }),
    iteration: Type.Integer({ description: 'Answers of the model so far.' }),
    pendingToolCalls: PendingCalls,
    interrupted: Type.Boolean({
      description:
        'Whether a restart of the server interrupted it: a resume goes on, without outputs if none is pending.',
    }),
    userEventHash: Type.String({ description: 'Hash of the event with the message.' }),
    assistantEventHash: nullableText('Hash of the event with the answer; null unless the turn is completed.'),
    text: Type.String({ description: "The model's answer; empty unless the turn is completed." }),
    error: nullableText('Code of the error that ended a failed turn; null for any other.'),
    createdAt: Type.Integer({ description: 'Time of the message, in Unix seconds.' }),
    updatedAt: Type.Integer({ description: 'Time of the last step, in Unix seconds.' }),
    expiresAt: nullableSeconds(
      'Time at which a turn that awaits its caller expires, in Unix seconds; null for any other.',
    ),
  }),
  errors: ['HRN-E001', 'HRN-E002', 'HRN-E004'],
  http: [{ verb: 'GET', path: 'M/harnesses/{slug}/chat/sessions/{session_id}' }],
  async run({ slug, sessionId }, context) {
    await requireHarness(context, slug, 'user');
    const { findTurn, showTurn } = turns();
    const { turn, text, pending } = await showTurn(context, await findTurn(context, slug, sessionId));
    return {
      sessionId,
      slug,
      conversationId: turn.conversationId,
      status: turn.status,
      iteration: turn.iteration,
      pendingToolCalls: pending.map(pendingOutput),
      interrupted: turn.interrupted === true,
      userEventHash: turn.userEvent,
      assistantEventHash: turn.assistantEvent ?? null,
      text,
      error: turn.failure ?? null,
      createdAt: Math.floor(turn.createdAtMs / 1_000),
      updatedAt: Math.floor(turn.updatedAtMs / 1_000),
      expiresAt: turn.expiresAtMs === undefined ? null : Math.floor(turn.expiresAtMs / 1_000),
    };
  },
});

export const harnessCancel = defineOperation({
  name: 'cancel_harness_session',
  summary: 'Cancel a turn of a harness.',
  description: 'Pending calls of tools fail with user_aborted. The message stays, and the next one may be sent.',
  example: { slug: 'support', session_id: 'ses_aaaaaaaaaaaaaaaaaaaaaaaa' },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'refuse',
  input,
  output: Type.Object({
    sessionId: TurnSessionId,
    status: Type.Literal('cancelled', { description: 'Always cancelled.' }),
  }),
  errors: ['HRN-E001', 'HRN-E004', 'HRN-E005'],
  http: [{ verb: 'DELETE', path: 'M/harnesses/{slug}/chat/sessions/{session_id}' }],
  async run({ slug, sessionId }, context) {
    await turns().cancelTurn(context, slug, sessionId);
    return { sessionId, status: 'cancelled' as const };
  },
});
