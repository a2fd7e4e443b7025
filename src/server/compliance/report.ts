// Formats a run: as one object, as text, or as CSV rows.
import type { JsonObject } from '../../shards/protocol.ts';
import { type Run, shownCheck, tallyOf } from './run.ts';

export interface Report {
  readonly memory: string;
  readonly run: Run;
  readonly policy: JsonObject;
  readonly erasures: readonly JsonObject[];
}

export function jsonReport({ memory, run, policy, erasures }: Report): JsonObject {
  const { pass, fail, warn, skip, total, passRate } = tallyOf(run.checks);
  return {
    memory_id: memory,
    run_id: run.runId,
    regulation: run.regulation,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    total,
    pass,
    fail,
    warn,
    skip,
    pass_rate: passRate,
    policy,
    checks: run.checks.map((check) => shownCheck(check)) as unknown as JsonObject[], // texts alone
    impact: run.assessments.map(shownAssessment),
    record_of_processing: (run.processing ?? null) as unknown as JsonObject, // texts and numbers
    technical_documentation: (run.documentation ?? null) as unknown as JsonObject, // texts and numbers
    erasure_log: [...erasures],
  };
}

export function shownAssessment({
  riskClass,
  lastReviewedAt,
  nextReviewAt,
  answers,
  gaps,
  ...rest
}: Run['assessments'][number]): JsonObject {
  return {
    ...rest,
    risk_class: riskClass,
    answers: answers as JsonObject, // from the policy's JSON
    gaps: [...gaps],
    last_reviewed_at: lastReviewedAt,
    next_review_at: nextReviewAt,
  };
}

const COLUMNS = ['id', 'group', 'regulations', 'severity', 'status', 'detail'] as const;

/** RFC 4180: one line per check, ended by CR LF. Regulations are joined as `gdpr Art. 32; soc2 CC6.1`. */
export function csvReport({ run }: Report): string {
  const lines = run.checks.map((check) => {
    const { regulations, ...rest } = shownCheck(check);
    const cited = regulations.map(({ regulation, article }) => `${regulation} ${article}`).join('; ');
    return COLUMNS.map((name) => quoted(name === 'regulations' ? cited : rest[name])).join(',');
  });
  return [COLUMNS.join(','), ...lines, ''].join('\r\n');
}

/** Quotes a value where necessary. An apostrophe precedes anything that a spreadsheet would take for a formula. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function textReport({ memory, run, policy, erasures }: Report): string {
  const { total, pass, fail, warn, skip } = tallyOf(run.checks);
  const time = (seconds: number): string => new Date(seconds * 1000).toISOString();
  const lines = [
    `Compliance of memory ${memory}`,
    `Run ${run.runId}, ${time(run.startedAt)} to ${time(run.finishedAt)}${run.regulation === null ? '' : `, ${run.regulation} only`}`,
    `Policy version ${String(policy['version'])}, presets ${String(policy['presets']) || 'none'}, seal ${String(policy['seal_hash'])}`,
    `${total} checks: ${pass} pass, ${fail} fail, ${warn} warn, ${skip} skip`,
    '',
  ];
  let lastGroup = '';
  for (const { id, group, severity, status, detail } of run.checks.map(shownCheck)) {
    if (group !== lastGroup) lines.push(group);
    lastGroup = group;
    lines.push(`  ${status.toUpperCase().padEnd(4)} ${id} (${severity}): ${detail}`);
  }
  lines.push('', 'Impact assessments');
  for (const { framework, reference, status, gaps } of run.assessments)
    lines.push(`  ${framework} (${reference}): ${status}${gaps.length > 0 ? `, missing ${gaps.join(', ')}` : ''}`);
  lines.push('', 'Record of processing');
  for (const [name, value] of Object.entries(run.processing ?? {})) lines.push(`  ${name}: ${JSON.stringify(value)}`);
  lines.push('', 'Technical documentation');
  for (const [name, value] of Object.entries(run.documentation ?? {}))
    lines.push(`  ${name}: ${Array.isArray(value) ? value.join(', ') : JSON.stringify(value)}`);
  lines.push('', `Erasures: ${erasures.length}`);
  for (const { timestamp, event_type, subject } of erasures)
    lines.push(`  ${time(Number(timestamp))} ${String(event_type)} ${String(subject)}`);
  return `${lines.join('\n')}\n`;
}
