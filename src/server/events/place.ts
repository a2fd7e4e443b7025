// Where a reader of events begins, and the gap before it.
import { type CursorForm, cursorJson, type EventCursor } from './cursor.ts';
import type { EventEnds } from './reader.ts';

export interface Gap {
  readonly oldest: string | number;
  /** `expired`: older events are not kept. `ahead`: the cursor is newer than the newest event, as after a restore. */
  readonly reason: 'expired' | 'ahead';
}

export interface EventPlace {
  readonly cursor: EventCursor;
  /** Why events between the cursor that was asked for and `cursor` are not sent. */
  readonly gap: Gap | undefined;
}

/** Where a reader begins that asks for the events after `wanted`. */
export function placeOf(wanted: EventCursor | undefined, { newest, oldest }: EventEnds, form: CursorForm): EventPlace {
  if (wanted === undefined) return { cursor: newest, gap: undefined };
  const first = oldest.map((number) => number - 1);
  const isAhead = wanted.some((number, partition) => number > newest[partition]!);
  // Zero asks for what is kept.
  const isExpired = wanted.some((number, partition) => number > 0 && number < first[partition]!);
  const cursor = wanted.map((number, partition) => Math.min(Math.max(number, first[partition]!), newest[partition]!));
  const reason = isAhead ? 'ahead' : isExpired ? 'expired' : undefined;
  if (reason === undefined) return { cursor, gap: undefined };
  return { cursor: isAhead ? newest : cursor, gap: { oldest: cursorJson(oldest, form), reason } };
}
