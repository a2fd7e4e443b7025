// A recall for a conversation: what the person of the conversation, or nobody in particular, has in the memory.

import { steadyMs } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { THREAD_TAG } from '../../engine/calls/session.ts';
import type { GrainFilter, Output } from '../../shards/protocol.ts';
import { RECALL_ACTIONS } from '../harness/recall-actions.ts';
import type { RecallInput } from '../operations/recall/fields.ts';
import { queryText, recordedQuery, withVector } from '../operations/recall/query.ts';
import type { ToolCaller } from './caller.ts';

export type Recalled = Output<'recall'>;

/**
 * Definitions of threads and harnesses are left out: their titles, prompts and tools say nothing that an answer may
 * rest on.
 */
const NO_MEMORY: readonly GrainFilter[] = [{ tags: [THREAD_TAG], grainTypes: ['state'] }, { harnessDefinition: true }];

/** Words and vectors, as an ordinary recall has them; without vectors, words alone. */
export async function recallFor(
  { context, namespace, userId }: ToolCaller,
  asked: Pick<RecallInput, 'query' | 'limit' | 'grainType' | 'temporalExpr'>,
  except: readonly GrainFilter[] = [],
): Promise<Recalled> {
  const { queryVectors, clock } = context.services;
  const input: RecallInput = { ...asked, namespace };
  const text = queryText(input);
  const waitMs = context.deadlineMs - steadyMs(clock);
  const { vector } = text === '' ? {} : await queryVectors.of(context.memory, { text, userId }, waitMs);
  const query = recordedQuery(vector === undefined ? input : withVector(input, vector));
  const filter = defined({
    ...query.filter,
    // Searches of a model are found only when actions are asked for.
    except: [...NO_MEMORY, ...(asked.grainType === 'action' ? [] : [RECALL_ACTIONS]), ...except],
    forUser: userId ?? query.filter?.forUser,
  });
  return await context.call('recall', { ...query, filter });
}
