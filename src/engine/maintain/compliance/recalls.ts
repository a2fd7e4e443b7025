// Evidence on recall records, through the calls that everybody uses to read them.

import { EngineError } from '../../base/errors.ts';
import type { RecallEvidence } from '../../calls/compliance.ts';
import type { CallContext } from '../../calls/context.ts';
import type { RecallRecordView } from '../../calls/trail.ts';
import type { Door } from './door.ts';

const WINDOW_SECONDS = 30 * 86_400;
/** The newest records of the window: how many are opened, and how many are passed on to be explained. */
const LISTED_MAX = 500;
const OPENED_MAX = 200;
const HANDED_ON_MAX = 10;
const TOKEN = /^[0-9a-f]{16,64}$/;
const NAMES = ['subject', 'relation', 'object', 'entity'];

/** `entries`: hashes of the audit entries of recalls. Records are in the first partition; others have none. */
export async function recallEvidence(
  door: Door,
  context: CallContext,
  { nowMs, entries }: { readonly nowMs: number; readonly entries: ReadonlySet<string> },
): Promise<RecallEvidence> {
  const since = Math.floor(nowMs / 1000) - WINDOW_SECONDS;
  const { totalRecords } = await door.write('recallTotals', context, {});
  const { totalRecords: windowRecords } = await door.write('recallTotals', context, { since });
  const { records } = await door.write('recallRecords', context, {
    filter: { since },
    limit: LISTED_MAX,
    order: 'desc',
  });
  const opened: RecallRecordView[] = [];
  let broken = 0;
  for (const { recallId } of records.slice(0, OPENED_MAX)) {
    try {
      opened.push(await door.write('recallRecord', context, { recallId }));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      broken += 1;
    }
  }
  return {
    records: totalRecords,
    windowRecords,
    sampled: opened.length + broken,
    broken: broken + opened.filter(({ verified }) => !verified).length,
    unresolved: opened.filter(({ auditEntryHash }) => !entries.has(auditEntryHash)).length,
    unblinded: opened.filter((record) => !isBlinded(record)).length,
    resultsMax: records.reduce((most, { resultCount }) => Math.max(most, resultCount), 0),
    samples: opened.slice(0, HANDED_ON_MAX),
  };
}

/** True when the record holds names only as tokens. */
function isBlinded({ query }: RecallRecordView): boolean {
  if (query['spo_blinded'] !== true) return false;
  return NAMES.every((name) => query[name] === undefined || TOKEN.test(String(query[name])));
}
