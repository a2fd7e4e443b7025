// Runs every check over good and over bad evidence: one table row for each outcome.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import type { PartitionEvidence } from '../../engine/calls/compliance.ts';
import { RULE_PATHS } from '../../engine/govern/policy/rules.ts';
import { type Domain, type MetricId, metricOf, ROWS } from '../metering/rows.ts';
import { affectedChecks } from '../operations/policy/affected-checks.ts';
import type { DeploymentEvidence, Evidence, MetricsEvidence } from './evidence.ts';
import { JUDGES, judge } from './judge.ts';
import { CHECKS, REGULATIONS, regulationOf } from './table.ts';
import type { Status } from './verdict.ts';

const DAY = 86_400;
let measured: PartitionEvidence;
let root: string;

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'granary-judge-'));
  const engine = await openShard(root);
  const context = { ...contextOf(1), owns: true as const };
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  for (let i = 0; i < 25; i++)
    await engine.write('add', context, {
      grainType: 'belief',
      fields: { subject: `subject number ${i}`, relation: 'likes', object: `object number ${i}`, user_id: `u${i % 2}` },
      sync: false,
    });
  await engine.write('eraseUser', context, { userId: 'u1' });
  await engine.write('setPolicy', context, {
    change: {
      addPolicies: ['gdpr', 'hipaa', 'soc2', 'eu_ai_act', 'lgpd', 'strict_deletion'],
      overrides: {
        'ai.risk_class': 'high',
        'records.controller': { name: 'Example' },
        'records.purposes': ['support'],
        'records.recipients': ['nobody'],
      },
      reason: 'test',
    },
    isAdmin: true,
  });
  // A seal records where the trail ends.
  await engine.write('flush', context, {});
  const { partitions } = await engine.write('compliance', context, { runId: 'vrf_test' });
  measured = partitions[0]!;
  await engine.close();
});
after(() => rmSync(root, { recursive: true }));

type Change = (
  partition: Writable<PartitionEvidence>,
  deployment: Writable<DeploymentEvidence>,
  metrics: Record<Domain, Writable<MetricsEvidence>>,
) => void;
// Good evidence has no error, and a test may write any member.
// biome-ignore lint/suspicious/noExplicitAny: members are broken one by one
type Writable<T> = { -readonly [K in keyof T]: any };

/** Real measurements, plus what a memory in use has. */
function evidence(change: Change = () => undefined): Evidence {
  const partition = structuredClone(measured) as Writable<PartitionEvidence>;
  const now = Math.floor(partition.nowMs / 1000);
  partition.recalls = {
    records: 10,
    windowRecords: 10,
    sampled: 10,
    broken: 0,
    unresolved: 0,
    unblinded: 0,
    resultsMax: 5,
    samples: [recall()],
  };
  partition.trail.windowEvents['memory.recalled'] = 10;
  partition.trail.exportedWholeAt = now - DAY;
  Object.assign(partition.data, {
    granted: 13,
    unfounded: 0,
    unfoundedSinceRule: 0,
    assistantEvents: 2,
    destructiveTools: 1,
  });
  const rules = partition.policy.rules;
  rules['ai.impact_assessment'] = {
    answers: Object.fromEntries(
      ['processes', 'period_and_frequency', 'affected_persons', 'risks_of_harm', 'human_oversight', 'measures'].map(
        (name) => [name, 'told'],
      ),
    ),
    reviewed_at: now - DAY,
  };
  rules['ai.risk_review'] = { reviewed_at: now - DAY };
  rules['residency.regions'] = ['eu'];
  const deployment: Writable<DeploymentEvidence> = {
    nowSeconds: now,
    authMode: 'api-key',
    masterKeySource: 'environment',
    masterKeyInDataDirectory: false,
    masterKeyIsGuessable: false,
    tls: true,
    loopback: false,
    services: [],
    webhooks: [],
    keys: [{ name: 'one', principal: 'user:ada', scopes: ['admin'] }],
    region: 'eu',
    modelAssignments: { embedding: 'builtin' },
    previousFullRunAt: now - DAY,
    backedUpAt: undefined,
    drill: { threshold: 100, tooEarly: false, raised: true },
    tiers: [],
  };
  const metrics = { ops: metricsOf('ops.audit_chain_valid', now), intel: metricsOf('intel.low_confidence_pct', now) };
  change(partition, deployment, metrics);
  return { partitions: [partition as PartitionEvidence], metrics, deployment: deployment as DeploymentEvidence };
}

/** One green metric, which was computed a minute ago. */
function metricsOf(id: MetricId, now: number): Writable<MetricsEvidence> {
  const { green } = ROWS[id];
  return { computedAt: now - 60, metrics: [metricOf(id, { value: green, samples: 20 })] };
}

/** The monitor's answer to a synthetic burst. */
function drilled(tooEarly: boolean, raised: boolean): Change {
  return (_, deployment) => {
    deployment.drill = { threshold: 100, tooEarly, raised };
  };
}

function recall() {
  return {
    recallId: 'a'.repeat(64),
    timestamp: 1,
    namespace: '',
    queryMode: 'text',
    candidateCount: 1,
    resultCount: 1,
    principal: 'key:a',
    query: {},
    results: [{ hash: 'b'.repeat(64), rank: 1, score_breakdown: { final_score: 0.5, bm25: 0.5 } }],
    excluded: [{ hash: 'c'.repeat(64), reason: 'superseded' }],
    excludedCounts: {},
    excludedTotal: 1,
    requestId: 'r',
    auditEntryHash: 'd'.repeat(64),
    verified: true,
    redacted: false,
  };
}

function statusOf(id: string, change?: Change): Status {
  const found = judge(evidence(change), undefined).find((check) => check.id === id);
  assert.ok(found, id);
  return found.status;
}

const preset =
  (name: string): Change =>
  ({ policy }) => {
    policy.presets.push(name);
  };
const rule =
  (path: string, value: unknown): Change =>
  ({ policy }) => {
    policy.rules[path] = value;
  };
const set =
  (
    area:
      | 'blobs'
      | 'keys'
      | 'erasures'
      | 'trail'
      | 'data'
      | 'index'
      | 'recalls'
      | 'canary'
      | 'retention'
      | 'policy'
      | 'access',
    members: object,
  ): Change =>
  (partition) => {
    Object.assign(partition[area], members);
  };
const server =
  (members: Partial<DeploymentEvidence>): Change =>
  (_, deployment) => {
    Object.assign(deployment, members);
  };
/** Replaces the metrics of a domain, or says how old they are. */
const metered =
  (domain: Domain, members: object): Change =>
  (_, __, metrics) => {
    Object.assign(metrics[domain], members);
  };
const measuredAs = (id: MetricId, value: number) => ({ metrics: [metricOf(id, { value, samples: 20 })] });
const all =
  (...changes: readonly Change[]): Change =>
  (...evidence) => {
    for (const change of changes) change(...evidence);
  };
const ago =
  (days: number): Change =>
  (partition, deployment) => {
    deployment.nowSeconds += days * DAY;
    void partition;
  };
const unrecalled = all(set('trail', { windowEvents: {} }), set('recalls', { windowRecords: 0 }));
const external = { name: 'embedding', url: 'http://embed.example.com', external: true };
const accepted = [{ rule: 'some rule', wanted: ['POL-E002'], got: '' }];
const refused = [{ rule: 'some rule', wanted: ['POL-E002'], got: 'POL-E002' }];

/** The status of each check after a change to good evidence. Without a change: the status for good evidence. */
const OUTCOMES: readonly (readonly [id: string, expected: Status, change?: Change])[] = [
  ['encryption_at_rest', 'pass'],
  ['encryption_at_rest', 'fail', set('blobs', { plaintext: 1 })],
  ['encryption_at_rest', 'fail', set('blobs', { envelopes: 0 })],
  ['encryption_at_rest', 'fail', set('canary', { envelopesWanted: 0, envelopes: 0 })],
  ['encryption_algorithm', 'pass'],
  ['encryption_algorithm', 'fail', set('blobs', { conforming: 1 })],
  ['encryption_algorithm', 'fail', set('keys', { unwrappable: 1 })],
  ['encryption_roundtrip', 'pass'],
  ['encryption_roundtrip', 'fail', set('canary', { roundTrips: 1 })],
  ['encryption_tamper_detection', 'pass'],
  ['encryption_tamper_detection', 'fail', set('canary', { tamperedOpened: 1 })],
  ['encryption_tamper_detection', 'fail', set('canary', { tampered: 0 })],
  ['encryption_nonce_uniqueness', 'pass'],
  ['encryption_nonce_uniqueness', 'fail', set('blobs', { repeatedNonces: 1 })],
  ['encryption_nonce_uniqueness', 'skip', set('blobs', { nonces: 1 })],
  ['encryption_key_isolation', 'pass'],
  ['encryption_key_isolation', 'fail', set('canary', { crossedOpened: 1 })],
  ['encryption_per_user_keys', 'pass'],
  ['encryption_per_user_keys', 'fail', set('keys', { usersWithSeveral: 1 })],
  ['encryption_per_user_keys', 'fail', set('blobs', { foreignKeys: 1 })],
  ['encryption_key_wrapping', 'pass'],
  ['encryption_key_wrapping', 'fail', set('keys', { inClear: 1 })],
  ['encryption_key_wrapping', 'fail', set('keys', { checked: 0 })],
  ['encryption_key_rotation', 'pass'],
  ['encryption_key_rotation', 'warn', ago(400)],
  ['encryption_key_rotation', 'fail', ago(500)],
  [
    'encryption_key_rotation',
    'warn',
    (partition) => {
      partition.keys.oldestUserKeyMs -= 400 * DAY * 1000;
    },
  ],
  ['encryption_key_rotation', 'skip', rule('encryption.key_rotation_days', null)],
  ['encryption_master_key_source', 'pass'],
  ['encryption_master_key_source', 'fail', server({ masterKeySource: 'own' })],
  ['encryption_master_key_source', 'warn', all(server({ masterKeySource: 'own' }), rule('encryption.required', false))],
  ['encryption_master_key_source', 'pass', server({ masterKeySource: 'file' })],
  ['encryption_master_key_source', 'fail', server({ masterKeySource: 'file', masterKeyInDataDirectory: true })],
  ['encryption_master_key_source', 'fail', server({ masterKeyIsGuessable: true })],
  ['erasure_crypto', 'pass'],
  ['erasure_crypto', 'fail', set('canary', { keysOpened: 1 })],
  ['erasure_crypto', 'fail', set('canary', { keysTried: 0 })],
  ['erasure_completeness', 'pass'],
  ['erasure_completeness', 'fail', set('erasures', { grainsLeft: 1 })],
  ['erasure_completeness', 'fail', set('canary', { grainsLeft: 1 })],
  ['erasure_completeness', 'fail', set('canary', { rowsBefore: 0 })],
  ['erasure_completeness', 'fail', set('canary', { threadsLeft: 1 })],
  ['erasure_completeness', 'fail', set('canary', { threadsBefore: 0 })],
  ['erasure_proof', 'pass'],
  ['erasure_proof', 'fail', set('erasures', { brokenProofs: 1 })],
  ['erasure_proof', 'fail', set('canary', { proofRepeats: false })],
  ['erasure_proof', 'fail', set('canary', { proofEntry: false })],
  ['erasure_key_destruction', 'pass'],
  ['erasure_key_destruction', 'fail', set('erasures', { keysLeft: 1 })],
  ['erasure_key_destruction', 'fail', set('erasures', { withoutKeyEntry: 1 })],
  ['erasure_data_inaccessible', 'pass'],
  ['erasure_data_inaccessible', 'fail', set('canary', { servedBy: ['history'] })],
  ['erasure_data_inaccessible', 'fail', set('canary', { silentBefore: ['CAL'] })],
  ['erasure_data_inaccessible', 'fail', set('canary', { readsTried: 0 })],
  ['erasure_memory_clean', 'pass'],
  ['erasure_memory_clean', 'fail', set('erasures', { cached: 1 })],
  ['erasure_memory_clean', 'fail', set('canary', { cachesLeft: ['consents'] })],
  ['erasure_memory_clean', 'fail', set('canary', { cachesEmptyBefore: ['consents'] })],
  ['blind_index_enabled', 'pass'],
  ['blind_index_enabled', 'fail', set('index', { valuesFound: 1 })],
  ['blind_index_enabled', 'fail', set('canary', { foundByValue: false })],
  ['blind_index_no_plaintext', 'pass'],
  ['blind_index_no_plaintext', 'fail', set('canary', { indexNamesFound: 1 })],
  ['blind_index_no_plaintext', 'fail', all(set('canary', { indexBytes: 0 }), set('index', { bytesSearched: 0 }))],
  ['blind_index_token_strength', 'warn'],
  ['blind_index_token_strength', 'pass', set('canary', { nameTokenBytes: 32, wordTokenBytes: 32 })],
  ['blind_index_token_strength', 'fail', set('canary', { wordTokenBytes: 4 })],
  ['blind_index_token_strength', 'fail', set('canary', { tokenIsHmac: false })],
  ['blind_index_deterministic', 'pass'],
  ['blind_index_deterministic', 'fail', set('canary', { tokenTwice: false })],
  ['blind_index_deterministic', 'fail', set('canary', { foundSealed: false })],
  ['blind_index_deterministic', 'fail', set('canary', { strangerFound: true })],
  ['blind_index_key_separation', 'pass'],
  ['blind_index_key_separation', 'fail', set('keys', { indexKeyIsSeparate: false })],
  ['blind_index_key_separation', 'fail', set('canary', { tokenDiffersElsewhere: false })],
  ['blind_index_erasure', 'pass', set('erasures', { purgePending: false })],
  ['blind_index_erasure', 'fail', set('erasures', { purgePending: true })],
  ['blind_index_erasure', 'fail', set('erasures', { purgePending: false, rowsLeft: 1 })],
  ['blind_index_provenance', 'pass'],
  ['blind_index_provenance', 'fail', set('recalls', { unblinded: 1 })],
  ['blind_index_provenance', 'skip', set('recalls', { sampled: 0 })],
  ['audit_enabled', 'pass'],
  ['audit_enabled', 'fail', set('canary', { audited: ['memory.added'] })],
  ['audit_chain_integrity', 'pass'],
  ['audit_chain_integrity', 'fail', set('trail', { firstBadSeq: 3 })],
  ['audit_chain_integrity', 'fail', set('trail', { checked: 0 })],
  ['audit_chain_integrity', 'fail', set('trail', { rewritten: true })],
  ['audit_chain_integrity', 'warn', set('trail', { notedSeq: undefined })],
  ['audit_sequence_gapless', 'pass'],
  ['audit_sequence_gapless', 'fail', set('trail', { cutOff: 1 })],
  ['audit_sequence_gapless', 'warn', set('trail', { notedSeq: undefined })],
  ['audit_sequence_gapless', 'warn', set('trail', { regressionSeconds: 5 })],
  ['audit_sequence_gapless', 'fail', set('trail', { regressionSeconds: 6 })],
  ['audit_sequence_gapless', 'fail', set('trail', { gaps: 1 })],
  ['audit_immutability', 'pass'],
  ['audit_immutability', 'fail', set('trail', { rewritten: true })],
  ['audit_immutability', 'fail', set('trail', { cutOff: 1 })],
  ['audit_immutability', 'warn', set('trail', { notedSeq: undefined })],
  ['audit_immutability', 'fail', set('trail', { doctoredAccepted: 1 })],
  ['audit_immutability', 'fail', set('trail', { doctored: 0 })],
  ['audit_immutability', 'fail', set('trail', { replaceable: true })],
  ['audit_attribution', 'pass'],
  ['audit_attribution', 'fail', set('trail', { withoutActor: 1 })],
  ['audit_attribution', 'fail', set('trail', { anonymous: 1 })],
  ['audit_attribution', 'warn', all(set('trail', { anonymous: 1 }), server({ authMode: 'none' }))],
  ['audit_retention', 'pass'],
  ['audit_retention', 'fail', set('trail', { firstSeq: 2 })],
  ['policy_present', 'pass'],
  ['policy_present', 'warn', set('policy', { presets: [] })],
  [
    'policy_present',
    'fail',
    (partition) => {
      partition.policy = { error: 'the record of the policy of this memory is missing in the log: restore a backup' };
    },
  ],
  ['policy_seal_intact', 'pass'],
  ['policy_seal_intact', 'fail', set('policy', { intact: false })],
  ['policy_enforced_on_write', 'pass'],
  ['policy_enforced_on_write', 'fail', set('canary', { writeRules: accepted })],
  ['policy_enforced_on_write', 'skip', set('canary', { writeRules: [] })],
  ['policy_deletion_control', 'pass'],
  ['policy_deletion_control', 'fail', set('canary', { deletionRules: accepted })],
  ['policy_deletion_control', 'skip', set('canary', { deletionRules: [] })],
  ['policy_retention_enforced', 'skip'],
  ['policy_retention_enforced', 'pass', set('retention', { hasLimit: true })],
  ['policy_retention_enforced', 'warn', set('retention', { hasLimit: true, expired: 1 })],
  ['policy_retention_enforced', 'fail', set('retention', { hasLimit: true, expired: 1, expiredOverDay: 1 })],
  ['policy_consent_enforced', 'pass'],
  ['policy_consent_enforced', 'warn', set('data', { revokedLongAgo: 1 })],
  ['policy_consent_enforced', 'fail', set('data', { unfoundedSinceRule: 1 })],
  ['policy_consent_enforced', 'fail', set('canary', { writeRules: [{ ...accepted[0], rule: 'consent.mode' }] })],
  ['policy_consent_enforced', 'skip', rule('consent.mode', 'none')],
  ['authz_authentication_required', 'pass'],
  ['authz_authentication_required', 'fail', server({ authMode: 'none' })],
  ['authz_authentication_required', 'warn', all(server({ authMode: 'none' }), set('policy', { presets: ['gdpr'] }))],
  ['authz_default_deny', 'pass'],
  ['authz_default_deny', 'fail', set('access', { strangersAllowed: ['viewer of a memory for user:*'] })],
  ['authz_default_deny', 'fail', set('canary', { accessRules: accepted })],
  ['authz_tuple_integrity', 'skip'],
  ['authz_tuple_integrity', 'pass', set('access', { tuples: 3, read: 3 })],
  ['authz_tuple_integrity', 'warn', set('access', { tuples: 3, read: 3, dangling: 1 })],
  ['authz_tuple_integrity', 'fail', set('access', { tuples: 3, read: 2 })],
  ['authz_tuple_integrity', 'fail', set('access', { tuples: 3, read: 3, malformed: 1 })],
  ['authz_denials_audited', 'pass'],
  ['authz_denials_audited', 'fail', set('canary', { audited: ['memory.added'] })],
  ['hipaa_phi_detection', 'pass'],
  ['hipaa_phi_write_gate', 'pass'],
  ['hipaa_phi_write_gate', 'fail', set('canary', { phiGate: accepted })],
  ['hipaa_baa_registry', 'skip'],
  ['hipaa_baa_registry', 'fail', server({ services: [external] })],
  ['hipaa_baa_registry', 'pass', all(server({ services: [external] }), rule('tiering.baa_acknowledged', true))],
  ['hipaa_access_control', 'pass'],
  ['hipaa_access_control', 'fail', rule('access.authz_required', false)],
  ['hipaa_access_control', 'fail', server({ keys: [{ name: 'a', principal: '', scopes: ['read'] }] })],
  [
    'hipaa_access_control',
    'warn',
    server({
      keys: [
        { name: 'a', principal: 'user:ada', scopes: ['read'] },
        { name: 'b', principal: 'user:ada', scopes: ['read'] },
      ],
    }),
  ],
  ['hipaa_audit_controls', 'pass'],
  ['hipaa_audit_controls', 'fail', rule('audit.reads', false)],
  ['hipaa_audit_controls', 'fail', set('recalls', { windowRecords: 11 })],
  ['hipaa_audit_controls', 'pass', unrecalled],
  ['hipaa_audit_controls', 'fail', all(unrecalled, set('canary', { audited: ['memory.added'] }))],
  ['hipaa_integrity', 'pass'],
  ['hipaa_integrity', 'fail', set('blobs', { misaddressed: 1 })],
  ['hipaa_integrity', 'skip', set('blobs', { sampled: 0 })],
  ['hipaa_minimum_necessary', 'pass'],
  ['hipaa_minimum_necessary', 'warn', rule('access.max_recall_limit', 101)],
  ['hipaa_minimum_necessary', 'fail', rule('access.max_recall_limit', 501)],
  ['hipaa_minimum_necessary', 'fail', rule('access.max_recall_limit', null)],
  ['hipaa_minimum_necessary', 'fail', set('recalls', { resultsMax: 101 })],
  ['hipaa_minimum_necessary', 'fail', set('canary', { recallLimit: accepted })],
  ['hipaa_transmission_security', 'pass'],
  ['hipaa_transmission_security', 'pass', server({ tls: false, loopback: true })],
  ['hipaa_transmission_security', 'fail', server({ tls: false })],
  ['hipaa_transmission_security', 'fail', server({ webhooks: [external] })],
  ['hipaa_transmission_security', 'fail', server({ services: [external] })],
  ['euai_risk_management', 'pass'],
  ['euai_risk_management', 'warn', ago(400)],
  ['euai_risk_management', 'fail', ago(500)],
  ['euai_risk_management', 'fail', set('policy', { overridden: [] })],
  ['euai_data_governance', 'warn'],
  ['euai_data_governance', 'pass', set('data', { sampled: 100, listedSource: 95, unnamedSource: 5 })],
  ['euai_data_governance', 'warn', set('data', { sampled: 100, listedSource: 80, unnamedSource: 0 })],
  ['euai_data_governance', 'fail', set('data', { sampled: 100, listedSource: 79, unnamedSource: 0 })],
  ['euai_data_governance', 'skip', set('data', { sampled: 0 })],
  ['euai_data_quality', 'skip'],
  ['euai_data_quality', 'pass', set('data', { beliefs: 100, contradicted: 5, lowConfidence: 10 })],
  ['euai_data_quality', 'warn', set('data', { beliefs: 100, contradicted: 15, lowConfidence: 30 })],
  ['euai_data_quality', 'fail', set('data', { beliefs: 100, contradicted: 16 })],
  ['euai_technical_documentation', 'pass'],
  ['euai_technical_documentation', 'warn', rule('records.controller', null)],
  ['euai_technical_documentation', 'fail', all(rule('records.controller', null), server({ modelAssignments: {} }))],
  ['euai_record_keeping', 'pass'],
  ['euai_record_keeping', 'warn', set('recalls', { windowRecords: 9.6 })],
  ['euai_record_keeping', 'fail', set('recalls', { windowRecords: 9 })],
  ['euai_record_keeping', 'fail', rule('provenance.record', false)],
  ['euai_provenance_integrity', 'pass'],
  ['euai_provenance_integrity', 'fail', set('recalls', { broken: 1 })],
  ['euai_provenance_integrity', 'fail', set('recalls', { unresolved: 1 })],
  ['euai_provenance_integrity', 'skip', set('recalls', { sampled: 0 })],
  ['euai_transparency', 'pass'],
  ['euai_transparency', 'fail', set('canary', { scoreParts: [] })],
  ['euai_transparency', 'fail', set('canary', { scoreParts: ['bm25', 'near'], explainedParts: ['bm25'] })],
  ['euai_transparency', 'fail', set('canary', { explanation: '', explainedParts: [] })],
  ['euai_human_oversight', 'pass'],
  ['euai_human_oversight', 'warn', set('data', { destructiveNotClient: 1 })],
  [
    'euai_human_oversight',
    'pass',
    all(server({ keys: [{ name: 'a', principal: 'key:a', scopes: ['admin'] }] }), set('access', { persons: 1 })),
  ],
  ['euai_human_oversight', 'fail', server({ keys: [{ name: 'a', principal: 'key:a', scopes: ['admin'] }] })],
  ['euai_accuracy_metrics', 'pass'],
  ['euai_accuracy_metrics', 'pass', metered('intel', measuredAs('intel.low_confidence_pct', 20))],
  ['euai_accuracy_metrics', 'warn', metered('intel', measuredAs('intel.low_confidence_pct', 31))],
  ['euai_accuracy_metrics', 'fail', metered('intel', { metrics: [metricOf('intel.stale_pct', { reason: 'none' })] })],
  ['euai_accuracy_metrics', 'fail', metered('intel', { error: 'no shard answered' })],
  ['euai_accuracy_metrics', 'fail', metered('intel', { computedAt: 1 })],
  ['euai_robustness', 'pass', set('canary', { robustness: refused })],
  ['euai_robustness', 'fail', set('canary', { robustness: accepted })],
  ['euai_cybersecurity', 'pass'],
  ['euai_cybersecurity', 'fail', set('canary', { accessRules: accepted })],
  ['euai_cybersecurity', 'fail', server({ masterKeySource: 'own' })],
  ['euai_log_retention', 'pass'],
  ['euai_log_retention', 'pass', rule('retention.provenance_days', null)],
  ['euai_log_retention', 'fail', rule('retention.provenance_days', 179)],
  ['euai_deployer_monitoring', 'pass'],
  ['euai_deployer_monitoring', 'warn', ago(60)],
  ['euai_deployer_monitoring', 'warn', server({ previousFullRunAt: undefined })],
  ['euai_deployer_monitoring', 'fail', ago(100)],
  ['euai_impact_assessment', 'pass'],
  ['euai_impact_assessment', 'fail', ago(400)],
  ['euai_impact_assessment', 'fail', rule('ai.impact_assessment', null)],
  [
    'euai_impact_assessment',
    'warn',
    ({ policy, nowMs }) => {
      policy.rules['ai.impact_assessment'] = { answers: {}, reviewed_at: Math.floor(nowMs / 1000) };
    },
  ],
  ['euai_impact_assessment', 'skip', rule('ai.risk_class', 'limited')],
  ['euai_ai_disclosure', 'pass'],
  ['euai_ai_disclosure', 'warn', set('data', { assistantEvents: 0 })],
  ['euai_ai_disclosure', 'fail', set('data', { unflaggedAssistant: 1 })],
  ['euai_ai_disclosure', 'fail', rule('ai.disclosure', false)],
  ['euai_explanation_right', 'pass'],
  ['euai_explanation_right', 'skip', set('recalls', { samples: [] })],
  ['euai_explanation_right', 'fail', set('recalls', { samples: [{ ...recall(), results: [null] }] })],
  [
    'euai_explanation_right',
    'fail',
    set('recalls', { samples: [{ ...recall(), results: [{ score_breakdown: {} }] }] }),
  ],
  ['euai_explanation_right', 'fail', set('recalls', { samples: [{ ...recall(), excluded: [{ reason: 'moon' }] }] })],
  ['soc2_logical_access', 'warn'],
  ['soc2_logical_access', 'warn', set('access', { owners: 1 })],
  ['soc2_logical_access', 'pass', set('access', { owners: 1, others: 1 })],
  ['soc2_logical_access', 'fail', server({ authMode: 'none' })],
  ['soc2_logical_access', 'fail', rule('access.authz_required', false)],
  ['soc2_segregation_duties', 'warn'],
  ['soc2_segregation_duties', 'warn', server({ keys: [] })],
  ['soc2_segregation_duties', 'pass', set('access', { admins: ['user:bob'], auditors: ['user:eve'] })],
  ['soc2_segregation_duties', 'fail', set('access', { auditors: ['user:ada'] })],
  ['soc2_segregation_duties', 'fail', set('access', { admins: ['user:bob'], auditors: ['user:bob'] })],
  ['soc2_monitoring', 'pass'],
  ['soc2_monitoring', 'warn', metered('ops', measuredAs('ops.hook_dead_letters', 1))],
  ['soc2_monitoring', 'fail', metered('ops', measuredAs('ops.audit_chain_valid', 0))],
  ['soc2_monitoring', 'fail', metered('ops', { metrics: [] })],
  ['soc2_monitoring', 'fail', metered('ops', { error: 'no shard answered' })],
  ['soc2_monitoring', 'fail', metered('ops', { computedAt: 1 })],
  ['soc2_incident_detection', 'pass'],
  ['soc2_incident_detection', 'fail', drilled(false, false)],
  ['soc2_incident_detection', 'fail', drilled(true, true)],
  ['soc2_change_management', 'pass'],
  [
    'soc2_change_management',
    'warn',
    ({ policy }) => {
      policy.versions[0].reason = null;
    },
  ],
  ['soc2_change_management', 'fail', set('policy', { versions: [] })],
  ['soc2_availability_backup', 'pass'],
  ['soc2_availability_backup', 'warn', ago(60)],
  ['soc2_availability_backup', 'warn', set('trail', { exportedWholeAt: undefined })],
  [
    'soc2_availability_backup',
    'pass',
    all(set('trail', { exportedWholeAt: undefined }), (_, deployment) => {
      deployment.backedUpAt = deployment.nowSeconds - DAY;
    }),
  ],
  ['soc2_availability_backup', 'fail', set('canary', { exportRoundTrip: false })],
  ['ccpa_right_to_delete', 'skip'],
  ['ccpa_right_to_delete', 'pass', preset('ccpa')],
  ['ccpa_right_to_delete', 'fail', all(preset('ccpa'), set('canary', { proof: false }))],
  ['ccpa_opt_out', 'pass', preset('ccpa')],
  ['ccpa_opt_out', 'fail', all(preset('ccpa'), set('canary', { optOut: accepted }))],
  ['lgpd_legal_basis', 'pass'],
  ['lgpd_legal_basis', 'warn', set('data', { personal: 100, unfounded: 5 })],
  ['lgpd_legal_basis', 'fail', set('data', { personal: 100, unfounded: 6 })],
  ['lgpd_legal_basis', 'skip', set('data', { personal: 0 })],
  ['lgpd_data_subject_access', 'pass'],
  ['lgpd_data_subject_access', 'fail', set('data', { userExport: { exported: 1, parsed: 1, stored: 2 } })],
  ['lgpd_data_subject_access', 'skip', set('data', { userExport: undefined })],
  ['pipl_separate_consent', 'skip', preset('pipl')],
  ['pipl_separate_consent', 'pass', all(preset('pipl'), set('data', { sensitive: 1 }))],
  ['pipl_separate_consent', 'fail', all(preset('pipl'), set('data', { sensitive: 1, sensitiveUngranted: 1 }))],
  ['pipl_cross_border', 'pass', preset('pipl')],
  ['pipl_cross_border', 'warn', all(preset('pipl'), rule('residency.regions', []))],
  ['pipl_cross_border', 'fail', all(preset('pipl'), server({ region: 'us' }))],
  ['pipl_cross_border', 'fail', all(preset('pipl'), server({ services: [external] }))],
  ['pipl_cross_border', 'fail', all(preset('pipl'), server({ services: [{ ...external, region: 'us' }] }))],
  ['pipl_cross_border', 'pass', all(preset('pipl'), server({ services: [{ ...external, region: 'eu' }] }))],
  ...['tier_encryption', 'tier_erasure_coverage', 'tier_residency', 'tier_movement_audited'].flatMap(
    (id): [string, Status, Change?][] => [
      [id, 'skip'],
      [id, 'fail', server({ tiers: ['warm'] })],
    ],
  ),
  ['agent_identity_registered', 'skip'],
  ['agent_identity_registered', 'fail', set('trail', { agents: ['agent:a'], unregisteredAgents: ['agent:a'] })],
  ['agent_identity_registered', 'pass', set('trail', { agents: ['agent:a'] })],
  [
    'agent_identity_registered',
    'warn',
    set('trail', { agents: Array.from({ length: 20 }, (_, i) => `agent:${i}`), unregisteredAgents: ['agent:0'] }),
  ],
  ['agent_identity_registered', 'fail', set('data', { agentAuthors: ['did:a:b'], unregisteredAuthors: ['did:a:b'] })],
  ['agent_identity_deactivation', 'pass', set('trail', { deactivatedAgents: 1 })],
  ['agent_identity_deactivation', 'fail', set('trail', { deactivatedAgents: 1, lateAgents: ['a'] })],
  ['agent_identity_deactivation', 'skip'],
  ['policy_version_chain', 'pass'],
  [
    'policy_version_chain',
    'fail',
    ({ policy }) => {
      policy.versions[0].prevSealHash = 'another';
    },
  ],
  ['policy_version_chain', 'fail', set('canary', { policyChainIntact: false })],
  ['policy_change_audited', 'pass'],
  ['policy_change_audited', 'fail', set('trail', { sealedVersions: [] })],
  ['policy_downgrade_authorised', 'skip'],
  ['policy_downgrade_authorised', 'pass', set('trail', { downgrades: 1 })],
  ['policy_downgrade_authorised', 'fail', set('trail', { downgrades: 1, looseDowngrades: 1 })],
  ['policy_simulation_consistent', 'pass'],
  ['policy_simulation_consistent', 'fail', set('policy', { simulationDiffers: 1 })],
  ['policy_resolution_deterministic', 'pass'],
  ['policy_resolution_deterministic', 'fail', set('policy', { shuffledResults: 2 })],
  ['policy_review_age', 'pass'],
  ['policy_review_age', 'warn', ago(400)],
  ['policy_review_age', 'fail', ago(600)],
  ['policy_review_age', 'fail', set('policy', { version: 0, madeAt: 0 })],
  ['gdpr_record_of_processing', 'warn'],
  ['gdpr_record_of_processing', 'pass', rule('retention.default_ttl_days', 365)],
  ['gdpr_record_of_processing', 'warn', rule('records.recipients', [])],
  ['gdpr_record_of_processing', 'warn', set('blobs', { envelopes: 0 })],
  ['gdpr_record_of_processing', 'fail', rule('records.controller', null)],
  ['gdpr_record_of_processing', 'skip', all(rule('records.controller', null), set('data', { personal: 0 }))],
];

test('each check has the status that its evidence implies', () => {
  const wrong = OUTCOMES.flatMap(([id, expected, change], row) => {
    const status = statusOf(id, change);
    return status === expected ? [] : [`row ${row}: ${id} is ${status}, not ${expected}`];
  });
  assert.deepEqual(wrong, []);
});

test('the table is the one of the contract, and every check has a judge and at least one way not to pass', () => {
  assert.equal(CHECKS.length, 88);
  assert.deepEqual(
    CHECKS.map(({ id }) => id).filter((id) => JUDGES[id] === undefined),
    [],
  );
  const sizes = Object.fromEntries(
    [...Map.groupBy(CHECKS, ({ group }) => group)].map(([group, checks]) => [group, checks.length]),
  );
  assert.deepEqual(sizes, {
    encryption: 10,
    erasure: 6,
    blind_index: 7,
    audit: 6,
    policy: 6,
    authorization: 4,
    hipaa: 8,
    eu_ai_act: 16,
    soc2: 6,
    ccpa: 2,
    lgpd: 2,
    pipl: 2,
    tiered_storage: 4,
    agent_identity: 2,
    policy_lifecycle: 6,
    records: 1,
  });
  // The detector is the same for all memories.
  const always = ['hipaa_phi_detection'];
  const tried = new Set(OUTCOMES.filter(([, status]) => status !== 'pass').map(([id]) => id));
  assert.deepEqual(
    CHECKS.map(({ id }) => id).filter((id) => !tried.has(id) && !always.includes(id)),
    [],
  );
  for (const { regulations } of CHECKS)
    for (const { regulation, article } of regulations) assert.ok(REGULATIONS.includes(regulation) && article !== '');
});

test('the checks that a policy change lists as affected exist in the table', () => {
  const ids = new Set(CHECKS.map(({ id }) => id));
  assert.deepEqual(
    affectedChecks(RULE_PATHS).filter((id) => !ids.has(id)),
    [],
  );
});

test('a check without measurements fails', () => {
  const checks = judge(
    evidence((partition) => {
      for (const area of [
        'blobs',
        'keys',
        'erasures',
        'trail',
        'policy',
        'access',
        'retention',
        'data',
        'index',
        'recalls',
        'canary',
      ] as const)
        partition[area] = { error: 'the disk is gone' };
    }),
    undefined,
  );
  // Checks of server settings or of the detector need no shard.
  const passing = checks.filter(({ status }) => status === 'pass').map(({ id }) => id);
  assert.deepEqual(passing, ['encryption_master_key_source', 'authz_authentication_required']);
  assert.match(checks[0]!.detail, /^check errored: blobs: the disk is gone/);
  assert.deepEqual(
    judge({ ...evidence(), partitions: [] }, undefined)
      .filter(({ status }) => status === 'pass')
      .map(({ id }) => id),
    ['encryption_master_key_source', 'authz_authentication_required'],
  );
});

test('one bad partition among several fails the check', () => {
  const good = evidence();
  const bad = evidence(set('blobs', { plaintext: 1 }));
  const both = { ...good, partitions: [...good.partitions, ...bad.partitions] };
  assert.equal(judge(both, undefined).find(({ id }) => id === 'encryption_at_rest')?.status, 'fail');
});

test('a filter selects the checks of its regulation, even without its preset', () => {
  for (const regulation of REGULATIONS) {
    const checks = judge(evidence(set('policy', { presets: [] })), regulation);
    assert.ok(checks.length > 0 && checks.length < 88, regulation);
    for (const { regulations, group, detail } of checks) {
      assert.ok(regulations.some((one) => one.regulation === regulation));
      if (group === regulation) assert.notEqual(detail, 'preset not active');
    }
  }
  assert.deepEqual(['', undefined, 'EU-AI-Act', 'hipaa', 'sox'].map(regulationOf), [
    undefined,
    undefined,
    'eu_ai_act',
    'hipaa',
    null,
  ]);
});
