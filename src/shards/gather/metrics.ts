// Pure functions that merge the measurements of several partitions.
import { defined } from '../../engine/base/defined.ts';
import { METRIC_SAMPLE } from '../../engine/base/limits.ts';
import { lowestOf } from '../../engine/maintain/metrics/lowest.ts';
import type { Output } from '../protocol.ts';
import { sumOf } from './merge.ts';

type Ops = Output<'measureOps'>;
type Intel = Output<'measureIntel'>;
type Comparison = Output<'compareSamples'>;

export function mergeOps(parts: readonly Ops[]): Ops {
  const wholes = wholesOf(parts);
  return defined({
    pendingWrites: sumOf(parts, 'pendingWrites'),
    oldestWriteMs: Math.max(...parts.map(({ oldestWriteMs }) => oldestWriteMs)),
    whole: wholes && {
      indexLag: sumOf(wholes, 'indexLag'),
      auditValid: wholes.every(({ auditValid }) => auditValid),
      auditChecked: sumOf(wholes, 'auditChecked'),
      hasTimeToLive: wholes.some(({ hasTimeToLive }) => hasTimeToLive),
      overdue: sumOf(wholes, 'overdue'),
    },
  });
}

export function mergeIntel(parts: readonly Intel[]): Intel {
  const wholes = wholesOf(parts);
  const recalls = wholes?.map((whole) => whole.recalls) ?? [];
  return defined({
    grains: sumOf(parts, 'grains'),
    beliefs: sumOf(parts, 'beliefs'),
    lowConfidence: sumOf(parts, 'lowConfidence'),
    goals: sumOf(parts, 'goals'),
    suspendedGoals: sumOf(parts, 'suspendedGoals'),
    satisfiedGoals: sumOf(parts, 'satisfiedGoals'),
    failedGoals: sumOf(parts, 'failedGoals'),
    endedActions: sumOf(parts, 'endedActions'),
    failedActions: sumOf(parts, 'failedActions'),
    consentMode: parts[0]?.consentMode ?? 'none',
    sample: lowestOf(
      parts.flatMap(({ sample }) => sample),
      METRIC_SAMPLE,
    ),
    beliefSample: lowestOf(
      parts.flatMap(({ beliefSample }) => beliefSample),
      METRIC_SAMPLE,
    ),
    whole: wholes && {
      live: sumOf(wholes, 'live'),
      notEmbedded: sumOf(wholes, 'notEmbedded'),
      deepestChain: Math.max(...wholes.map(({ deepestChain }) => deepestChain)),
      supersessions: sumOf(wholes, 'supersessions'),
      recalls: {
        kept: sumOf(recalls, 'kept'),
        recalls: sumOf(recalls, 'recalls'),
        withResults: sumOf(recalls, 'withResults'),
        scored: sumOf(recalls, 'scored'),
        scoreSum: sumOf(recalls, 'scoreSum'),
      },
    },
  });
}

/** Sums by place in the input; a grain was recalled if some partition has a record of it. */
export function mergeComparisons(parts: readonly Comparison[]): Comparison {
  const sums = (name: 'same' | 'group' | 'alike'): number[] =>
    (parts[0]?.[name] ?? []).map((_, at) => parts.reduce((sum, part) => sum + part[name][at]!, 0));
  return {
    same: sums('same'),
    group: sums('group'),
    alike: sums('alike'),
    recalled: (parts[0]?.recalled ?? []).map((_, at) => parts.some(({ recalled }) => recalled[at] === true)),
  };
}

/** Measurements of the whole memory by the partitions, if the caller may know them. */
function wholesOf<W>(parts: readonly { readonly whole?: W }[]): W[] | undefined {
  const wholes = parts.flatMap(({ whole }) => (whole === undefined ? [] : [whole]));
  return wholes.length === parts.length ? wholes : undefined;
}
