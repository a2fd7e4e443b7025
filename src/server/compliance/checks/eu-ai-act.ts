import { RECALL_RECORD_DAYS } from '../../../engine/base/limits.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { explained, isKnownReason } from '../../operations/trail/recall-record.ts';
import { emptyParts, technicalDocumentation } from '../documentation.ts';
import { areas, type Evidence, policyOf, sum } from '../evidence.ts';
import { assessmentOf, reviewedAtOf } from '../impact.ts';
import { fail, type Judge, pass, passIf, skip, type Verdict, warn, within } from '../verdict.ts';
import { metricsSeen } from './metrics.ts';
import { probesHold } from './policy.ts';

const DAY_SECONDS = 86_400;
const HALF_YEAR_DAYS = 180;
const BELIEFS_MIN = 20;

const percent = (part: number, of: number): number => (of === 0 ? 0 : (100 * part) / of);
const shown = (share: number): string => `${share.toFixed(1)} %`;

export const EU_AI_ACT: Readonly<Record<string, Judge>> = {
  euai_risk_management: (evidence) => {
    const { rules, overridden } = policyOf(evidence);
    if (!overridden.includes('ai.risk_class')) return fail('ai.risk_class is not set');
    const reviewed = reviewedAtOf(rules['ai.risk_review']);
    if (reviewed === undefined) return fail(`ai.risk_class ${rules['ai.risk_class']}, never reviewed`);
    const days = ageDays(evidence, reviewed);
    return within(days, 365, 455, `ai.risk_class ${rules['ai.risk_class']}, reviewed ${days.toFixed(0)} days ago`);
  },
  euai_data_governance: (evidence) => {
    const sampled = sum(evidence, 'data', (data) => data.sampled);
    if (sampled === 0) return skip('no grains');
    const unnamed = sum(evidence, 'data', (data) => data.unnamedSource);
    const listed = sum(evidence, 'data', (data) => data.listedSource);
    const unlisted = percent(sampled - listed - unnamed, sampled);
    const detail =
      `of ${sampled} sampled current grains ${shown(percent(listed, sampled))} have a listed source_type, ` +
      `${shown(percent(unnamed, sampled))} have none and count as the user's`;
    const verdict = within(unlisted, 5, 20, detail);
    // A default is not a statement about a grain's origin.
    return verdict.status === 'pass' && percent(unnamed, sampled) > 5 ? warn(detail) : verdict;
  },
  euai_data_quality: (evidence) => {
    const beliefs = sum(evidence, 'data', (data) => data.beliefs);
    if (beliefs < BELIEFS_MIN) return skip(`${beliefs} beliefs`);
    const contradicted = percent(
      sum(evidence, 'data', (data) => data.contradicted),
      beliefs,
    );
    const doubtful = percent(
      sum(evidence, 'data', (data) => data.lowConfidence),
      beliefs,
    );
    const detail = `of ${beliefs} sampled beliefs ${shown(contradicted)} contradict others, ${shown(doubtful)} are below confidence 0.3`;
    if (contradicted <= 5 && doubtful <= 10) return pass(detail);
    return contradicted <= 15 && doubtful <= 30 ? warn(detail) : fail(detail);
  },
  euai_technical_documentation: (evidence) => {
    const empty = emptyParts(technicalDocumentation(evidence));
    return within(empty.length, 0, 1, empty.length === 0 ? 'all parts are present' : `empty: ${empty.join(', ')}`);
  },
  euai_record_keeping: (evidence) => {
    const { 'provenance.record': on } = policyOf(evidence).rules;
    const recalled = sum(evidence, 'trail', ({ windowEvents }) => windowEvents['memory.recalled'] ?? 0);
    const records = sum(evidence, 'recalls', ({ windowRecords }) => windowRecords);
    const detail = `provenance.record ${on ? 'on' : 'off'}; 30 days: ${records} records, ${recalled} entries memory.recalled`;
    if (!on) return fail(detail);
    if (recalled === 0 && records === 0) return warn(`${detail}: no recalls yet`);
    return within(percent(Math.abs(records - recalled), Math.max(records, recalled)), 1, 5, detail);
  },
  euai_provenance_integrity: (evidence) => {
    const sampled = sum(evidence, 'recalls', (recalls) => recalls.sampled);
    if (sampled === 0) return skip('no records of recalls');
    const broken = sum(evidence, 'recalls', (recalls) => recalls.broken);
    const unresolved = sum(evidence, 'recalls', (recalls) => recalls.unresolved);
    return passIf(
      broken === 0 && unresolved === 0,
      `of ${sampled} records ${broken} do not recompute, ${unresolved} refer to no audit entry`,
    );
  },
  euai_transparency: (evidence) => {
    const canaries = areas(evidence, 'canary');
    const [first] = canaries;
    const parts = sum(evidence, 'canary', ({ scoreParts }) => scoreParts.length);
    const explanations = sum(evidence, 'canary', ({ explainedParts }) => explainedParts.length);
    return passIf(
      canaries.every(({ scoreParts }) => scoreParts.length > 0) && explanations === parts,
      `${explanations} of ${parts} parts of a canary's score are explained: ${first === undefined || first.explanation === '' ? 'nothing' : first.explanation}`,
    );
  },
  euai_human_oversight: (evidence) => {
    const people = evidence.deployment.keys.filter(
      ({ principal, scopes }) => principal.startsWith('user:') && scopes.includes('admin'),
    );
    // Every partition has the same tuples.
    const { persons = 0 } = areas(evidence, 'access')[0] ?? {};
    if (people.length + persons === 0) return fail('no principal user:… is admin or auditor, by a key or by a tuple');
    const tools = sum(evidence, 'data', (data) => data.destructiveTools);
    const elsewhere = sum(evidence, 'data', (data) => data.destructiveNotClient);
    const detail = `${people.length} admin keys of persons, ${persons} persons in charge by tuples; ${tools - elsewhere} of ${tools} sampled destructive tools are client-executed`;
    return tools > 0 && elsewhere === 0 ? pass(detail) : warn(detail);
  },
  euai_accuracy_metrics: (evidence) => {
    const { observed, red, ageSeconds, detail } = metricsSeen(evidence, 'intel');
    if (observed === 0 || ageSeconds > DAY_SECONDS) return fail(detail);
    return red.length > 0 ? warn(detail) : pass(detail);
  },
  euai_robustness: (evidence) => probesHold(areas(evidence, 'canary').flatMap(({ robustness }) => robustness)),
  euai_cybersecurity: (_, verdicts) => {
    const ids = ['encryption_tamper_detection', 'encryption_master_key_source', 'authz_default_deny'];
    const found = ids.map((id) => verdicts.get(id)?.status ?? 'fail');
    const detail = ids.map((id, i) => `${id} ${found[i]}`).join(', ');
    if (found.every((status) => status === 'pass')) return pass(detail);
    return found.includes('fail') ? fail(detail) : warn(detail);
  },
  euai_log_retention: (evidence) => {
    const { rules } = policyOf(evidence);
    const provenance = rules['retention.provenance_days'] ?? RECALL_RECORD_DAYS;
    return passIf(
      provenance >= HALF_YEAR_DAYS,
      `audit entries are kept indefinitely, records of recalls for ${provenance} days`,
    );
  },
  euai_deployer_monitoring: (evidence) => {
    const { previousFullRunAt } = evidence.deployment;
    if (previousFullRunAt === undefined) return warn('this is the first full run');
    const days = ageDays(evidence, previousFullRunAt);
    return within(days, 30, 90, `the full run before this one was ${days.toFixed(1)} days ago`);
  },
  euai_impact_assessment: (evidence) => {
    const { rules } = policyOf(evidence);
    if (rules['ai.risk_class'] !== 'high') return skip(`ai.risk_class is ${rules['ai.risk_class']}`);
    const assessment = assessmentOf('eu_ai_act', rules, evidence.deployment.nowSeconds);
    const detail = `${assessment.status}${assessment.gaps.length > 0 ? `, missing: ${assessment.gaps.join(', ')}` : ''}`;
    if (assessment.lastReviewedAt === null || assessment.status === 'overdue') return fail(detail);
    return assessment.status === 'complete' ? pass(detail) : warn(detail);
  },
  euai_ai_disclosure: (evidence) => {
    const { 'ai.disclosure': on } = policyOf(evidence).rules;
    const events = sum(evidence, 'data', (data) => data.assistantEvents);
    const unflagged = sum(evidence, 'data', (data) => data.unflaggedAssistant);
    const detail = `ai.disclosure ${on ? 'on' : 'off'}; ${unflagged} of ${events} sampled events of assistants without source_type agent`;
    if (!on || unflagged > 0) return fail(detail);
    return events === 0 ? warn(detail) : pass(detail);
  },
  euai_explanation_right: (evidence): Verdict => {
    const samples = areas(evidence, 'recalls').flatMap((recalls) => recalls.samples);
    if (samples.length === 0) return skip('no records of recalls');
    const explanations = samples.map(explained);
    const results = explanations.flatMap((record) => record.results);
    const excluded = explanations.flatMap((record) => record.excluded);
    const silent = results.filter((result) => !saysItsScore(result)).length;
    const unknown = excluded.filter(({ reason }) => !isKnownReason(reason)).length;
    return passIf(
      silent === 0 && unknown === 0,
      `of ${samples.length} records ${results.length - silent} of ${results.length} results are explained by the score ` +
        `that they had, ${excluded.length - unknown} of ${excluded.length} exclusions by their reason`,
    );
  },
};

/** True when the explanation states the result's own score and its parts. */
function saysItsScore({ explanation, score_breakdown }: JsonObject): boolean {
  const final = (score_breakdown as JsonObject | undefined)?.['final_score']; // as the record holds it
  if (typeof explanation !== 'string' || typeof final !== 'number') return false;
  return explanation.includes(`Score ${final.toFixed(3)}: `) && / (for|rank|cosine|since) /.test(explanation);
}

function ageDays({ deployment }: Evidence, atSeconds: number): number {
  return (deployment.nowSeconds - atSeconds) / DAY_SECONDS;
}
