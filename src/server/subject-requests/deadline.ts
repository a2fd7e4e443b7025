// How much of the time that the law allows for a request is used.
import type { SubjectRequestRecord } from '../control/records.ts';

const DAY_MS = 86_400_000;

export interface Deadline {
  readonly dueAtMs: number;
  /** With the extension. */
  readonly daysAllowed: number;
  /** Whole days since the request was received, up to its end or `nowMs`. */
  readonly daysUsed: number;
  /** Whole days that are left; 0 when it is due or overdue. */
  readonly daysLeft: number;
  /** True if it was closed after it was due, or is open and due by now. */
  readonly isOverdue: boolean;
}

export function deadlineOf(
  {
    receivedAtMs,
    days,
    extension,
    closed,
  }: Pick<SubjectRequestRecord, 'receivedAtMs' | 'days' | 'extension' | 'closed'>,
  nowMs: number,
): Deadline {
  const daysAllowed = days + (extension?.days ?? 0);
  const dueAtMs = receivedAtMs + daysAllowed * DAY_MS;
  const endMs = closed?.atMs ?? nowMs;
  return {
    dueAtMs,
    daysAllowed,
    daysUsed: Math.max(0, Math.floor((endMs - receivedAtMs) / DAY_MS)),
    daysLeft: Math.max(0, Math.floor((dueAtMs - endMs) / DAY_MS)),
    isOverdue: endMs > dueAtMs,
  };
}
