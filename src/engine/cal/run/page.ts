// Extracts from the stages what the store can do: order, skip and limit. The other stages run over the returned grains.
import { EXTRACTORS, type Order, type SortKey } from '../../calls/cal.ts';
import type { Recall, Stage, Word } from '../ast.ts';
import { fieldNamed } from '../vocabulary/fields.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { atMost } from './cap.ts';

export interface Page {
  /** The order; undefined: by score, or by address without a search. */
  readonly order: Order | undefined;
  readonly skip: number;
  /** Number of grains wanted; undefined: all. */
  readonly take: number | undefined;
  /** True if a stage only asks for the number of grains. */
  readonly countsOnly: boolean;
  /** The stages that remain after order, skip and limit. */
  readonly rest: readonly PlainStage[];
}

/** A stage with its parameters resolved. */
export type PlainStage = Exclude<Stage, { stage: 'offset' }> | { readonly stage: 'offset'; readonly count: number };

/**
 * The order, skip and limit of a recall. `recallMax`: the policy's cap, which lowers the default limit. `isWhole`: no
 * default limit applies. `valuesOfAll`: none applies if a stage extracts values.
 */
export function pageOf(
  recall: Pick<Recall, 'recent' | 'thread'>,
  stages: readonly PlainStage[],
  recallMax: number | null,
  {
    isWhole = false,
    valuesOfAll = false,
  }: { readonly isWhole?: boolean | undefined; readonly valuesOfAll?: boolean | undefined } = {},
): Page {
  let order: Order | undefined = recall.thread === undefined ? undefined : { by: 'time', descending: false };
  let skip = 0;
  let take: number | undefined;
  if (recall.recent !== undefined) {
    order = { by: 'time', descending: true };
    take = recall.recent;
  }
  // These stages change how grains are shown, not which ones.
  const shows: PlainStage[] = [];
  let at = 0;
  for (; at < stages.length; at++) {
    const stage = stages[at]!;
    if (stage.stage === 'order_by' && take === undefined && skip === 0) order = orderOf(stage);
    else if (stage.stage === 'limit') take = Math.min(take ?? stage.count, stage.count);
    else if (stage.stage === 'first') take = Math.min(take ?? 1, 1);
    else if (stage.stage === 'offset') {
      skip += stage.count;
      if (take !== undefined) take = Math.max(0, take - stage.count);
    } else if (stage.stage === 'select' || stage.stage === 'project') shows.push(stage);
    else break;
  }
  const rest = [...shows, ...stages.slice(at)];
  const takesAll = rest.some(
    ({ stage }) =>
      stage === 'count' || stage === 'group_by' || (valuesOfAll && EXTRACTORS.some((one) => one === stage)),
  );
  const isCut = take !== undefined || stages.some(({ stage }) => stage === 'limit' || stage === 'first');
  // The default limit applies after a later order, and never limits a count.
  if (!isWhole && !isCut && !takesAll && !rest.some(({ stage }) => stage === 'order_by'))
    take = atMost(recallMax, recall.thread === undefined ? CAL_LIMITS.limitDefault : CAL_LIMITS.threadLimitDefault);
  return { order, skip, take, countsOnly: stages[at]?.stage === 'count', rest };
}

export function orderOf(stage: Extract<Stage, { stage: 'order_by' }>): Order {
  const order = sortKeyOf(stage);
  return stage.next === undefined ? order : { ...order, next: sortKeyOf(stage.next) };
}

function sortKeyOf({
  field,
  descending,
}: {
  readonly field: Word;
  readonly descending?: boolean | undefined;
}): SortKey {
  const isDescending = descending === true;
  return fieldNamed(field.word) === 'time'
    ? { by: 'time', descending: isDescending }
    : { by: 'field', field: field.word, descending: isDescending };
}
