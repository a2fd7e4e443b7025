// Changes of a policy: which rules differ, whether the change is stricter, and whether it is permitted (service
// contract 10.4). Simulating and applying use the same decision.
import { EngineError, type ErrorDetail } from '../../base/errors.ts';
import { type Composed, compose, looserOverrides, type Overrides, readOverrides } from './compose.ts';
import { LEGAL_HOLD, type PresetName, presetsNamed } from './presets.ts';
import { RULE_PATHS, RULES, type RulePath, type Rules } from './rules.ts';
import { type SealContext, type SealedPolicy, sealNext } from './seal.ts';
import type { Direction, PolicyValue } from './values.ts';

export type ChangeKind = 'upgraded' | 'downgraded' | 'unchanged';

export interface PolicyChange {
  readonly addPolicies?: readonly string[] | undefined;
  readonly removePolicies?: readonly string[] | undefined;
  /** By path or nested; null removes an override. Other overrides stay. */
  readonly overrides?: PolicyValue | undefined;
  readonly reason?: string | undefined;
}

export interface RuleDifference {
  readonly path: RulePath;
  readonly from: PolicyValue;
  readonly to: PolicyValue;
  readonly direction: Exclude<Direction, 'same'>;
}

export interface Decision {
  readonly proposed: Composed;
  readonly diff: readonly RuleDifference[];
  readonly change: ChangeKind;
  /** The reasons for a refusal: POL-E010. Empty: the change is permitted. */
  readonly errors: readonly EngineError[];
}

const RELEASE = /^release:/i;

/**
 * Decides a change. Adding a preset and tightening is an upgrade; removing a preset and loosening is a
 * downgrade, which needs an administrator (`isAdmin`) and a reason, and for a legal hold a reason that begins with
 * `release:`.
 *
 * An override of this change that is looser than the presets is an error too (POL-E010), and takes no effect.
 *
 * Throws POL-E009 and VAL-E001 as `compose` and `readOverrides` do, and VAL-E001 for a preset that is added and removed:
 * then there is nothing to propose.
 */
export function decideChange(
  current: SealedPolicy,
  change: PolicyChange,
  { isAdmin }: { readonly isAdmin: boolean },
): Decision {
  const removed = presetsNamed(change.removePolicies ?? []).filter((name) => current.presets.includes(name));
  const added = presetsNamed(change.addPolicies ?? []);
  const both = presetsNamed(change.removePolicies ?? []).find((name) => added.includes(name));
  if (both !== undefined)
    throw new EngineError('VAL-E001', `the preset ${both} is both added and removed`, {
      details: [{ field: 'remove_policies', issue: `names ${both}, which is added` }],
    });
  const presets = [...current.presets.filter((name) => !removed.includes(name)), ...added];
  const given = change.overrides === undefined || change.overrides === null ? {} : readOverrides(change.overrides);
  const proposed = compose(presets, withChanges(current.overrides, given));
  const gone = removed.filter((name) => !proposed.presets.includes(name));
  const kind = kindOf(current, proposed, gone);
  const errors = [...looserOverrides(proposed.presets, given)];
  if (kind === 'downgraded') errors.push(...refusals({ current, proposed, gone }, change.reason, isAdmin));
  return { proposed, diff: differences(current.rules, proposed.rules), change: kind, errors };
}

/** The next version, or undefined when nothing changes. Throws what `decideChange` throws, and its first error. */
export function applyChange(
  current: SealedPolicy,
  change: PolicyChange,
  context: Omit<SealContext, 'reason'> & { readonly isAdmin: boolean },
): { readonly decision: Decision; readonly policy: SealedPolicy | undefined } {
  const decision = decideChange(current, change, context);
  const [error] = decision.errors;
  if (error !== undefined) throw error;
  if (decision.change === 'unchanged') return { decision, policy: undefined };
  const { presets, overrides } = decision.proposed;
  return { decision, policy: sealNext(current, presets, overrides, { ...context, reason: change.reason }) };
}

/**
 * A decision in the form that simulating shows (service contract 10.5), without the impact on stored grains: `current`,
 * `proposed` with the seal that applying would give, `diff`, `change`, `allowed`, `errors`.
 */
export function decisionJson(current: SealedPolicy, { proposed, diff, change, errors }: Decision): PolicyValue {
  const next =
    change === 'unchanged'
      ? current
      : sealNext(current, proposed.presets, proposed.overrides, { nowSeconds: 0, sealedBy: '' });
  return {
    current: { presets: current.presets, seal_hash: current.sealHash },
    proposed: { presets: next.presets, rules: next.sealedRules, seal_hash: next.sealHash },
    diff: diff.map(({ path, from, to, direction }) => ({ path, from, to, direction })),
    change,
    allowed: errors.length === 0,
    errors: errors.map(({ code, message }) => ({ code, message })),
  };
}

/** The rules that differ, by path in the order of the table. */
export function differences(from: Rules, to: Rules): readonly RuleDifference[] {
  const differing: RuleDifference[] = [];
  for (const path of RULE_PATHS) {
    const [before, after]: [PolicyValue, PolicyValue] = [from[path], to[path]];
    const direction = RULES[path].kind.direction(before, after);
    if (direction !== 'same') differing.push({ path, from: before, to: after, direction });
  }
  return differing;
}

function withChanges(current: Overrides, given: Overrides): Overrides {
  const changed: Partial<Record<RulePath, PolicyValue>> = { ...current };
  for (const path of RULE_PATHS) {
    const value = given[path];
    if (value === null) delete changed[path];
    else if (value !== undefined) changed[path] = value;
  }
  return changed;
}

function kindOf(current: SealedPolicy, proposed: Composed, gone: readonly PresetName[]): ChangeKind {
  if (gone.length > 0) return 'downgraded';
  const diff = differences(current.rules, proposed.rules);
  if (diff.some(({ direction }) => direction === 'looser' || direction === 'mixed')) return 'downgraded';
  const sameNames = proposed.presets.join() === current.presets.join();
  return diff.length === 0 && sameNames && sameOverrides(current.overrides, proposed.overrides)
    ? 'unchanged'
    : 'upgraded';
}

function sameOverrides(a: Overrides, b: Overrides): boolean {
  return RULE_PATHS.every((path) => JSON.stringify(a[path]) === JSON.stringify(b[path]));
}

function refusals(
  { current, proposed, gone }: { current: SealedPolicy; proposed: Composed; gone: readonly PresetName[] },
  reason: string | undefined,
  isAdmin: boolean,
): EngineError[] {
  const details: ErrorDetail[] = [];
  if (!isAdmin) details.push({ field: 'actor', issue: 'a downgrade needs an administrator' });
  const said = (reason ?? '').trim();
  if (said === '') details.push({ field: 'reason', issue: 'a downgrade needs a reason' });
  const releases = gone.includes(LEGAL_HOLD) || (current.rules['deletion.hold'] && !proposed.rules['deletion.hold']);
  if (releases && !RELEASE.test(said))
    details.push({ field: 'reason', issue: 'a legal hold is released by a reason that begins with "release:"' });
  return details.map((detail) => new EngineError('POL-E010', detail.issue, { details: [detail] }));
}
