// Turns evidence into verdicts, for all checks in table order. A check that throws fails.
import type { PresetName } from '../../engine/govern/policy/presets.ts';
import { AUDIT } from './checks/audit.ts';
import { AUTHORIZATION } from './checks/authorization.ts';
import { BLIND_INDEX } from './checks/blind-index.ts';
import { ENCRYPTION } from './checks/encryption.ts';
import { ERASURE } from './checks/erasure.ts';
import { EU_AI_ACT } from './checks/eu-ai-act.ts';
import { HIPAA } from './checks/hipaa.ts';
import { LIFECYCLE } from './checks/lifecycle.ts';
import { POLICY } from './checks/policy.ts';
import { PRIVACY } from './checks/privacy.ts';
import { RECORDS } from './checks/records.ts';
import { SOC2 } from './checks/soc2.ts';
import { AGENTS, TIERS } from './checks/tiers-and-agents.ts';
import { type Evidence, policyOf } from './evidence.ts';
import { CHECKS, type CheckRow, type Regulation } from './table.ts';
import { fail, type Judge, skip, type Verdict } from './verdict.ts';

export const JUDGES: Readonly<Record<string, Judge>> = {
  ...ENCRYPTION,
  ...ERASURE,
  ...BLIND_INDEX,
  ...AUDIT,
  ...POLICY,
  ...AUTHORIZATION,
  ...HIPAA,
  ...EU_AI_ACT,
  ...SOC2,
  ...PRIVACY,
  ...TIERS,
  ...AGENTS,
  ...LIFECYCLE,
  ...RECORDS,
};

/** Groups about a single law: checked when its preset is active or on request. */
const LAWS: ReadonlySet<string> = new Set(['hipaa', 'eu_ai_act', 'soc2', 'ccpa', 'lgpd', 'pipl'] satisfies (PresetName &
  Regulation)[]);

export interface JudgedCheck extends CheckRow, Verdict {}

/** Judges every check, or those of one regulation. A check that depends on others uses their verdicts of this run. */
export function judge(evidence: Evidence, regulation: Regulation | undefined): readonly JudgedCheck[] {
  const presets = presetsOf(evidence);
  const verdicts = new Map<string, Verdict>();
  for (const { id, group } of CHECKS) {
    const isAsked = !LAWS.has(group) || group === regulation || presets.includes(group);
    verdicts.set(id, isAsked ? verdictOf(id, evidence, verdicts) : skip('preset not active'));
  }
  return CHECKS.filter(
    ({ regulations }) => regulation === undefined || regulations.some((one) => one.regulation === regulation),
  ).map((check) => ({ ...check, ...verdicts.get(check.id)! }));
}

function verdictOf(id: string, evidence: Evidence, verdicts: ReadonlyMap<string, Verdict>): Verdict {
  try {
    const judgeIt = JUDGES[id];
    if (judgeIt === undefined) throw new Error('this check has no judge');
    return judgeIt(evidence, verdicts);
  } catch (error) {
    return fail(`check errored: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Empty when the policy cannot be read; its own checks report that. */
function presetsOf(evidence: Evidence): readonly string[] {
  try {
    return policyOf(evidence).presets;
  } catch {
    return [];
  }
}
