// A report for tests.
import type { ReportData } from '../../operations/subject-requests/schema.ts';
import type { SignedProof } from '../../proofs/erasure-proof.ts';

export const AT = 1_795_000_000;
export const HELD: ReportData['held'] = {
  asOf: AT,
  count: 3,
  byType: [{ grainType: 'event', count: 3, oldestCreatedAt: AT - 9, newestCreatedAt: AT }],
  byMonth: [{ month: '2026-11', count: 3 }],
  consents: 1,
  recalls: 40,
  restricted: true,
};

/** Every member has a text of its own, made by `text`. */
export function reportWith(text: (name: string) => string): ReportData {
  const proof = {
    result: 'erased',
    count: 3,
    key_fingerprint: text('fingerprint'),
    timestamp: AT,
    erased_at: text('erased_at'),
    audit_entries: [{ partition: 0, seq: 1, count: 3, key_fingerprint: '', hash: text('hash') }],
    purge: { state: 'complete', partitions_pending: 0, redactions_pending: false, as_of: '2026-11-28T10:00:00.000Z' },
    issued_at: text('issued_at'),
    issuer: text('issuer'),
    key_id: text('key_id'),
    public_key: text('public_key'),
    user_id: text('user_id'),
    signature: text('signature'),
  } as unknown as SignedProof; // the members that a report shows
  return {
    generatedAt: AT,
    software: text('software'),
    memoryId: text('memory'),
    memoryName: text('name'),
    person: text('person'),
    request: {
      requestId: text('request'),
      status: 'closed',
      kind: 'erasure',
      userId: text('user'),
      requester: text('requester'),
      note: text('note'),
      receivedAt: AT,
      openedAt: AT,
      openedBy: text('opener'),
      dueAt: AT,
      daysAllowed: 90,
      daysUsed: 91,
      daysLeft: 0,
      overdue: true,
      extension: { days: 60, reason: text('reason'), extendedAt: AT, extendedBy: text('extender') },
      erasure: { erasedAt: AT, count: 3, keyFingerprint: text('key'), held: HELD },
      closed: { closedAt: AT, closedBy: text('closer'), outcome: 'fulfilled', note: text('end') },
    },
    controller: text('controller'),
    purposes: [text('purpose')],
    recipients: [text('recipient')],
    retentionDays: 1000,
    held: { ...HELD, byType: [{ ...HELD.byType[0]!, grainType: text('type') }] },
    consents: [{ purpose: text('consent'), status: text('status'), basis: text('basis'), jurisdiction: text('land') }],
    restriction: { reason: text('restriction'), restrictedAt: AT, restrictedBy: text('restrictor') },
    recalls: [{ timestamp: AT, principal: text('principal'), queryMode: text('mode'), resultCount: 1 }],
    acts: [{ event: text('event'), actor: text('actor'), from: AT, to: AT + 90, count: 2, hash: 'a'.repeat(64) }],
    actsTotal: 7,
    proof,
    lastBackupAt: AT,
  };
}
