import { areas, type Evidence, policyOf, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, warn } from '../verdict.ts';

const CLOCK_STEP_SECONDS = 5;
const CANARY_EVENTS = ['memory.added', 'memory.forgotten', 'consent.granted'];

const entries = (evidence: Evidence): number => sum(evidence, 'trail', (trail) => trail.entries);
const cutOff = (evidence: Evidence): number => sum(evidence, 'trail', (trail) => trail.cutOff);

/** Partitions whose chain no longer reaches the end recorded at a seal, and partitions without such a record. */
function againstNotes(evidence: Evidence) {
  const trails = areas(evidence, 'trail');
  return {
    rewritten: trails.filter((trail) => trail.rewritten).length,
    unnoted: trails.filter(({ notedSeq }) => notedSeq === undefined).length,
    noted: trails.reduce((total, { notedSeq = 0 }) => total + notedSeq, 0),
  };
}

const UNNOTED = 'no end of the chain is recorded yet, so a truncated or rewritten chain would not be noticed';

export const AUDIT: Readonly<Record<string, Judge>> = {
  audit_enabled: (evidence) => {
    const missing = areas(evidence, 'canary').flatMap(({ audited }) =>
      CANARY_EVENTS.filter((event) => !audited.includes(event)),
    );
    return passIf(
      missing.length === 0,
      missing.length === 0 ? 'the canaries left an entry for each act' : `no entry ${[...new Set(missing)].join(', ')}`,
    );
  },
  audit_chain_integrity: (evidence) => {
    const bad = areas(evidence, 'trail').flatMap(({ firstBadSeq }, i) =>
      firstBadSeq === undefined ? [] : [`seq ${firstBadSeq} of partition ${evidence.partitions[i]?.partition}`],
    );
    const checked = sum(evidence, 'trail', (trail) => trail.checked);
    const { rewritten, unnoted, noted } = againstNotes(evidence);
    const canaries = areas(evidence, 'canary').every(({ chainValid }) => chainValid);
    if (bad.length > 0) return fail(`the chain breaks at ${bad.join(', ')}`);
    if (rewritten > 0) return fail(`${rewritten} partitions have a different entry at the recorded end of their chain`);
    const detail = `${checked} of ${entries(evidence)} entries follow from their predecessors, ${noted} of them up to a recorded end`;
    if (checked === 0 || !canaries) return fail(detail);
    return unnoted > 0 ? warn(`${detail}; ${UNNOTED}`) : pass(detail);
  },
  audit_sequence_gapless: (evidence) => {
    const gaps = sum(evidence, 'trail', (trail) => trail.gaps);
    const missing = cutOff(evidence);
    const back = Math.max(...areas(evidence, 'trail').map(({ regressionSeconds }) => regressionSeconds));
    const detail = `${entries(evidence)} entries: ${gaps} gaps, ${missing} missing at the end, at most ${back} s back in time`;
    if (gaps > 0 || missing > 0 || back > CLOCK_STEP_SECONDS || entries(evidence) === 0) return fail(detail);
    const { unnoted } = againstNotes(evidence);
    if (unnoted > 0) return warn(`${detail}; ${UNNOTED}`);
    return back > 0 ? warn(detail) : pass(detail);
  },
  audit_immutability: (evidence) => {
    const doctored = sum(evidence, 'trail', (trail) => trail.doctored);
    const accepted = sum(evidence, 'trail', (trail) => trail.doctoredAccepted);
    const replaceable = areas(evidence, 'trail').some((trail) => trail.replaceable);
    const { rewritten, unnoted, noted } = againstNotes(evidence);
    const missing = cutOff(evidence);
    const detail =
      `${accepted} of ${doctored} manipulated copies (edited, gap, duplicate, truncated, rehashed) passed as intact; ` +
      `the log ${replaceable ? 'accepts' : 'rejects'} another record in an entry's place; ` +
      `recorded up to ${noted}: ${rewritten} partitions differ, ${missing} entries are missing`;
    if (doctored === 0 || accepted > 0 || replaceable || rewritten > 0 || missing > 0) return fail(detail);
    return unnoted > 0 ? warn(`${detail}; ${UNNOTED}`) : pass(detail);
  },
  audit_attribution: (evidence) => {
    const total = sum(evidence, 'trail', (trail) => trail.windowEntries);
    const nobody = sum(evidence, 'trail', (trail) => trail.withoutActor);
    const anonymous = sum(evidence, 'trail', (trail) => trail.anonymous);
    const detail = `${total} entries in 30 days: ${nobody} without an actor, ${anonymous} anonymous`;
    if (total === 0 || nobody > 0) return fail(detail);
    if (anonymous === 0) return pass(detail);
    return evidence.deployment.authMode === 'none' ? warn(detail) : fail(detail);
  },
  audit_retention: (evidence) => {
    const days = policyOf(evidence).rules['retention.audit_days'] ?? 0;
    const cut = areas(evidence, 'trail').filter(({ firstSeq, gaps }) => firstSeq !== 1 || gaps > 0).length;
    return passIf(
      cut === 0,
      `entries are kept indefinitely, the policy requires ${days} days; ${cut} partitions have lost entries`,
    );
  },
};
