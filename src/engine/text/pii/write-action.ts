// Applies a policy to the personal data in a grain that is to be written. Pure. It runs before the grain is encoded, so
// that redacted data is in no hash.
import { unreachable } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { GrainType } from '../../grain/grain.ts';
import type { ValueMap } from '../../grain/value.ts';
import { type PiiCategory, SENSITIVE_CATEGORIES } from './categories.ts';
import type { PiiDetector } from './detection.ts';
import { type FieldFinding, walkFields } from './field-walk.ts';
import { isAccount } from './identifiers.ts';

/** From loosest to strictest. */
export const PII_WRITE_ACTIONS = ['allow', 'flag', 'redact', 'require_consent', 'block'] as const;
export type PiiWriteAction = (typeof PII_WRITE_ACTIONS)[number];

export interface PiiWritePolicy {
  readonly action: PiiWriteAction;
  /** The categories that count; `*` is all of them. */
  readonly categories: '*' | readonly PiiCategory[];
  /** Sensitive categories need a grant for the purpose `sensitive`, whatever `categories` says. */
  readonly sensitiveSeparate: boolean;
}

export interface PiiWriter {
  readonly userId?: string | undefined;
  /** The purpose of this write. */
  readonly purpose: string;
  /** True when the user has a current grant for the purpose, or for `*`. Not asked without a user. */
  readonly granted: (purpose: string) => boolean;
}

export type { FieldFinding };

export interface PiiOutcome {
  /** The findings that count under the policy, in the order of the fields. */
  readonly findings: readonly FieldFinding[];
  /** Categories of `findings`, sorted. */
  readonly categories: readonly PiiCategory[];
  /** The fields to write: the given ones, unless something was redacted. */
  readonly fields: ValueMap;
  /** Tags to add: `pii:<category>` under `flag`, else none. The caller limits their number. */
  readonly tags: readonly string[];
  /** Under `flag`: findings in fields that can never be redacted. */
  readonly warnings: readonly string[];
  /** POL-E002 or POL-E005: the grain must not be written. */
  readonly refusal: EngineError | undefined;
}

/**
 * Applies `policy` to the personal data in `fields`, the fields of a grain under their full names: all that
 * `walkFields` looks at. `fields` is not changed.
 *
 * In the name of the data subject, what people sign in with is expected and does not count. A consent needs no consent.
 * The subject of a withdrawal is not checked, since everybody may withdraw.
 */
export function applyPiiPolicy(
  detector: PiiDetector,
  grain: { readonly type: GrainType; readonly fields: ValueMap },
  given: PiiWritePolicy,
  writer: PiiWriter,
): PiiOutcome {
  const policy = grain.type === 'consent' ? ofConsent(given) : given;
  if (policy.action === 'allow' && !policy.sensitiveSeparate) return passed(grain.fields);
  const counts = (category: PiiCategory): boolean => policy.categories === '*' || policy.categories.includes(category);
  const redacts = policy.action === 'redact';
  const isWithdrawal = grain.type === 'consent' && grain.fields['is_withdrawal'] === true;
  const walked = walkFields(detector, grain, {
    redacts: redacts ? counts : undefined,
    passes: isWithdrawal ? isAccount : undefined,
  });
  const findings = walked.findings.filter(({ category }) => counts(category));
  const categories = sorted(findings);
  const tags = policy.action === 'flag' ? categories.map((category) => `pii:${category}`) : [];
  // Redacted data is not stored, so it needs no consent.
  const stored = redacts ? walked.findings.filter(({ category }) => !counts(category)) : walked.findings;
  const warnings = policy.action === 'flag' ? warningsOf(findings) : [];
  const refusal =
    refusalOf(policy, categories, writer) ??
    (redacts ? matchedRefusal(findings) : undefined) ??
    sensitiveRefusal(policy, stored, writer);
  return { findings, categories, fields: walked.fields, tags, warnings, refusal };
}

function ofConsent(policy: PiiWritePolicy): PiiWritePolicy {
  const action = policy.action === 'require_consent' ? 'allow' : policy.action;
  return { ...policy, action, sensitiveSeparate: false };
}

function passed(fields: ValueMap): PiiOutcome {
  return { findings: [], categories: [], fields, tags: [], warnings: [], refusal: undefined };
}

function refusalOf(
  { action }: PiiWritePolicy,
  categories: readonly PiiCategory[],
  { userId, purpose, granted }: PiiWriter,
): EngineError | undefined {
  if (categories.length === 0) return undefined;
  switch (action) {
    case 'allow':
    case 'flag':
    case 'redact':
      return undefined;
    case 'block':
      return refusal('POL-E005', categories, 'is blocked by the policy');
    case 'require_consent':
      if (userId === undefined) return refusal('POL-E005', categories, 'needs consent, but the grain has no user_id');
      return granted(purpose) ? undefined : refusal('POL-E002', categories, `needs consent to "${purpose}"`);
    default:
      return unreachable(action);
  }
}

/** POL-E005 when `redact` finds something in a field by which grains are matched. */
function matchedRefusal(findings: readonly FieldFinding[]): EngineError | undefined {
  const matched = findings.filter((finding) => finding.matched);
  const [first] = matched;
  if (first === undefined) return undefined;
  const issue = 'cannot be redacted in this field, because grains are matched by it';
  return new EngineError('POL-E005', `personal data (${sorted(matched).join(', ')}) in \`${first.field}\` ${issue}`, {
    details: [...new Set(matched.map(({ field }) => field))].map((field) => ({ field, issue })),
  });
}

function sensitiveRefusal(
  { sensitiveSeparate }: PiiWritePolicy,
  stored: readonly FieldFinding[],
  { userId, granted }: PiiWriter,
): EngineError | undefined {
  if (!sensitiveSeparate) return undefined;
  const sensitive = sorted(stored).filter((category) => SENSITIVE_CATEGORIES.includes(category));
  if (sensitive.length === 0) return undefined;
  if (userId === undefined) return refusal('POL-E005', sensitive, 'needs consent, but the grain has no user_id');
  return granted('sensitive') ? undefined : refusal('POL-E002', sensitive, 'needs consent to "sensitive"');
}

/** Names the categories and never the data. */
function refusal(code: 'POL-E002' | 'POL-E005', categories: readonly PiiCategory[], issue: string): EngineError {
  return new EngineError(code, `personal data (${categories.join(', ')}) ${issue}`, {
    details: categories.map((category) => ({ field: category, issue })),
  });
}

function warningsOf(findings: readonly FieldFinding[]): string[] {
  const byField = Map.groupBy(
    findings.filter(({ matched }) => matched),
    ({ field }) => field,
  );
  return [...byField].map(
    ([field, of]) => `${field}: personal data (${sorted(of).join(', ')}), by which grains are matched`,
  );
}

function sorted(findings: readonly FieldFinding[]): PiiCategory[] {
  return [...new Set(findings.map(({ category }) => category))].sort();
}
