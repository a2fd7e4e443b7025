// The measurements behind the metrics of a memory. Partitions give counts and samples; src/server/metering turns their
// sums into rows.
import type { RowsOf } from './row.ts';

/** Measurements of the work of a shard and of the whole memory. */
export interface OpsMeasures {
  /** Writes that the shard holds and has not committed. */
  readonly pendingWrites: number;
  /** Age of the oldest of them in ms; 0 without one. */
  readonly oldestWriteMs: number;
  /** Absent for a caller that sees a part of the memory. */
  readonly whole?: {
    /** Grains that the memory's embedder has not processed yet. */
    readonly indexLag: number;
    readonly auditValid: boolean;
    readonly auditChecked: number;
    /** True when a rule or a grain has a time to live. */
    readonly hasTimeToLive: boolean;
    /** Expired grains that are not removed yet, without those under a hold. */
    readonly overdue: number;
  };
}

/** A grain of the sample. */
export interface SampledGrain {
  /** The first 32 bits of its address. */
  readonly head: number;
  /** The bytes that its duplicates have in common; absent for a grain without an identity. */
  readonly identity?: Uint8Array;
  /** Its name in recall records, if it is older than the stale age. */
  readonly oldName?: string;
  /** Present for a grain about a person: true when consent or another basis covers it. */
  readonly covered?: boolean;
}

/** A belief of the sample, in the form of the index. */
export interface SampledBelief {
  readonly head: number;
  readonly namespace: string;
  /** '' for a belief without a person. */
  readonly user: string;
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  /** True when it is contested or retracted. */
  readonly contested: boolean;
}

/** Recalls of the last day that left a record. */
export interface RecallTally {
  /** Records of any age. */
  readonly kept: number;
  readonly recalls: number;
  readonly withResults: number;
  /** Recalls by text with a result, and the sum of their best scores. */
  readonly scored: number;
  readonly scoreSum: number;
}

/** Counts of the grains in a partition that the caller sees. */
export interface IntelMeasures {
  /** Current grains: neither removed nor superseded. */
  readonly grains: number;
  readonly beliefs: number;
  readonly lowConfidence: number;
  readonly goals: number;
  readonly suspendedGoals: number;
  /** Goals that were closed in the goal window. */
  readonly satisfiedGoals: number;
  readonly failedGoals: number;
  /** Actions that ended in the action window. */
  readonly endedActions: number;
  readonly failedActions: number;
  readonly consentMode: string;
  readonly sample: readonly SampledGrain[];
  readonly beliefSample: readonly SampledBelief[];
  /** Absent for a caller that sees a part of the memory. */
  readonly whole?: {
    /** All live grains, superseded ones included, and those that are not embedded. */
    readonly live: number;
    readonly notEmbedded: number;
    /** Versions in the longest chain; 0 without a supersession. */
    readonly deepestChain: number;
    readonly supersessions: number;
    readonly recalls: RecallTally;
  };
}

export interface MetricCalls {
  measureOps: { input: Record<never, never>; output: OpsMeasures };
  /** Counts and samples. The samples hold the grains with the lowest addresses, so every partitioning draws the same. */
  measureIntel: { input: Record<never, never>; output: IntelMeasures };
  /**
   * Compares the samples of all partitions with this partition's grains. Answers are in the order of the input:
   * `same`: grains with that identity. `group`: beliefs of that person, subject and relation; `alike`: those of them
   * with that object too. `recalled`: whether a recall record names the grain.
   */
  compareSamples: {
    input: {
      readonly identities: readonly Uint8Array[];
      readonly beliefs: readonly SampledBelief[];
      readonly names: readonly string[];
    };
    output: {
      readonly same: readonly number[];
      readonly group: readonly number[];
      readonly alike: readonly number[];
      readonly recalled: readonly boolean[];
    };
  };
}

export const METRIC_ROWS = {
  measureOps: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'counts' },
    access: { open: 'counts; those of the whole memory only for a caller that sees all of it' },
  },
  measureIntel: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'counts; the samples stay in the server' },
    access: { open: 'counts and samples of the grains that the caller may view' },
  },
  compareSamples: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'counts' },
    access: { open: 'counts of the grains that the caller may view' },
  },
} as const satisfies RowsOf<MetricCalls>;
