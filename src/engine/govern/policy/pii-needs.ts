// How a policy treats the personal data in a grain. The form in which the grain is written is settled before its plan;
// whether the required consent exists is checked in the plan.
import type { EngineError } from '../../base/errors.ts';
import { TAGS_MAX } from '../../base/limits.ts';
import type { GrainType } from '../../grain/grain.ts';
import type { ValueMap } from '../../grain/value.ts';
import type { PiiCategory } from '../../text/pii/categories.ts';
import { piiDetector } from '../../text/pii/detector.ts';
import { applyPiiPolicy, type PiiOutcome, type PiiWritePolicy } from '../../text/pii/write-action.ts';
import { piiWritePolicy } from './in-force.ts';
import type { Rules } from './rules.ts';

export interface PiiNeeds {
  /** Categories that count under the policy, sorted. */
  readonly categories: readonly PiiCategory[];
  /** POL-E002, POL-E005. `granted` is asked for the grain's user. */
  refusal(granted: (purpose: string) => boolean): EngineError | undefined;
}

export interface PiiChecked {
  /** The fields to be written: redacted, tagged. The same object when nothing changes. */
  readonly fields: ValueMap;
  readonly needs: PiiNeeds | undefined;
  /** Warnings for the grain's answer. */
  readonly warnings: readonly string[];
}

const NO_WARNINGS: readonly string[] = [];

/** One detector serves all memories, because it stores nothing. It finds names by lists and wording. */
const detector = piiDetector();

/** True when the rules let every grain be written as it is, so that nothing is searched for. */
export function admitsAllPii(rules: Rules): boolean {
  return rules['pii.write_action'] === 'allow' && !rules['consent.sensitive_separate'];
}

/** Searches for personal data when the rules require it. Does not change `fields`. */
export function checkPii(
  rules: Rules,
  grain: { readonly type: GrainType; readonly fields: ValueMap },
  purpose: string,
): PiiChecked {
  if (admitsAllPii(rules)) return { fields: grain.fields, needs: undefined, warnings: NO_WARNINGS };
  const policy = piiWritePolicy(rules);
  const asked = new Map<string, boolean>();
  const everything = outcomeOf(grain, policy, purpose, (wanted) => {
    asked.set(wanted, false);
    return true;
  });
  const fields = tagged(everything);
  const { warnings } = everything;
  if (everything.categories.length === 0 && asked.size === 0 && everything.refusal === undefined)
    return { fields, needs: undefined, warnings };
  return {
    fields,
    warnings,
    needs: {
      categories: everything.categories,
      refusal: (granted) => {
        if (everything.refusal !== undefined) return everything.refusal;
        if ([...asked.keys()].every(granted)) return undefined;
        // Asks again to learn which consent is missing. This is rare, as it is a refusal.
        return outcomeOf(grain, policy, purpose, granted).refusal;
      },
    },
  };
}

function outcomeOf(
  grain: { readonly type: GrainType; readonly fields: ValueMap },
  policy: PiiWritePolicy,
  purpose: string,
  granted: (purpose: string) => boolean,
): PiiOutcome {
  const user = grain.fields['user_id'];
  const userId = typeof user === 'string' && user !== '' ? { userId: user } : {};
  return applyPiiPolicy(detector, grain, policy, { ...userId, purpose, granted });
}

/** The policy's tags precede the writer's, so that the policy's survive the limit on their number. */
function tagged({ fields, tags }: PiiOutcome): ValueMap {
  if (tags.length === 0) return fields;
  const own = fields['structural_tags'];
  const others = Array.isArray(own) ? own.filter((tag) => typeof tag === 'string' && !tags.includes(tag)) : [];
  return { ...fields, structural_tags: [...others.slice(0, TAGS_MAX - tags.length), ...tags] };
}
