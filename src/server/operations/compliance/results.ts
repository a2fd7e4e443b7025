// Results of the last full run: counts, violations, impact assessments, and an exportable report.
import { EngineError } from '../../../engine/base/errors.ts';
import { policyOfJson } from '../../../engine/govern/policy/seal.ts';
import type { PolicyValue } from '../../../engine/govern/policy/values.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import type { Report } from '../../compliance/report.ts';
import type { Run } from '../../compliance/run.ts';
import { SEVERITIES } from '../../compliance/severity.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { FIELDS, HASH, listOf, objectOf, oneOf, orNull, TEXT, TEXTS, TIME, withMembers } from '../json-schema.ts';
import { outsideSchema } from '../names.ts';
import { comparePlaces, ORDERED_PAGE_INPUT, PAGE_OUTPUT, type Place, pageOf, readPage } from '../page.ts';
import { POLICY } from '../policy/schema.ts';
import { described, Type } from '../type.ts';
import { inImpact, inReport, inRun, inTable } from './checks.ts';
import { Citation, VerifyResult } from './verify-run.ts';

type ShownCheck = ReturnType<typeof import('../../compliance/run.ts').shownCheck>;

const Counts = Type.Object({
  total: Type.Integer({ description: 'Number of checks.' }),
  pass: Type.Integer({ description: 'Number of checks that passed.' }),
  fail: Type.Integer({ description: 'Number of checks that failed.' }),
  warn: Type.Integer({ description: 'Number of checks that ended with a warning.' }),
  skip: Type.Integer({ description: 'Number of checks that did not apply.' }),
});
const CountsByName = Type.Unsafe<Record<string, JsonObject>>({ type: 'object' });

const Figures = Type.Object({
  runId: Type.String({ description: 'Id of the run that the counts come from.' }),
  ...Counts.properties,
  passRate: Type.Number({ description: 'Share of the checks that were not skipped and passed, from 0 to 1.' }),
  byGroup: described(CountsByName, 'Counts of each group of checks, by its name.'),
  byRegulation: described(CountsByName, 'Counts of the checks of each regulation, by its name.'),
  lastRunAt: Type.Integer({ description: 'Time at which the run ended, in Unix seconds.' }),
});

const COUNTS_BY_NAME = { type: 'object', additionalProperties: outsideSchema(Counts) };
const FIGURES = withMembers(outsideSchema(Figures), {
  by_group: described(COUNTS_BY_NAME, 'Counts of each group of checks, by its name.'),
  by_regulation: described(COUNTS_BY_NAME, 'Counts of the checks of each regulation, by its name.'),
});

const ASSESSMENT = objectOf({
  framework: described(TEXT, 'The law: eu_ai_act or colorado_ai_act.'),
  reference: described(TEXT, 'The article that demands the assessment.'),
  status: described(
    oneOf('complete', 'incomplete', 'overdue', 'not_required'),
    'State of the assessment; a risk class that needs none gives not_required.',
  ),
  risk_class: described(TEXT, 'Risk class that the policy states: minimal, limited or high.'),
  answers: described(FIELDS, 'Answers that the policy holds, by the name of the question.'),
  gaps: described(TEXTS, 'Names of the questions that have no answer.'),
  last_reviewed_at: described(orNull(TIME), 'Time of the last review in Unix seconds; null without one.'),
  next_review_at: described(
    orNull(TIME),
    'Time at which the next review is due in Unix seconds, a year after the last; null without one.',
  ),
});

export const complianceMetrics = defineOperation({
  name: 'compliance_metrics',
  summary: 'Count the checks of the last full run; the first call starts one.',
  description: 'The counts are by group and by regulation too.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: ['viewer', 'auditor'],
  mutates: false,
  slow: true,
  input: Type.Object({}),
  output: Figures,
  errors: ['AUT-E001'],
  http: [{ verb: 'GET', path: 'M/compliance/metrics', answer: FIGURES }],
  async run(_, context) {
    const { fullRun, tallyOf } = inRun();
    const run = await fullRun(context);
    return {
      runId: run.runId,
      ...tallyOf(run.checks),
      byGroup: countsBy(run, ({ group }) => [group]),
      byRegulation: countsBy(run, ({ regulations }) => [...new Set(regulations.map(({ regulation }) => regulation))]),
      lastRunAt: run.finishedAt,
    };
  },
});

function countsBy({ checks }: Run, namesOf: (check: ShownCheck) => readonly string[]): Record<string, JsonObject> {
  const { shownCheck, tallyOf } = inRun();
  const named = checks.map(shownCheck).map((check) => [check, namesOf(check)] as const);
  return Object.fromEntries(
    [...new Set(named.flatMap(([, names]) => names))].map((name) => {
      const { passRate: _, ...counts } = tallyOf(
        named.flatMap(([check, names]) => (names.includes(name) ? [check] : [])),
      );
      return [name, counts];
    }),
  );
}

export const complianceViolations = defineOperation({
  name: 'compliance_violations',
  summary: 'List the checks that fail, the most severe first, with what to do.',
  description: 'They come from the last full run; the first call starts one.',
  example: { severity: 'critical' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: ['viewer', 'auditor'],
  mutates: false,
  slow: true,
  paged: true,
  input: Type.Object({
    severity: Type.Optional(
      Type.String({
        description: 'Only violations of this severity: critical, high, medium or low; the default is all.',
      }),
    ),
    group: Type.Optional(Type.String({ description: 'Only violations of this group of checks; the default is all.' })),
    ...ORDERED_PAGE_INPUT,
  }),
  output: Type.Object({
    violations: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the check.' }),
        group: Type.String({ description: 'Group of the check.' }),
        regulations: Type.Array(Citation, { description: 'Articles that the check serves.' }),
        severity: Type.String({ description: 'Severity of the check: critical, high, medium or low.' }),
        description: Type.String({ description: 'The property that the check verifies.' }),
        detail: Type.String({ description: 'The measurement of the check, in words.' }),
        remediation: Type.String({ description: 'The step after which the check passes.' }),
        detectedAt: Type.Integer({ description: 'Time at which the failure was found, in Unix seconds.' }),
      }),
      { description: 'The checks that failed, the most severe first, then by id.' },
    ),
    ...PAGE_OUTPUT,
  }),
  errors: ['VAL-E001', 'VAL-E004', 'AUT-E001'],
  http: [{ verb: 'GET', path: 'M/compliance/violations' }],
  async run({ severity, group, ...asked }, context) {
    if (severity !== undefined && !SEVERITIES.some((name) => name === severity)) throw unknown('severity', severity);
    if (group !== undefined && !inTable().CHECKS.some((check) => check.group === group)) throw unknown('group', group);
    const page = readPage({ ...asked, order: 'asc' }, VIOLATIONS, context.warnings);
    const { fullRun, shownCheck } = inRun();
    const run = await fullRun(context);
    const violations = run.checks
      .filter(({ status }) => status === 'fail')
      .map((check) => {
        const { status: _, ...shown } = shownCheck(check);
        const { remediation = '' } = inTable().checkOf(check.id) ?? {};
        return { ...shown, remediation, detectedAt: check.detectedAt ?? run.finishedAt };
      })
      .filter((violation) => severity === undefined || violation.severity === severity)
      .filter((violation) => group === undefined || violation.group === group)
      .sort((one, other) => comparePlaces(placeOfViolation(one), placeOfViolation(other)));
    const { items, total, nextCursor } = pageOf(violations, page, placeOfViolation, VIOLATIONS);
    return { violations: [...items], total, nextCursor };
  },
});

const VIOLATIONS = 'violations';

/** The most severe first: they have no time of their own. */
function placeOfViolation({ severity, id }: { readonly severity: string; readonly id: string }): Place {
  return { timeMs: rankOf(severity), id };
}

const RANKS: readonly string[] = SEVERITIES;

function rankOf(severity: string): number {
  return RANKS.indexOf(severity);
}

export const complianceImpact = defineOperation({
  name: 'compliance_impact',
  summary: 'Show the impact assessments of the laws on artificial intelligence, with the questions that are open.',
  description: 'The answers come from the rule ai.impact_assessment of the policy.',
  example: { framework: 'eu_ai_act' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: ['viewer', 'auditor'],
  mutates: false,
  slow: true,
  input: Type.Object({
    framework: Type.Optional(
      Type.String({ description: 'Only this law: eu_ai_act or colorado_ai_act; the default is both.' }),
    ),
  }),
  output: Type.Object({
    assessments: Type.Array(Type.Unsafe<JsonObject>({ type: 'object' }), {
      description: 'One assessment for each law.',
    }),
  }),
  errors: ['VAL-E001', 'AUT-E001'],
  http: [
    {
      verb: 'GET',
      path: 'M/compliance/impact',
      answer: objectOf({ assessments: described(listOf(ASSESSMENT), 'One assessment for each law.') }),
    },
  ],
  async run({ framework }, context) {
    const { assessmentOf, FRAMEWORKS } = inImpact();
    const { shownAssessment } = inReport();
    const named = framework?.toLowerCase().replaceAll('-', '_');
    if (named !== undefined && !FRAMEWORKS.some((name) => name === named)) throw unknown('framework', named);
    const { policy } = await context.call('policy', {});
    const rules = policy === null ? undefined : policyOfJson(policy as PolicyValue)?.rules; // as the shard shows it
    if (rules === undefined) throw new EngineError('SYS-E001', 'a memory has a policy');
    const nowSeconds = Math.floor(context.services.clock.nowMs() / 1000);
    const wanted = FRAMEWORKS.filter((name) => named === undefined || name === named);
    return { assessments: wanted.map((name) => shownAssessment(assessmentOf(name, rules, nowSeconds))) };
  },
});

const FORMATS = {
  json: { type: 'application/json', write: (report: Report) => JSON.stringify(inReport().jsonReport(report)) },
  text: { type: 'text/plain; charset=utf-8', write: (report: Report) => inReport().textReport(report) },
  csv: { type: 'text/csv; charset=utf-8', write: (report: Report) => inReport().csvReport(report) },
} as const;

const NOTED = orNull({ type: 'object', additionalProperties: true });

const REPORT = withMembers(outsideSchema(VerifyResult), {
  memory_id: described(TEXT, 'Id of the memory.'),
  policy: described(POLICY, 'The policy in force in the memory.'),
  impact: described(listOf(ASSESSMENT), 'One assessment for each law on artificial intelligence.'),
  record_of_processing: described(NOTED, 'Record of processing activities (GDPR, Art. 30); null without one.'),
  technical_documentation: described(NOTED, 'Technical documentation (EU AI Act, Art. 11); null without one.'),
  erasure_log: described(
    listOf(
      objectOf({
        timestamp: described(TIME, 'Time of the erasure in Unix seconds.'),
        event_type: described(TEXT, 'The audit event: user.erased or scope.erased.'),
        subject: described(TEXT, 'The erased user, as erased: and a fingerprint; empty for a scope.'),
        details: described(FIELDS, 'Counts, codes and hashes of the audit entry.'),
        audit_entry_hash: described(HASH, 'Hash of the audit entry.'),
      }),
    ),
    'The latest erasures of users and scopes, at most 500.',
  ),
});

export const complianceExport = defineOperation({
  name: 'compliance_export',
  summary: 'Export the report of a run: policy, checks, impact, record of processing and log of erasures.',
  description: 'It comes as JSON, as text or as CSV.',
  example: { format: 'csv' },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  access: ['viewer', 'auditor'],
  mutates: false,
  slow: true,
  input: Type.Object({
    format: Type.Optional(
      Type.String({ description: 'Format of the report: json, text or csv; the default is json.', default: 'json' }),
    ),
    runId: Type.Optional(
      Type.String({
        description:
          'Id of a kept run, which is the latest or the latest full one; the default is the latest full run.',
      }),
    ),
  }),
  output: Type.Object({
    contentType: Type.String({ description: 'Content type of the report.' }),
    body: Type.String({ description: 'The report as text.' }),
  }),
  errors: ['VAL-E001', 'VER-E001', 'AUT-E001'],
  http: [
    {
      verb: 'GET',
      path: 'M/compliance/export',
      answers: { 'application/json': REPORT, 'text/plain': TEXT, 'text/csv': TEXT },
      reply: ({ contentType, body }) => ({
        kind: 'bytes',
        status: 200,
        headers: { 'content-type': contentType },
        body: Buffer.from(body),
      }),
    },
  ],
  async run({ format = 'json', runId }, context) {
    if (format !== 'json' && format !== 'text' && format !== 'csv') throw unknown('format', format);
    const { type, write } = FORMATS[format];
    return { contentType: type, body: write(await reportOf(context, runId)) };
  },
});

/** The report of the run `runId`, which must be a kept one, or of the last full run. Throws VER-E001. */
async function reportOf(context: Context, runId: string | undefined): Promise<Report> {
  const { fullRun, keptRun } = inRun();
  const run =
    runId === undefined
      ? await fullRun(context)
      : [keptRun(context, 'latest'), keptRun(context, 'full')].find((kept) => kept?.runId === runId);
  if (run === undefined)
    throw new EngineError('VER-E001', `the run ${String(runId).slice(0, 64)} does not exist, or is no longer kept`);
  const { policy } = await context.call('policy', {});
  const page = await context.call('auditPage', {
    filter: { events: ['user.erased', 'scope.erased'] },
    limit: ERASURES_LISTED_MAX,
    order: 'desc',
  });
  return {
    memory: context.memory.id,
    run,
    policy: policy ?? {},
    erasures: page.entries.map(({ timestamp, eventType, subject, details, hash }) => ({
      timestamp,
      event_type: eventType,
      subject,
      details,
      audit_entry_hash: hash,
    })),
  };
}

const ERASURES_LISTED_MAX = 500;

function unknown(field: string, value: string): EngineError {
  const issue = `unknown: ${value.slice(0, 64)}`;
  return new EngineError('VAL-E001', `${field} is ${issue}`, { details: [{ field, issue }] });
}
