// Where a reader of events begins, and the gap before it.
import { type AskedCursor, type CursorForm, cursorJson, type EventCursor } from './cursor.ts';
import type { EventEnds } from './reader.ts';
import { epochOf } from './restores.ts';

export interface Gap {
  readonly oldest: string | number;
  /** `expired`: older events are not kept. `ahead`: the cursor is of events that are not there, as after a restore. */
  readonly reason: 'expired' | 'ahead';
}

export interface EventPlace {
  readonly cursor: EventCursor;
  /** Why events between the cursor that was asked for and `cursor` are not sent. */
  readonly gap: Gap | undefined;
}

/**
 * Where a reader begins that asks for the events after `wanted`. A cursor of an earlier epoch is good up to the restore
 * that ended the epoch. Where it is beyond it, the reader is ahead and begins at that restore; in the present epoch, at the
 * newest event. A cursor of an epoch that is unknown here is of a restore that another one undid.
 */
export function placeOf(wanted: AskedCursor | undefined, ends: EventEnds, form: CursorForm): EventPlace {
  const { newest, oldest } = ends;
  if (wanted === undefined) return { cursor: newest, gap: undefined };
  const end = endOf(wanted, ends, form);
  const isAhead = end.isUnknown || wanted.numbers.some((number, partition) => number > end.last[partition]!);
  const from = wanted.numbers.map((number, partition) => Math.min(number, end.last[partition]!));
  const first = oldest.map((number) => number - 1);
  // Zero asks for what is kept.
  const isExpired = from.some((number, partition) => number > 0 && number < first[partition]!);
  const cursor = from.map((number, partition) => Math.min(Math.max(number, first[partition]!), newest[partition]!));
  const reason = isAhead ? 'ahead' : isExpired ? 'expired' : undefined;
  return { cursor, gap: reason === undefined ? undefined : { oldest: cursorJson(oldest, form), reason } };
}

/** The last events of the cursor's epoch that are in this log. */
function endOf(
  { epoch }: AskedCursor,
  { newest, forkedAt }: EventEnds,
  { restores }: CursorForm,
): { readonly last: EventCursor; readonly isUnknown: boolean } {
  if (epoch === epochOf(restores)) return { last: newest, isUnknown: false };
  const ended = forkedAt[restores.findIndex(({ before }) => before === epoch)];
  return { last: ended ?? forkedAt.at(-1) ?? newest, isUnknown: ended === undefined };
}
