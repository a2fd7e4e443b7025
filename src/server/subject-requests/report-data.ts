// Collects the report about a request: from the present state of the memory, its audit trail, and the request's record.
import { REPORT_CONSENTS_MAX, REPORT_RECALLS_MAX } from '../../engine/base/limits.ts';
import { policyOfJson } from '../../engine/govern/policy/seal.ts';
import type { PolicyValue } from '../../engine/govern/policy/values.ts';
import { modelServices } from '../compliance/collect.ts';
import type { Context } from '../context.ts';
import type { SubjectRequestRecord } from '../control/records.ts';
import { consentRecords } from '../operations/consent/record.ts';
import { LAST_BACKUP } from '../operations/deployment/backup.ts';
import { seconds } from '../operations/seconds.ts';
import { actView, heldView, type ReportData, requestView } from '../operations/subject-requests/schema.ts';
import type { SignedProof } from '../proofs/erasure-proof.ts';
import { issueProof } from '../proofs/issue.ts';
import { VERSION } from '../version.ts';
import { type Acts, actsOf } from './acts.ts';
import { heldSummary } from './held.ts';

/** The part of a report about the person, beside the request itself. */
type AboutPerson = Pick<ReportData, 'held' | 'consents' | 'restriction' | 'recalls'>;

/** Rejects with the shards' errors. Writes a newer proof to the record where the purge went on since. */
export async function reportData(context: Context, record: SubjectRequestRecord): Promise<ReportData> {
  const { services, memory } = context;
  const nowMs = services.clock.nowMs();
  const { userId } = record;
  const { acts, total }: Acts =
    userId === undefined || record.closed !== undefined
      ? { acts: record.closed?.acts ?? [], total: null, isErased: false }
      : await actsOf(context, userId, record);
  const about = userId === undefined ? nothingKnown(nowMs) : await aboutPerson(context, userId, nowMs);
  const lastBackup = services.control.get('setting', LAST_BACKUP)?.value;
  return {
    generatedAt: seconds(nowMs),
    software: `granary ${VERSION}`,
    memoryId: memory.id,
    memoryName: memory.name,
    person: userId ?? `erased:${record.erasure?.keyFingerprint ?? ''}`,
    request: requestView(record, nowMs),
    ...(await processing(context)),
    ...about,
    acts: acts.map(actView),
    actsTotal: total,
    proof: await currentProof(context, record),
    lastBackupAt: typeof lastBackup === 'number' ? lastBackup : null,
  };
}

async function aboutPerson(context: Context, userId: string, nowMs: number): Promise<AboutPerson> {
  const [held, { facts }, { restrictions }, { records }] = await Promise.all([
    heldSummary(context, userId),
    context.call('consents', { userId }),
    context.call('restrictions', { userId }),
    context.call('recallRecords', { filter: { userId }, limit: REPORT_RECALLS_MAX, order: 'desc' }),
  ]);
  const [restriction] = restrictions;
  return {
    held: heldView(held),
    consents: consentRecords(userId, facts, undefined, nowMs)
      .slice(0, REPORT_CONSENTS_MAX)
      .map(({ purpose, status, grantedAt, revokedAt, basis, jurisdiction }) => ({
        ...{ purpose, status, grantedAt, revokedAt, basis, jurisdiction },
      })),
    restriction: restriction && {
      reason: restriction.reason,
      restrictedAt: restriction.restrictedAt,
      restrictedBy: restriction.restrictedBy,
    },
    recalls: records.map(({ timestamp, principal, queryMode, resultCount }) => ({
      ...{ timestamp, principal, queryMode, resultCount },
    })),
  };
}

/** Of a request that names nobody any more. */
function nothingKnown(nowMs: number): AboutPerson {
  const held = { count: 0, byType: [], byMonth: [], consents: 0, recalls: null, restricted: false };
  return { held: { asOf: seconds(nowMs), ...held }, consents: [], recalls: [] };
}

async function processing(
  context: Context,
): Promise<Pick<ReportData, 'controller' | 'purposes' | 'recipients' | 'retentionDays'>> {
  const { policy } = await context.call('policy', {});
  const rules = policy === null ? undefined : policyOfJson(policy as PolicyValue)?.rules; // as the shard shows it
  const outside = modelServices(context.services, context.memory).filter(({ external }) => external);
  return {
    controller: textOf(rules?.['records.controller'] ?? null),
    purposes: [...(rules?.['records.purposes'] ?? [])],
    recipients: [...new Set([...(rules?.['records.recipients'] ?? []), ...outside.map(({ name }) => name)])],
    retentionDays: rules?.['retention.default_ttl_days'] ?? null,
  };
}

/** A controller as one text: the values of its members, one after the other. */
function textOf(value: PolicyValue): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  const parts = Object.values(value).flatMap((member) => textOf(member as PolicyValue) ?? []); // members of a policy's value
  return parts.length === 0 ? null : parts.join(', ');
}

/** The proof of the record; a new one if the purge was not complete and is now. */
export async function currentProof(context: Context, record: SubjectRequestRecord): Promise<SignedProof | undefined> {
  const { proof, userId, erasure } = record;
  if (proof === undefined || userId === undefined || record.closed !== undefined || erasure === undefined) return proof;
  if (proof.purge.state === 'complete') return proof;
  const next = await issueProof(context, userId, erasure.atMs);
  if (next.purge.state !== 'complete') return proof;
  await context.services.subjectRequests.noteProof({ memory: context.memory.number, id: record.id }, next);
  return next;
}
