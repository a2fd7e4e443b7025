// Pure steps of a hook's state: what a delivery's end changes.
import { defined } from '../../engine/base/defined.ts';
import { HOOK_DEAD_IN_ROW_MAX, HOOK_LETTERS_KEPT_MAX, HOOK_LETTERS_KEPT_MS } from '../../engine/base/limits.ts';
import type { HookStateRecord } from '../control/records.ts';

const HOUR_MS = 3_600_000;
const HOURS_KEPT = 25;

/** The event that a delivery carried. */
export interface Carried {
  readonly partition: number;
  readonly sequence: number;
  readonly id: string;
  readonly kind: string;
}

/** The event was delivered. */
export function delivered(state: HookStateRecord, event: Carried, nowMs: number): HookStateRecord {
  const { nextAtMs: _, ...rest } = state;
  return {
    ...rest,
    cursor: movedTo(state.cursor, event),
    attempts: 0,
    deadInRow: 0,
    delivered: state.delivered + 1,
    hours: counted(state.hours, nowMs, [1, 0]),
  };
}

/** A try failed; the event is tried again at `nextAtMs`. */
export function failed(
  state: HookStateRecord,
  { reason, nextAtMs, nowMs }: { readonly reason: string; readonly nextAtMs: number; readonly nowMs: number },
): HookStateRecord {
  return { ...state, attempts: state.attempts + 1, nextAtMs, lastFailure: { reason, atMs: nowMs } };
}

/** The event is given up after its last try. The hook is paused after too many in a row. */
export function givenUp(state: HookStateRecord, event: Carried, reason: string, nowMs: number): HookStateRecord {
  const { nextAtMs: _, ...rest } = state;
  const deadInRow = state.deadInRow + 1;
  const letter = { cursor: event.id, kind: event.kind, atMs: nowMs, attempts: state.attempts + 1, reason };
  const kept = state.letters.filter(({ atMs }) => nowMs - atMs < HOOK_LETTERS_KEPT_MS);
  return defined({
    ...rest,
    cursor: movedTo(state.cursor, event),
    attempts: 0,
    deadInRow,
    dead: state.dead + 1,
    letters: [...kept, letter].slice(-HOOK_LETTERS_KEPT_MAX),
    hours: counted(state.hours, nowMs, [0, 1]),
    lastFailure: { reason, atMs: nowMs },
    pausedReason:
      deadInRow < HOOK_DEAD_IN_ROW_MAX
        ? rest.pausedReason
        : `${deadInRow} events in a row could not be delivered; the last failure: ${reason}`,
  });
}

/** Nothing is delivered until the hook is resumed. The event stays the next one. */
export function paused(state: HookStateRecord, reason: string, nowMs: number): HookStateRecord {
  const { nextAtMs: _, ...rest } = state;
  return { ...rest, attempts: 0, pausedReason: reason, lastFailure: { reason, atMs: nowMs } };
}

export function resumed(state: HookStateRecord): HookStateRecord {
  const { pausedReason: _, nextAtMs: __, ...rest } = state;
  return { ...rest, attempts: 0, deadInRow: 0 };
}

/** Delivered and given up in the last 24 hours, to the hour. */
export function lastDay(
  { hours }: HookStateRecord,
  nowMs: number,
): { readonly delivered: number; readonly dead: number } {
  const from = Math.floor(nowMs / HOUR_MS) - HOURS_KEPT + 1;
  let [all, dead] = [0, 0];
  for (const [hour, ofHour, deadOfHour] of hours)
    if (hour > from) {
      all += ofHour;
      dead += deadOfHour;
    }
  return { delivered: all, dead };
}

function movedTo(cursor: readonly number[], { partition, sequence }: Carried): readonly number[] {
  return cursor.map((number, i) => (i === partition ? sequence : number));
}

function counted(
  hours: HookStateRecord['hours'],
  nowMs: number,
  [more, moreDead]: readonly [number, number],
): HookStateRecord['hours'] {
  const hour = Math.floor(nowMs / HOUR_MS);
  const last = hours.at(-1);
  if (last !== undefined && last[0] === hour)
    return [...hours.slice(0, -1), [hour, last[1] + more, last[2] + moreDead] as const];
  return [...hours, [hour, more, moreDead] as const].slice(-HOURS_KEPT);
}
