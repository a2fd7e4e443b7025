// The record of processing activities (GDPR Art. 30), from the policy and the memory's contents.
import { areas, type Evidence, policyOf } from './evidence.ts';

export interface ProcessingRecord {
  readonly controller: unknown;
  readonly purposes: readonly string[];
  /** Categories of persons and of data. */
  readonly categories: readonly string[];
  readonly recipients: readonly string[];
  /** Recipients of texts; `none` without any. */
  readonly transfers: readonly string[];
  readonly retention: Readonly<Record<string, unknown>>;
  readonly measures: readonly string[];
}

export function recordOfProcessing(evidence: Evidence): ProcessingRecord {
  const { rules } = policyOf(evidence);
  const data = areas(evidence, 'data');
  const outside = evidence.deployment.services.filter(({ external }) => external).map(({ name }) => name);
  const purposes = new Set([...rules['records.purposes'], ...data.flatMap(({ purposes }) => purposes)]);
  const sensitive = data.some(({ sensitive }) => sensitive > 0);
  const personal = data.some(({ personal }) => personal > 0);
  return {
    controller: rules['records.controller'],
    purposes: [...purposes].sort(),
    categories: [...(personal ? ['users'] : []), ...(sensitive ? ['sensitive data'] : [])],
    recipients: [...new Set([...rules['records.recipients'], ...outside])],
    transfers: outside.length === 0 ? ['none'] : outside,
    retention: {
      default_ttl_days: rules['retention.default_ttl_days'],
      by_namespace: rules['retention.by_namespace'],
      by_type: rules['retention.by_type'],
      audit: 'kept indefinitely',
      provenance_days: rules['retention.provenance_days'],
    },
    measures: [
      ...measured(evidence),
      ...(evidence.deployment.tls ? ['TLS'] : []),
      ...(evidence.deployment.authMode === 'none' ? [] : [`authentication: ${evidence.deployment.authMode}`]),
    ],
  };
}

/** Measures that this run verified. Unmeasured ones are not listed. */
function measured(evidence: Evidence): readonly string[] {
  const isSealed =
    areas(evidence, 'blobs').every(
      ({ sampled, envelopes, foreignKeys }) => envelopes === sampled && foreignKeys === 0,
    ) &&
    areas(evidence, 'canary').every(
      ({ envelopes, envelopesWanted }) => envelopesWanted > 0 && envelopes === envelopesWanted,
    );
  const isBlind =
    areas(evidence, 'index').every(({ valuesFound }) => valuesFound === 0) &&
    areas(evidence, 'canary').every(({ indexBytes, indexNamesFound }) => indexBytes > 0 && indexNamesFound === 0);
  const isChained = areas(evidence, 'trail').every(
    ({ checked, firstBadSeq, rewritten }) => checked > 0 && firstBadSeq === undefined && !rewritten,
  );
  return [
    ...(isSealed ? ['AES-256-GCM with one key per user'] : []),
    ...(isBlind ? ['blind tokens in indexes'] : []),
    ...(isChained ? ['hash-chained audit trail'] : []),
  ];
}
