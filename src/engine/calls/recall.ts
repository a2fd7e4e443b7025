// Searches as calls take and give them: the query, candidates before fusion, hits after it.

import type { ExclusionReason } from '../govern/trail/exclusions.ts';
import type { GrainFilter, GrainView } from './grain.ts';
import type { RowsOf } from './row.ts';

export interface RecallQuery {
  /**
   * The vector of the text `of`, as 4-byte floats; without it, or where `query` is another text (a further question of a
   * stage), the vector leg does not run. `embedder`: who made it, where that is known: it is compared with vectors of that
   * name alone. `also`: the vectors of the same text by other embedders, for partitions whose memory is changing its embedder.
   */
  readonly vector?: {
    readonly bytes: Uint8Array;
    readonly of: string;
    readonly embedder?: string;
    readonly also?: readonly { readonly bytes: Uint8Array; readonly embedder: string }[];
  };
  /** What the stages after fusion do; absent: nothing, not even what a query brings about by itself. */
  readonly options?: RecallOptions;
  /** Free text with the operators of service.md 8.8; absent: structural only. */
  readonly query?: string;
  readonly filter: GrainFilter;
  readonly limit: number;
  /** What the caller wants to see, where `limit` is wider for stages that choose: a policy's cap is held against it. */
  readonly askedLimit?: number;
  readonly candidateLimit: number;
  /** True when `filter` holds subject, relation, object or entity: the structural leg runs. */
  readonly structural: boolean;
  /** Ranks by raw BM25 alone, without pairs, vectors and surroundings. */
  readonly wordsOnly?: boolean;
  /** Tell what its conditions kept out: a second search. */
  readonly tellExcluded?: boolean;
  /** What is asked for a caller leaves a record (govern/trail/provenance.ts); `asked`: whether or not its policy wants one. */
  readonly record?: { readonly asked: boolean };
  /** Tell which candidates its limit cut off. */
  readonly tellBeyond?: boolean;
}

/** Statistics of the words of a query in one partition; sums over partitions are what BM25 wants. */
export interface TextStatistics {
  readonly docs: number;
  readonly totalLength: number;
  /** By analysed term. */
  readonly documentFrequency: Readonly<Record<string, number>>;
  /** By pair of terms (index/text/pairs.ts); absent: the query has none, or nothing scores them. */
  readonly pairFrequency?: Readonly<Record<string, number>>;
}

/** A candidate of a recall before fusion: raw leg scores only. */
export interface Candidate {
  readonly hash: string;
  readonly ordinal: number;
  readonly createdAtMs: number;
  /** Raw BM25; there when the text leg scores it, 0 for one that it met by vector or as a neighbour alone. */
  readonly bm25?: number | undefined;
  /** Raw BM25 of the query's pairs. */
  readonly phrase?: number | undefined;
  /** The largest cosine between the query and a vector of the grain; absent without one. */
  readonly cosine?: number | undefined;
  /** True when only other legs found it: its scores count for its neighbours alone. */
  readonly outsideText?: boolean;
  /** Terms of the query that this grain holds, by index; only where candidates cross threads. */
  readonly held?: readonly number[];
  /** What surrounds an event; absent for other grains, and for events without session, speaker and role. */
  readonly turn?: CandidateTurn | undefined;
  /** True when the structural leg found it. */
  readonly structural?: boolean;
  readonly superseded?: boolean;
}

/** What the text leg wants to know of a turn of a conversation. */
export interface CandidateTurn {
  /** Bits: see recall/legs/text-leg.ts. */
  readonly marks: number;
  /** A number of its session within the partition, 0 for none. */
  readonly session: number;
  /** The turns before and after it in its session. */
  readonly before?: NeighbourScore | undefined;
  readonly after?: NeighbourScore | undefined;
}

/** Raw scores of a neighbour, which need not be a candidate. */
export interface NeighbourScore {
  readonly ordinal: number;
  readonly bm25?: number | undefined;
  readonly cosine?: number | undefined;
}

/**
 * How a relevance came about. The first ten are the terms of the text leg, each divided by the most that all of them
 * can be, so that they add up to `final` when the text leg ran alone; where several legs ran they only inform.
 */
export interface RecallBreakdown {
  readonly bm25: number;
  readonly phrase: number;
  readonly vector: number;
  readonly near: number;
  readonly answer: number;
  readonly session: number;
  readonly role: number;
  readonly speaker: number;
  readonly time: number;
  readonly self: number;
  /** Sum of 1 / (60 + rank) over the legs that ran. */
  readonly rrf: number;
  /** The relevance, 0 to 1: what orders hits before any adjustment. */
  readonly final: number;
}

export interface RecallHit {
  readonly grain: GrainView;
  /** What the trail calls the grain, for the record of a recall; absent where partitions were gathered. */
  readonly name?: string;
  readonly score: number;
  readonly breakdown: RecallBreakdown;
  /**
   * How well the grain itself fits the query, 0 to 1, not normalised by what else was found: the share of the query's
   * idf that it holds, or its cosine where that is larger. What a minimum is to be held against. Absent without a query.
   */
  readonly evidence?: number;
  /** The largest cosine between the query and a vector of the grain; absent where there is none of either. */
  readonly cosine?: number;
  readonly bm25Rank?: number;
  readonly rrfScore: number;
  readonly superseded: boolean;
  /** What the stages after fusion say of it; absent where none ran. */
  readonly stage?: StageMarks;
}

/** Whose vectors they are: those of another name cannot be compared with them. */
export interface EmbedderStamp {
  readonly name: string;
  readonly dimensions: number;
}

/** What a partition says of words: whether it holds them, and for those it does not which of its own may be meant. */
export interface AlikeWords {
  readonly words: readonly {
    readonly known: boolean;
    /** The likeliest first; `similarity` from 0 to 1. */
    readonly alike: readonly { readonly word: string; readonly similarity: number }[];
  }[];
}

/** The calls that search. */
export interface RecallCalls {
  recallStatistics: { input: RecallQuery; output: TextStatistics };
  recallCandidates: {
    input: { query: RecallQuery; statistics: TextStatistics };
    output: {
      candidates: readonly Candidate[];
      total: number;
      /** The share of the query's idf that each of its terms has. */
      termShares: readonly number[];
      vectorsBehind?: true | 'partly';
      /** There when the query is longer than is looked at. */
      queryCut?: true;
      /** There when words or structure may match more grains than a leg gives. */
      legCut?: true;
      excluded?: Excluded;
    };
  };
  /** The whole recall of a memory with one partition: statistics, candidates, fusion and fetch in one call. */
  recall: {
    input: RecallQuery;
    output: {
      hits: readonly RecallHit[];
      total: number;
      coverage: 'none' | 'partial' | 'full' | null;
      /** There when the hits end before the limit because they are too large together. */
      truncated?: true;
      /** There when the query has a vector: true when it is compared with none, `partly` when a good part of the memory has none. */
      vectorsBehind?: true | 'partly';
      /** There when the query is longer than is looked at. */
      queryCut?: true;
      /** There when words or structure may match more grains than a leg gives. */
      legCut?: true;
      /** These are there when the query's options ask for them. */
      sources?: readonly RecallHit[];
      /** There when the hits have more sources than an answer. */
      sourcesCut?: true;
      entities?: readonly string[];
      exhaustive?: ExhaustiveMetadata;
      census?: CensusMetadata;
      sessionCoverageRatio?: number;
      /** Why other candidates are not among the hits; there when the query asks for it. */
      excluded?: Excluded;
      /** Candidates that the limit cut off, as many as a record names, in any order; there when the query asks for it. */
      beyond?: readonly string[];
      /** Of the record that the recall left. */
      recallId?: string;
    };
  };
  /** Words of the memory that may be meant by those of a query, at most `limit` for each; in the order of `words`. */
  alike: { input: { words: readonly string[]; limit: number }; output: AlikeWords };
  /** A unit vector for what each grain says, as 4-byte floats; null for one that has none or is not here. */
  meanings: {
    input: { hashes: readonly string[] };
    output: { embedder: string; vectors: readonly (Uint8Array | null)[] };
  };
  /**
   * The embedders whose vectors a recall compares, by partition where they have any: a query is to have a vector of each. While a
   * memory changes its embedder they are the one before, until the other has embedded as much. `lag`: grains still to be looked at.
   * `loading`: so many vectors come to heap first that a recall does not wait for them; asking begins it.
   */
  vectorState: {
    input: Record<never, never>;
    output: { serving: readonly EmbedderStamp[]; lag: number; loading?: true };
  };
  /**
   * Grains up to some places of the log that have no vectors yet, though they are to have some. Places by partition; without
   * any, up to now: which is what the answer tells.
   */
  vectorLag: {
    input: { upTo?: readonly number[] };
    output: { waiting: number; upTo: readonly number[] };
  };
}

export const RECALL_ROWS = {
  recallStatistics: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'first',
    gather: 'merged',
    governed: { nothing: 'counts of words over what the caller is bound to' },
  },
  recallCandidates: { kind: 'read', trail: 'nothing', refusal: 'first', gather: 'merged', governed: 'reads' },
  recall: { kind: 'read', trail: 'record', refusal: 'first', gather: 'own', governed: 'reads' },
  alike: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'words of the vocabulary, of no grain in particular' },
  },
  meanings: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'numbers for hashes that a recall found' },
  },
  vectorState: { kind: 'read', trail: 'nothing', refusal: 'each', gather: 'merged', governed: { nothing: 'counts' } },
  vectorLag: { kind: 'read', trail: 'nothing', refusal: 'each', gather: 'merged', governed: { nothing: 'counts' } },
} as const satisfies RowsOf<RecallCalls>;

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

/** The stages that change a score, in the order in which they do; a score is the sum in this order. */
export const CHANGES = [
  'recencyDecay',
  'temporalDecayBoost',
  'targetDateProximity',
  'sessionAffinity',
  'subjectAffinity',
  'interferencePenalty',
  'supersessionDemotion',
] as const;

export type Change = (typeof CHANGES)[number];

export type RecallSource = 'primary' | 'expansion' | 'census';

/** What the stages leave on a hit, beside its score. */
export interface StageMarks {
  /** What the changes begin with. */
  readonly base: number;
  /** Whether ranks made it; otherwise the terms of the text leg add up to it. */
  readonly byRanks: boolean;
  readonly changes: Readonly<Partial<Record<Change, number>>>;
  readonly recallSource: RecallSource;
  readonly conflictStatus?: 'current' | 'outdated';
  readonly relativeTime?: string;
  readonly explanation?: string;
}

export interface CensusSession {
  readonly namespace: string;
  readonly grainsFound: number;
  readonly grainsMerged: number;
  readonly topScore: number;
}

export interface CensusMetadata {
  readonly totalSessions: number;
  /** In the answer, with what the census added. */
  readonly representedSessions: number;
  readonly censusQueriesIssued: number;
  readonly grainsAdded: number;
  readonly sessionStats: readonly CensusSession[];
}

export interface ExhaustiveRound {
  /** From 1. */
  readonly round: number;
  readonly queriesIssued: number;
  readonly newHashes: number;
  readonly filteredByMinScore: number;
  readonly budgetCapped: number;
}

export interface ExhaustiveMetadata {
  readonly roundsExecuted: number;
  /** In the order in which they were asked for. */
  readonly entitiesFound: readonly string[];
  readonly initialUniqueCount: number;
  readonly finalUniqueCount: number;
  readonly roundStats: readonly ExhaustiveRound[];
  /** True when it ended for want of anything new, not of rounds. */
  readonly converged: boolean;
  readonly expansionGrainsFiltered: number;
  readonly expansionGrainsBudgetCapped: number;
  /** Absent when there was no hit to stay below. */
  readonly expansionScoreCap?: number;
}

export interface Excluded {
  /** Reasons that were met. */
  readonly counts: Readonly<Partial<Record<ExclusionReason, number>>>;
  /** Which grains, EXCLUDED_NAMED_MAX at most. */
  readonly named: readonly { readonly hash: string; readonly reason: ExclusionReason }[];
}
