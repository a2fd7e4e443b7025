// A recall for a conversation: what the person of the conversation, or nobody in particular, has in the memory.
import type { GrainFilter, Output } from '../../shards/protocol.ts';
import type { RecallInput } from '../operations/recall/fields.ts';
import { queryText, recordedQuery, withVector } from '../operations/recall/query.ts';
import type { ToolCaller } from './caller.ts';

export type Recalled = Output<'recall'>;

/** Words and vectors, as an ordinary recall has them; without vectors, words alone. */
export async function recallFor(
  { context, namespace, userId }: ToolCaller,
  asked: Pick<RecallInput, 'query' | 'limit' | 'grainType' | 'temporalExpr'>,
  more: Pick<GrainFilter, 'except'> = {},
): Promise<Recalled> {
  const { queryVectors, clock } = context.services;
  const input: RecallInput = { ...asked, namespace };
  const text = queryText(input);
  const { vector } = text === '' ? {} : await queryVectors.of(context.memory, text, context.deadlineMs - clock.nowMs());
  const query = recordedQuery(vector === undefined ? input : withVector(input, vector));
  const filter = { ...query.filter, ...more, ...(userId === undefined ? {} : { forUser: userId }) };
  return await context.call('recall', { ...query, filter });
}
