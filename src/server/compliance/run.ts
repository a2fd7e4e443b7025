// Runs the checks on a memory: gathers evidence, judges it, writes an audit entry, and stores the result.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { JsonValue } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { randomId } from '../control/ids.ts';
import { settingsPrefix } from '../control/memories.ts';
import { deploymentEvidence, gather, metricsEvidence } from './collect.ts';
import { type Documentation, technicalDocumentation } from './documentation.ts';
import { type Evidence, policyOf } from './evidence.ts';
import { type Assessment, assessmentOf, FRAMEWORKS } from './impact.ts';
import { judge } from './judge.ts';
import { type ProcessingRecord, recordOfProcessing } from './processing.ts';
import { checkOf, type Regulation, regulationOf } from './table.ts';
import type { Status, Verdict } from './verdict.ts';

/** A check as stored with a run; the table has its other columns. */
export interface KeptCheck extends Verdict {
  readonly id: string;
  /** Time of the first run, in seconds, of the current unbroken series in which it failed or warned. */
  readonly detectedAt?: number | undefined;
}

export interface Run {
  readonly runId: string;
  /** null: every check. */
  readonly regulation: Regulation | null;
  /** In seconds. */
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly checks: readonly KeptCheck[];
  readonly assessments: readonly Assessment[];
  /** null when its evidence was missing. */
  readonly processing: ProcessingRecord | null;
  readonly documentation: Documentation | null;
}

export interface Tally {
  readonly total: number;
  readonly pass: number;
  readonly fail: number;
  readonly warn: number;
  readonly skip: number;
  /** Share of passed checks, without skipped ones; 0 when all were skipped. */
  readonly passRate: number;
}

export function tallyOf(checks: readonly Pick<KeptCheck, 'status'>[]): Tally {
  const count = (wanted: Status): number => checks.filter(({ status }) => status === wanted).length;
  const [pass, fail, warn, skip] = [count('pass'), count('fail'), count('warn'), count('skip')];
  const judged = checks.length - skip;
  return { total: checks.length, pass, fail, warn, skip, passRate: judged === 0 ? 0 : pass / judged };
}

/** Runs the checks and stores the result. Throws VER-E002. */
export async function runChecks(context: Context, filter: string | undefined): Promise<Run> {
  const regulation = regulationOf(filter);
  if (regulation === null)
    throw new EngineError('VER-E002', `unknown regulation filter: ${(filter ?? '').slice(0, 64)}`, {
      details: [{ field: 'regulation', issue: 'unknown' }],
    });
  const previous = keptRun(context, 'full');
  const [gathered, metrics] = await Promise.all([gather(context, randomId('vrf')), metricsEvidence(context)]);
  const evidence: Evidence = {
    partitions: gathered.partitions,
    metrics,
    deployment: deploymentEvidence(context, previous?.finishedAt),
  };
  const { nowSeconds } = evidence.deployment;
  const run: Run = {
    runId: gathered.runId,
    regulation: regulation ?? null,
    startedAt: gathered.startedAt,
    finishedAt: nowSeconds,
    checks: judge(evidence, regulation).map(({ id, status, detail }) =>
      defined({
        id,
        status,
        detail,
        detectedAt: isBad(status) ? (firstSeen(previous, id) ?? nowSeconds) : undefined,
      }),
    ),
    assessments: assessments(evidence),
    processing: orNull(() => recordOfProcessing(evidence)),
    documentation: orNull(() => technicalDocumentation(evidence)),
  };
  await keep(context, run);
  const { total, pass, fail, warn, skip } = tallyOf(run.checks);
  const details = { run_id: run.runId, regulation: regulation ?? '', total, pass, fail, warn, skip };
  // A shard that rejects writes still gets its verdict.
  await context.call('note', { event: 'verify.run', details }).catch(toleratingStorage);
  return run;
}

function toleratingStorage(error: unknown): void {
  if (!(error instanceof EngineError) || !/^(STO|SYS)-/.test(error.code)) throw error;
}

/** The last run; with `full`, the last one without a filter. Undefined when none is stored. */
export function keptRun({ services, memory }: Pick<Context, 'services' | 'memory'>, which: 'latest' | 'full') {
  const kept = services.control.get('setting', nameOf(memory.number, which))?.value;
  return kept as Run | undefined; // written by `keep`
}

/** The last run without a filter. Runs the checks if there is none. */
export async function fullRun(context: Context): Promise<Run> {
  return keptRun(context, 'full') ?? runChecks(context, undefined);
}

async function keep({ services, memory }: Context, run: Run): Promise<void> {
  const value = run as unknown as JsonValue; // texts and numbers
  await services.control.commit((change) => {
    change.put('setting', { name: nameOf(memory.number, 'latest'), value });
    if (run.regulation === null) change.put('setting', { name: nameOf(memory.number, 'full'), value });
  });
}

function nameOf(memory: number, which: 'latest' | 'full'): string {
  return `${settingsPrefix(memory)}verify/${which}`;
}

function isBad(status: Status): boolean {
  return status === 'fail' || status === 'warn';
}

function firstSeen(previous: Run | undefined, id: string): number | undefined {
  return previous?.checks.find((check) => check.id === id)?.detectedAt;
}

function assessments(evidence: Evidence): readonly Assessment[] {
  return (
    orNull(() => {
      const { rules } = policyOf(evidence);
      return FRAMEWORKS.map((framework) => assessmentOf(framework, rules, evidence.deployment.nowSeconds));
    }) ?? []
  );
}

/** An unreadable policy fails its checks; dependent parts are then missing from the run. */
function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** A check as answers show it. */
export function shownCheck({ id, status, detail }: KeptCheck) {
  const { group = '', regulations = [], severity = 'critical', description = '' } = checkOf(id) ?? {};
  return { id, group, regulations: [...regulations], severity, description, status, detail };
}
