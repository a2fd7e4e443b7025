// The rows of domain intel, from the counts and samples of a memory's grains.
import type { Output } from '../../shards/protocol.ts';
import { OF_MEMORY, tooFew } from './ops.ts';
import type { IntelId, Measured } from './rows.ts';

const GRAINS_MIN = 20;
const RECALLS_MIN = 20;
const ACTIONS_MIN = 20;
const CLOSED_GOALS_MIN = 5;

type Counts = Output<'measureIntel'>;
type Whole = NonNullable<Counts['whole']>;
export type Comparison = Output<'compareSamples'>;

export interface IntelSources {
  readonly counts: Counts;
  /** One for each sample in `counts`, in their order. */
  readonly comparison: Comparison;
  readonly hasVectors: boolean;
  readonly extractions: number;
}

export function intelRows(sources: IntelSources): Readonly<Record<IntelId, Measured>> {
  const { counts, comparison, hasVectors, extractions } = sources;
  const { grains, endedActions, failedActions } = counts;
  const ofWhole = (measure: (whole: Whole) => Measured): Measured =>
    counts.whole === undefined ? { reason: OF_MEMORY } : measure(counts.whole);
  const ofGrains = (measure: () => Measured): Measured =>
    grains < GRAINS_MIN ? tooFew('grains', grains, GRAINS_MIN) : measure();
  return {
    'intel.recall_hit_rate_pct': ofWhole(({ recalls: { recalls, withResults } }) =>
      recalls < RECALLS_MIN
        ? tooFew('recalls with a record in 24 hours', recalls, RECALLS_MIN)
        : share(withResults, recalls),
    ),
    'intel.mean_top_score': ofWhole(({ recalls: { scored, scoreSum } }) =>
      scored < RECALLS_MIN
        ? tooFew('recalls by text with a record and a result in 24 hours', scored, RECALLS_MIN)
        : { value: scoreSum / scored, samples: scored },
    ),
    'intel.duplicate_ratio_pct': ofGrains(() => {
      const known = comparison.same.length;
      return known === 0
        ? { reason: 'no grain of the sample has an identity' }
        : share(above(comparison.same, 1), known);
    }),
    'intel.contradiction_ratio_pct': contradictions(sources),
    'intel.low_confidence_pct': ofGrains(() => share(counts.lowConfidence, grains)),
    'intel.stale_pct': ofWhole((whole) => ofGrains(() => stale(sources, whole))),
    'intel.max_chain_depth': ofWhole(({ deepestChain, supersessions }) =>
      supersessions === 0 ? { reason: 'no supersession' } : { value: deepestChain, samples: supersessions },
    ),
    'intel.embedding_coverage_pct': ofWhole(({ live, notEmbedded }) => {
      if (!hasVectors) return { reason: 'vectors are off' };
      return live === 0 ? { reason: 'no grains' } : share(live - notEmbedded, live);
    }),
    'intel.extraction_backlog': ofWhole(() => ({ value: extractions, samples: extractions })),
    'intel.goal_success_pct': goalSuccess(counts),
    'intel.blocked_goals':
      counts.goals === 0 ? { reason: 'no goals' } : { value: counts.suspendedGoals, samples: counts.goals },
    'intel.action_error_pct':
      endedActions < ACTIONS_MIN
        ? tooFew('actions that ended in 24 hours', endedActions, ACTIONS_MIN)
        : share(failedActions, endedActions),
    'intel.consent_coverage_pct': consent(counts),
  };
}

/** A belief contradicts if it is contested, or if another one about the same has another object. */
function contradictions({ counts: { beliefs, beliefSample }, comparison: { group, alike } }: IntelSources): Measured {
  if (beliefs < GRAINS_MIN) return tooFew('beliefs', beliefs, GRAINS_MIN);
  const found = beliefSample.filter(({ contested }, at) => contested || group[at]! > alike[at]!);
  return beliefSample.length === 0
    ? { reason: 'no belief of the sample can be read' }
    : share(found.length, beliefSample.length);
}

function stale({ counts: { sample }, comparison: { recalled } }: IntelSources, { recalls }: Whole): Measured {
  const old = sample.filter(({ oldName }) => oldName !== undefined).length;
  if (old > 0 && recalls.kept === 0) return { reason: 'no recall records: nothing tells which grains were recalled' };
  const neverRecalled = old - recalled.filter((was) => was).length;
  return sample.length === 0 ? { reason: 'no grain of the sample can be read' } : share(neverRecalled, sample.length);
}

function goalSuccess({ satisfiedGoals, failedGoals }: Counts): Measured {
  const closed = satisfiedGoals + failedGoals;
  if (closed < CLOSED_GOALS_MIN) return tooFew('goals closed in 30 days', closed, CLOSED_GOALS_MIN);
  return share(satisfiedGoals, closed);
}

function consent({ consentMode, sample }: Counts): Measured {
  if (consentMode === 'none') return { reason: 'consent.mode is none' };
  const personal = sample.filter(({ covered }) => covered !== undefined);
  if (personal.length === 0) return { reason: 'no grain of the sample is about a person' };
  return share(personal.filter(({ covered }) => covered === true).length, personal.length);
}

function share(part: number, of: number): Measured {
  return { value: (100 * part) / of, samples: of };
}

function above(counts: readonly number[], bound: number): number {
  return counts.filter((count) => count > bound).length;
}
