// The kinds of events (service contract, section 15.1) and the marks that say which events an audit entry makes. An event
// is not stored: it is an audit entry with a mark. Its number is the count of events before it in the memory's partition,
// which each audit record holds (record/record.ts, kind 13). So an event exists exactly if its change was committed.

export const EVENT_KINDS = [
  'grain_created',
  'grain_superseded',
  'grain_forgotten',
  'crypto_erase',
  'key_rotated',
  'auto_related',
  'memories_extracted',
  'consent_granted',
  'consent_revoked',
  'processing_restricted',
  'processing_unrestricted',
  'policy_changed',
  'goal_state_changed',
  'retention_enforced',
  'import_finished',
  'verify_finished',
  'burst_noticed',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/**
 * The events that one entry makes, by mark. A mark is on disk by its index: only append to the list. The events of a mark
 * never change, since the numbers of later events depend on their count.
 */
export const EVENT_MARKS = [
  [],
  ['grain_created'],
  ['grain_superseded'],
  ['grain_forgotten'],
  ['crypto_erase'],
  ['key_rotated'],
  ['grain_created', 'auto_related'],
  ['memories_extracted'],
  ['consent_granted'],
  ['consent_revoked'],
  ['processing_restricted'],
  ['processing_unrestricted'],
  ['policy_changed'],
  ['goal_state_changed'],
  ['retention_enforced'],
  ['import_finished'],
  ['verify_finished'],
  ['grain_created', 'consent_granted'],
  ['grain_created', 'consent_revoked'],
  ['grain_superseded', 'auto_related'],
  ['burst_noticed'],
] as const satisfies readonly (readonly EventKind[])[];

type Joined<T extends readonly string[]> = T extends readonly [infer A extends string, ...infer R extends string[]]
  ? R['length'] extends 0
    ? A
    : `${A}+${Joined<R>}`
  : 'none';
/** A mark by the names of its events, joined by `+`; `none` makes no event. */
export type EventMark = Joined<(typeof EVENT_MARKS)[number]>;

const MARK_NUMBERS = new Map<string, number>(
  EVENT_MARKS.map((kinds, i) => [kinds.length === 0 ? 'none' : kinds.join('+'), i]),
);

/** The mark of an entry by its event type, unless its plan names another. Types that are not listed make no event. */
const MARK_OF: Readonly<Record<string, EventMark>> = {
  'memory.added': 'grain_created',
  'memory.remembered': 'grain_created',
  'memory.extracted': 'grain_created',
  'memory.imported': 'grain_created',
  'memory.corrected': 'grain_superseded',
  'memory.accumulated': 'grain_superseded',
  'memory.forgotten': 'grain_forgotten',
  'memory.expired': 'grain_forgotten',
  'user.erased': 'crypto_erase',
  'scope.erased': 'crypto_erase',
  'erasure.cross_user_redacted': 'crypto_erase',
  'key.rotated': 'key_rotated',
  'goal.created': 'grain_created',
  'goal.state_changed': 'goal_state_changed',
  'goal.delegated': 'grain_superseded',
  'import.completed': 'import_finished',
  'import.failed': 'import_finished',
  'import.cancelled': 'import_finished',
  'consent.granted': 'consent_granted',
  'consent.revoked': 'consent_revoked',
  'processing.restricted': 'processing_restricted',
  'processing.unrestricted': 'processing_unrestricted',
  'policy.sealed': 'policy_changed',
  'retention.enforced': 'retention_enforced',
  'verify.run': 'verify_finished',
  'monitor.excessive_forget': 'burst_noticed',
  'monitor.policy_violations': 'burst_noticed',
  'monitor.excessive_export': 'burst_noticed',
};

const EVENT_COUNTS = Uint8Array.from(EVENT_MARKS, (kinds) => kinds.length);
const NO_MARKS = new Uint8Array(0);

/**
 * One byte for each entry, its mark, without the trailing entries that make no event; and the number of events that they
 * make.
 */
export function marksOf(drafts: readonly { readonly event: string; readonly mark?: EventMark | undefined }[]): {
  readonly marks: Uint8Array;
  readonly count: number;
} {
  const marks = new Uint8Array(drafts.length);
  let count = 0;
  let end = 0;
  for (let i = 0; i < drafts.length; i++) {
    const { event, mark = MARK_OF[event] } = drafts[i]!;
    if (mark === undefined || mark === 'none') continue;
    const number = MARK_NUMBERS.get(mark)!;
    marks[i] = number;
    count += EVENT_COUNTS[number]!;
    end = i + 1;
  }
  return { marks: end === 0 ? NO_MARKS : marks.subarray(0, end), count };
}

/** The number of events of a record with these marks. */
export function eventCount(marks: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < marks.length; i++) count += EVENT_COUNTS[marks[i]!] ?? 0;
  return count;
}
