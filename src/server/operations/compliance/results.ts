// What the last full run came to: counts, violations, impact assessments, a report to hand on.
import { EngineError } from '../../../engine/base/errors.ts';
import { policyOfJson } from '../../../engine/govern/policy/seal.ts';
import type { PolicyValue } from '../../../engine/govern/policy/values.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { assessmentOf, FRAMEWORKS } from '../../compliance/impact.ts';
import { csvReport, jsonReport, type Report, shownAssessment, textReport } from '../../compliance/report.ts';
import { fullRun, keptRun, type Run, shownCheck, tallyOf } from '../../compliance/run.ts';
import { CHECKS, checkOf, SEVERITIES } from '../../compliance/table.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { FIELDS, HASH, listOf, objectOf, oneOf, orNull, TEXT, TEXTS, TIME, withMembers } from '../json-schema.ts';
import { outsideSchema } from '../names.ts';
import { POLICY } from '../policy/schema.ts';
import { Type } from '../type.ts';
import { Citation, VerifyResult } from './verify-run.ts';

const Counts = Type.Object({
  total: Type.Integer(),
  pass: Type.Integer(),
  fail: Type.Integer(),
  warn: Type.Integer(),
  skip: Type.Integer(),
});
const CountsByName = Type.Unsafe<Record<string, JsonObject>>({ type: 'object' });

const Figures = Type.Object({
  runId: Type.String(),
  ...Counts.properties,
  passRate: Type.Number(),
  byGroup: CountsByName,
  byRegulation: CountsByName,
  lastRunAt: Type.Integer(),
});

const COUNTS_BY_NAME = { type: 'object', additionalProperties: outsideSchema(Counts) };
const FIGURES = withMembers(outsideSchema(Figures), { by_group: COUNTS_BY_NAME, by_regulation: COUNTS_BY_NAME });

const ASSESSMENT = objectOf({
  framework: TEXT,
  reference: TEXT,
  status: oneOf('complete', 'incomplete', 'overdue', 'not_required'),
  risk_class: TEXT,
  answers: FIELDS,
  gaps: TEXTS,
  last_reviewed_at: orNull(TIME),
  next_review_at: orNull(TIME),
});

export const complianceMetrics = defineOperation({
  name: 'compliance_metrics',
  summary: 'Counts of the last full run of the checks, which is made now if there was none.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Type.Object({}),
  output: Figures,
  errors: ['AUT-E001'],
  http: [{ verb: 'GET', path: 'M/compliance/metrics', answer: FIGURES }],
  async run(_, context) {
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

function countsBy(
  { checks }: Run,
  namesOf: (check: ReturnType<typeof shownCheck>) => readonly string[],
): Record<string, JsonObject> {
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

const GROUPS: readonly string[] = [...new Set(CHECKS.map(({ group }) => group))];

export const complianceViolations = defineOperation({
  name: 'compliance_violations',
  summary: 'The checks that fail, worst first, with what helps.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Type.Object({ severity: Type.Optional(Type.String()), group: Type.Optional(Type.String()) }),
  output: Type.Object({
    violations: Type.Array(
      Type.Object({
        id: Type.String(),
        group: Type.String(),
        regulations: Type.Array(Citation),
        severity: Type.String(),
        description: Type.String(),
        detail: Type.String(),
        remediation: Type.String(),
        detectedAt: Type.Integer(),
      }),
    ),
    total: Type.Integer(),
  }),
  errors: ['VAL-E001', 'AUT-E001'],
  http: [{ verb: 'GET', path: 'M/compliance/violations' }],
  async run({ severity, group }, context) {
    if (severity !== undefined && !SEVERITIES.some((name) => name === severity)) throw unknown('severity', severity);
    if (group !== undefined && !GROUPS.includes(group)) throw unknown('group', group);
    const run = await fullRun(context);
    const violations = run.checks
      .filter(({ status }) => status === 'fail')
      .map((check) => {
        const { status: _, ...shown } = shownCheck(check);
        const { remediation = '' } = checkOf(check.id) ?? {};
        return { ...shown, remediation, detectedAt: check.detectedAt ?? run.finishedAt };
      })
      .filter((violation) => severity === undefined || violation.severity === severity)
      .filter((violation) => group === undefined || violation.group === group)
      .sort((one, other) => rankOf(one.severity) - rankOf(other.severity));
    return { violations, total: violations.length };
  },
});

const RANKS: readonly string[] = SEVERITIES;

function rankOf(severity: string): number {
  return RANKS.indexOf(severity);
}

export const complianceImpact = defineOperation({
  name: 'compliance_impact',
  summary: 'Impact assessments of the laws on artificial intelligence, with what they leave unanswered.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Type.Object({ framework: Type.Optional(Type.String()) }),
  output: Type.Object({ assessments: Type.Array(Type.Unsafe<JsonObject>({ type: 'object' })) }),
  errors: ['VAL-E001', 'AUT-E001'],
  http: [{ verb: 'GET', path: 'M/compliance/impact', answer: objectOf({ assessments: listOf(ASSESSMENT) }) }],
  async run({ framework }, context) {
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
  json: { type: 'application/json', write: (report: Report) => JSON.stringify(jsonReport(report)) },
  text: { type: 'text/plain; charset=utf-8', write: textReport },
  csv: { type: 'text/csv; charset=utf-8', write: csvReport },
} as const;

const NOTED = orNull({ type: 'object', additionalProperties: true });

const REPORT = withMembers(outsideSchema(VerifyResult), {
  memory_id: TEXT,
  policy: POLICY,
  impact: listOf(ASSESSMENT),
  record_of_processing: NOTED,
  technical_documentation: NOTED,
  erasure_log: listOf(
    objectOf({ timestamp: TIME, event_type: TEXT, subject: TEXT, details: FIELDS, audit_entry_hash: HASH }),
  ),
});

export const complianceExport = defineOperation({
  name: 'compliance_export',
  summary: 'The report of a run: policy, checks, impact, record of processing and log of erasures.',
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Type.Object({ format: Type.Optional(Type.String()), runId: Type.Optional(Type.String()) }),
  output: Type.Object({ contentType: Type.String(), body: Type.String() }),
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

/** Of the run that is named, which is one of those that are kept, else of the last full one. */
async function reportOf(context: Context, runId: string | undefined): Promise<Report> {
  const run =
    runId === undefined
      ? await fullRun(context)
      : [keptRun(context, 'latest'), keptRun(context, 'full')].find((kept) => kept?.runId === runId);
  if (run === undefined) throw new EngineError('VER-E001', `the run ${String(runId).slice(0, 64)} is not kept`);
  const { policy } = await context.call('policy', {});
  const page = await context.call('auditPage', {
    filter: { events: ['user.erased', 'scope.erased'] },
    limit: ERASURES_TOLD_MAX,
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

const ERASURES_TOLD_MAX = 500;

function unknown(field: string, value: string): EngineError {
  const issue = `unknown: ${value.slice(0, 64)}`;
  return new EngineError('VAL-E001', `${field} is ${issue}`, { details: [{ field, issue }] });
}
