// The acts for a request, from the audit trail: the entries about its person since it was received.
import { REPORT_ACTS_MAX } from '../../engine/base/limits.ts';
import type { AuditView } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import type { SubjectRequestAct, SubjectRequestRecord } from '../control/records.ts';
import { entriesAbout } from '../proofs/entries-about.ts';

const ERASED = 'user.erased';
/** Acts that answer a request. Reads and writes of the person's own agents are none. */
const EVENTS = [
  'dsr.*',
  'user.data_exported',
  'processing.restricted',
  'processing.unrestricted',
  'consent.granted',
  'consent.revoked',
  'memory.corrected',
  'memory.forgotten',
  ERASED,
  'key.destroyed',
  'erasure.cross_user_redacted',
];

const TOGETHER_SECONDS = 2;

export interface Acts {
  /** Oldest first. */
  readonly acts: readonly SubjectRequestAct[];
  /** Entries in the trail; null where they were not counted. */
  readonly total: number | null;
  readonly isErased: boolean;
}

/** The newest entries, gathered by event and actor. */
export async function actsOf(
  context: Context,
  userId: string,
  { receivedAtMs, openedAtMs }: Pick<SubjectRequestRecord, 'receivedAtMs' | 'openedAtMs'>,
): Promise<Acts> {
  const since = Math.floor(Math.min(receivedAtMs, openedAtMs) / 1000);
  const about = (events: string[]) => entriesAbout(context, userId, { events, since }, REPORT_ACTS_MAX);
  // The erasure may lie behind more acts than are gathered: a person may come back.
  const [{ entries, total }, { entries: erasures }] = await Promise.all([about(EVENTS), about([ERASED])]);
  const acts: SubjectRequestAct[] = [];
  for (const entry of entries.toReversed()) addTo(acts, entry);
  return { acts, total, isErased: erasures.length > 0 };
}

function addTo(acts: SubjectRequestAct[], { eventType, actor, timestamp, hash }: AuditView): void {
  // Partitions write their entries of one act at about the same time.
  const at = acts.findLastIndex(
    (act, place) =>
      act.event === eventType &&
      act.actor === actor &&
      (place === acts.length - 1 || act.to >= timestamp - TOGETHER_SECONDS),
  );
  const last = acts[at];
  if (last !== undefined) acts[at] = { ...last, to: timestamp, count: last.count + 1, hash };
  else acts.push({ event: eventType, actor, from: timestamp, to: timestamp, count: 1, hash });
}
