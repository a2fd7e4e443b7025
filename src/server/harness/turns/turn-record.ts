// The record of what a turn showed to the model (service contract, section 14, row "harness turn").
import { hash } from 'node:crypto';
import { defined } from '../../../engine/base/defined.ts';
import { actionsOf, type Turn } from '../../../engine/turn/turn.ts';
import type { Context } from '../../context.ts';
import type { LanguageChoice } from '../../models/language.ts';

/** Resolves to the id of the record; undefined if the policy wants none. */
export async function recordTurn(
  context: Context,
  turn: Turn,
  {
    choice,
    shown,
    query,
  }: { readonly choice: LanguageChoice; readonly shown: ReadonlySet<string>; readonly query: string },
): Promise<string | undefined> {
  const actions = actionsOf(turn);
  const own = [turn.userEvent, ...actions, ...(turn.assistantEvent === undefined ? [] : [turn.assistantEvent])];
  const results = [...new Set([...shown, ...own])];
  const { recallId } = await context.call('keepRecall', {
    mode: 'harness',
    asked: true,
    query: {
      detect_contradictions: false,
      grain_type: null,
      has_embedding: false,
      has_text: true,
      options: [],
      text_sha256: hash('sha256', query, 'hex'),
    },
    namespace: turn.namespace,
    ...defined({ userId: turn.userId }),
    candidateCount: results.length,
    results: results.map((one) => ({ hash: one, score: [] })),
    excluded: { counts: {}, named: [] },
    turn: {
      slug: turn.slug,
      conversationId: turn.conversationId,
      userEvent: turn.userEvent,
      assistantEvent: turn.assistantEvent ?? null,
      actions,
      provider: choice.provider,
      model: choice.model,
    },
  });
  return recallId;
}
