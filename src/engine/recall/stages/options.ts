// What a recall asks of the stages, as the shards get it. Every member that is absent asks for nothing.

export type TimeField = 'created_at' | 'event_date' | 'both';

/** Numbers within the ranges of the request's schema; times in seconds. */
export interface RecallOptions {
  readonly subjectContains?: string;
  readonly objectContains?: string;
  readonly queryExpansion?: boolean;
  readonly queryDecompose?: boolean;
  /** Hops, 1 to 3. */
  readonly multiHop?: number;
  readonly recencyWeight?: number;
  readonly temporalField?: TimeField;
  readonly targetDate?: number;
  readonly targetDateWeight?: number;
  readonly sessionAffinityBoost?: number;
  readonly subjectAffinityBoost?: number;
  readonly detectContradictions?: boolean;
  /** Absent: true. */
  readonly includeContradicted?: boolean;
  /** Superseded versions are demoted unless the request is an aggregation. */
  readonly aggregationIntent?: boolean;
  readonly deduplicate?: boolean;
  readonly deduplicateThreshold?: number;
  readonly conflictResolution?: boolean;
  readonly conflictSimilarityThreshold?: number;
  readonly diversityLambda?: number;
  readonly minScore?: number;
  readonly minPerNamespace?: number;
  readonly maxNamespaces?: number;
  readonly sessionCensus?: boolean;
  readonly sessionCensusMinPerSession?: number;
  readonly sessionCensusMinScore?: number;
  readonly sessionCensusMaxQueries?: number;
  readonly exhaustive?: boolean;
  readonly exhaustiveMaxRounds?: number;
  /** Absent: when the query asks for preferences. */
  readonly preferenceEnrichment?: boolean;
  readonly includeSources?: boolean;
  readonly annotateRelativeTime?: boolean;
  /** "Now" of relative times, seconds. */
  readonly referenceDate?: number;
  readonly countEntities?: boolean;
  readonly explanation?: boolean;
  /** Nothing is done for it: the hits come with what the stages leave on them. */
  readonly scoreBreakdown?: boolean;
}
