// Impact assessments required by AI laws, from the policy's `ai.*` rules.
import type { Rules } from '../../engine/govern/policy/rules.ts';

export const FRAMEWORKS = ['eu_ai_act', 'colorado_ai_act'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

export interface Assessment {
  readonly framework: Framework;
  readonly reference: string;
  readonly riskClass: string;
  readonly status: 'complete' | 'incomplete' | 'overdue' | 'not_required';
  readonly answers: Readonly<Record<string, unknown>>;
  /** Unanswered questions. */
  readonly gaps: readonly string[];
  /** Seconds. */
  readonly lastReviewedAt: number | null;
  readonly nextReviewAt: number | null;
}

const YEAR_SECONDS = 365 * 86_400;

/** Questions of each assessment, by their names in `ai.impact_assessment.answers`. */
const QUESTIONS: Readonly<Record<Framework, { readonly reference: string; readonly names: readonly string[] }>> = {
  eu_ai_act: {
    reference: 'Regulation (EU) 2024/1689, Art. 27(1)',
    names: ['processes', 'period_and_frequency', 'affected_persons', 'risks_of_harm', 'human_oversight', 'measures'],
  },
  colorado_ai_act: {
    reference: 'C.R.S. 6-1-1703(3)',
    names: ['purpose', 'risks_of_discrimination', 'data_categories', 'metrics', 'transparency', 'monitoring'],
  },
};

/** Times in seconds. */
export function assessmentOf(framework: Framework, rules: Rules, nowSeconds: number): Assessment {
  const { reference, names } = QUESTIONS[framework];
  const kept = objectOf(rules['ai.impact_assessment']);
  const answers = objectOf(kept['answers']);
  const gaps = names.filter((name) => answers[name] === undefined || answers[name] === null || answers[name] === '');
  const lastReviewedAt = reviewedAtOf(rules['ai.impact_assessment']) ?? null;
  const nextReviewAt = lastReviewedAt === null ? null : lastReviewedAt + YEAR_SECONDS;
  const required =
    rules['ai.risk_class'] === 'high' || (framework === 'colorado_ai_act' && rules['ai.impact_required']);
  const status = (): Assessment['status'] => {
    if (!required) return 'not_required';
    if (nextReviewAt !== null && nextReviewAt < nowSeconds) return 'overdue';
    return gaps.length > 0 || lastReviewedAt === null ? 'incomplete' : 'complete';
  };
  return {
    framework,
    reference,
    riskClass: rules['ai.risk_class'],
    status: status(),
    answers,
    gaps,
    lastReviewedAt,
    nextReviewAt,
  };
}

/** `reviewed_at`, in seconds. */
export function reviewedAtOf(value: unknown): number | undefined {
  const at = objectOf(value)['reviewed_at'];
  return typeof at === 'number' ? at : undefined;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>) // any object may be read by name
    : {};
}
