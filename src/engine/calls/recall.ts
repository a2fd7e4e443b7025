// Calls that search, with their data types: the query, candidates before fusion, hits after it.

import type { ExclusionReason } from '../govern/trail/exclusions.ts';
import type { GrainFilter, GrainView } from './grain.ts';
import type { RowsOf } from './row.ts';

export interface RecallQuery {
  /**
   * The vector of the text `of`, as 4-byte floats. The vector leg runs only if it is present and `query` is the same
   * text (a further query of a stage has another one). `embedder`: the vector is compared only with vectors of this
   * embedder; absent if unknown. `also`: vectors of the same text by other embedders, for partitions whose memory is
   * changing its embedder.
   */
  readonly vector?:
    | {
        readonly bytes: Uint8Array;
        readonly of: string;
        readonly embedder?: string | undefined;
        readonly also?: readonly { readonly bytes: Uint8Array; readonly embedder: string }[] | undefined;
      }
    | undefined;
  /** Options of the stages after fusion. Absent: no stage runs, not even those that a query's wording triggers. */
  readonly options?: RecallOptions | undefined;
  /** Free text; absent: structural only. Its operators (service contract 8.8) are wishes unless `operators` is set. */
  readonly query?: string | undefined;
  /** The operators of the query are conditions. */
  readonly operators?: boolean | undefined;
  readonly filter: GrainFilter;
  readonly limit: number;
  /**
   * The caller's limit, if `limit` is wider because a stage selects from more candidates. The policy's cap applies to
   * this number.
   */
  readonly askedLimit?: number | undefined;
  readonly candidateLimit: number;
  /** True if `filter` has subject, relation, object or entity: the structural leg runs. */
  readonly structural: boolean;
  /** Rank by raw BM25 only, without pairs, vectors and context. */
  readonly wordsOnly?: boolean | undefined;
  /** Report the grains that the conditions excluded. Costs a second search. */
  readonly showExcluded?: boolean | undefined;
  /**
   * Set for a caller's recall, which leaves a recall record (govern/trail/provenance.ts). `asked`: leave one even if
   * the policy does not require it.
   */
  readonly record?: { readonly asked: boolean } | undefined;
  /** Report the candidates that the limit cut off. */
  readonly tellBeyond?: boolean | undefined;
}

/** Statistics of a query's words over sessions, each pooled into one text. */
export interface SessionStatistics {
  readonly sessions: number;
  readonly totalLength: number;
  /** Number of sessions that hold each analysed term. */
  readonly sessionFrequency: Readonly<Record<string, number>>;
}

/** Statistics of a query's words in one partition. BM25 uses their sums over all partitions. */
export interface TextStatistics {
  readonly docs: number;
  readonly totalLength: number;
  /** Document frequency by analysed term. */
  readonly documentFrequency: Readonly<Record<string, number>>;
  /** Document frequency by pair of terms (index/text/pairs.ts). Absent if the query has no pairs or does not score them. */
  readonly pairFrequency?: Readonly<Record<string, number>>;
  /** Absent if the query has no vector. */
  readonly pooled?: SessionStatistics;
}

/** A candidate of a recall before fusion: raw leg scores only. */
export interface Candidate {
  readonly hash: string;
  readonly ordinal: number;
  readonly createdAtMs: number;
  /** Raw BM25, if the text leg scores the grain; 0 for a grain found only by vector or as a neighbour. */
  readonly bm25?: number | undefined;
  /** Raw BM25 of the query's pairs. */
  readonly phrase?: number | undefined;
  /** The largest cosine between the query and a vector of the grain; absent if the grain has no vector. */
  readonly cosine?: number | undefined;
  /** True if only other legs found it: its text scores count for its neighbours only. */
  readonly outsideText?: boolean;
  /** Indexes of the query terms that the grain holds. Set only on candidates that cross threads. */
  readonly matchedTerms?: readonly number[];
  /** The context of an event. Absent for other grains, and for events without session, speaker and role. */
  readonly turn?: CandidateTurn | undefined;
  /** How it meets the operators of a question. Absent if the question has none. */
  readonly wishes?: MetWishes | undefined;
  /** True if the structural leg found it. */
  readonly structural?: boolean;
  readonly superseded?: boolean;
}

/** How a grain meets the operators of a question (recall/legs/wishes.ts). */
export interface MetWishes {
  /** Multiplies each term of its text score. */
  readonly factor: number;
  /** True if the grain would pass the operators as conditions. */
  readonly isMet: boolean;
}

/** The context of a turn, as the text leg needs it. */
export interface CandidateTurn {
  /** Turn flags as bits; see recall/legs/text-leg.ts. */
  readonly turnFlags: number;
  /** Number of its session within the partition; 0 if it has none. */
  readonly session: number;
  /** BM25 of the words of its whole session; absent without a session or the query's vector. */
  readonly pooled?: number | undefined;
  /** Scores of the previous and the next turn of its session. */
  readonly before?: NeighbourScore | undefined;
  readonly after?: NeighbourScore | undefined;
}

/** Raw scores of a neighbouring turn, which may not be a candidate itself. */
export interface NeighbourScore {
  readonly ordinal: number;
  readonly bm25?: number | undefined;
  readonly cosine?: number | undefined;
}

/**
 * How a score is composed. The first eleven members are the terms of the text leg, each divided by the maximum of
 * their sum: they add up to `final` if only the text leg ran. If several legs ran, they are informative only.
 */
export interface RecallBreakdown {
  readonly bm25: number;
  readonly phrase: number;
  readonly vector: number;
  readonly near: number;
  readonly answer: number;
  readonly session: number;
  readonly pooled: number;
  readonly role: number;
  readonly speaker: number;
  readonly time: number;
  readonly self: number;
  /** Sum of 1 / (60 + rank) over the legs that ran. */
  readonly rrf: number;
  /** The score, 0 to 1, by which hits are ordered before the stages adjust it. */
  readonly final: number;
}

export interface RecallHit {
  readonly grain: GrainView;
  /** The grain's name in the trail, for the recall record. Absent in gathered answers. */
  readonly name?: string;
  readonly score: number;
  readonly breakdown: RecallBreakdown;
  /**
   * The probability that the grain bears on the query (recall/legs/relevance.ts). Minimum scores are compared with this.
   * Absent for a hit by structure only.
   */
  readonly relevance?: number;
  /**
   * How well the grain matches the query, 0 to 1, independent of the other hits: the share of the query's idf that it
   * holds, or its cosine if that is larger. Absent without a query.
   */
  readonly evidence?: number;
  /** The largest cosine between the query and a vector of the grain; absent if either has no vector. */
  readonly cosine?: number;
  readonly bm25Rank?: number;
  readonly rrfScore: number;
  readonly superseded: boolean;
  /** True if it does not meet all operators of the question. */
  readonly unmet?: boolean;
  /** Data from the stages after fusion; absent if none ran. */
  readonly stage?: StageEffects;
}

/** The embedder of vectors. Vectors of different embedders cannot be compared. */
export interface EmbedderStamp {
  readonly name: string;
  readonly dimensions: number;
}

/** For each word: whether the partition holds it and, if not, which similar words it holds. */
export interface AlikeWords {
  readonly words: readonly {
    readonly known: boolean;
    /** Most likely first; `similarity` from 0 to 1. */
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
      /** Each term's share of the query's idf. */
      termShares: readonly number[];
      vectorsBehind?: true | 'partly';
      /** Set if the query was too long to be read completely. */
      queryCut?: true;
      /** Set if more grains may match by words or structure than a leg returns. */
      legCut?: true;
      excluded?: Excluded;
    };
  };
  /** A complete recall of a memory with one partition: statistics, candidates, fusion and fetch in one call. */
  recall: {
    input: RecallQuery;
    output: {
      hits: readonly RecallHit[];
      total: number;
      coverage: 'none' | 'partial' | 'full' | null;
      /** Set if the hits end before the limit because they exceed the size of an answer. */
      truncated?: true;
      /** Only for a query with a vector: true if it was compared with no vector, `partly` if many grains have none yet. */
      vectorsBehind?: true | 'partly';
      /** Set if the query was too long to be read completely. */
      queryCut?: true;
      /** Set if more grains may match by words or structure than a leg returns. */
      legCut?: true;
      /** The following members are set if the query's options ask for them. */
      sources?: readonly RecallHit[];
      /** Set if the hits have more sources than an answer holds. */
      sourcesCut?: true;
      entities?: readonly string[];
      exhaustive?: ExhaustiveMetadata;
      census?: CensusMetadata;
      sessionCoverageRatio?: number;
      /** Why other candidates are not among the hits; set if the query asks for it. */
      excluded?: Excluded;
      /**
       * Candidates that the limit cut off, in any order, at most as many as a record names. Set if the query asks for it.
       * Within a shard: their names in the trail, one after the other (record/name-run.ts); elsewhere names or hashes in
       * hex.
       */
      beyond?: readonly string[] | Uint8Array;
      /** Id of the recall record. */
      recallId?: string;
    };
  };
  /** Similar words of the memory for each word of a query, at most `limit` each, in the order of `words`. */
  alike: { input: { words: readonly string[]; limit: number }; output: AlikeWords };
  /**
   * A unit vector for each grain, as 4-byte floats, in the order of the hashes; null for a grain without one or not in
   * this partition.
   */
  meanings: {
    input: { hashes: readonly string[] };
    output: { embedder: string; vectors: readonly (Uint8Array | null)[] };
  };
  /**
   * The embedders whose vectors a recall uses, one for each partition with vectors: a query needs a vector from each of
   * them. While a memory changes its embedder, the old one is reported until the new one has caught up. `lag`: grains
   * not processed yet. `loading`: the vectors are being loaded, and recalls do not wait for that; this call starts the
   * loading.
   */
  vectorState: {
    input: Record<never, never>;
    output: { serving: readonly EmbedderStamp[]; lag: number; loading?: true };
  };
  /**
   * Number of grains up to the given log positions that still wait for vectors. One position for each partition;
   * absent: the current ends of the logs, which the answer returns.
   */
  vectorLag: {
    input: { upTo?: readonly number[] | undefined };
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
    access: { open: 'counts of words over the grains that the caller may view' },
  },
  recallCandidates: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'first',
    gather: 'merged',
    governed: 'reads',
    access: 'viewer',
  },
  recall: { kind: 'read', trail: 'record', refusal: 'first', gather: 'own', governed: 'reads', access: 'viewer' },
  alike: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'words of the vocabulary, of no grain in particular' },
    access: { open: 'words of grains that the caller may view' },
  },
  meanings: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'numbers for hashes that a recall found' },
    access: { open: 'numbers for hashes that a recall found' },
  },
  vectorState: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { nothing: 'counts' },
    access: { open: 'counts' },
  },
  vectorLag: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { nothing: 'counts' },
    access: { open: 'counts' },
  },
} as const satisfies RowsOf<RecallCalls>;

export type TimeField = 'created_at' | 'event_date' | 'both';

/** Options of the stages. Numbers are within the ranges of the request schema; times are in seconds. */
export interface RecallOptions {
  readonly subjectContains?: string;
  readonly objectContains?: string;
  readonly queryExpansion?: boolean;
  readonly queryDecompose?: boolean;
  /** Number of hops, 1 to 3. */
  readonly multiHop?: number;
  readonly recencyWeight?: number;
  readonly temporalField?: TimeField;
  readonly targetDate?: number;
  readonly targetDateWeight?: number;
  readonly sessionAffinityBoost?: number;
  readonly subjectAffinityBoost?: number;
  readonly detectContradictions?: boolean;
  /** Default: true. */
  readonly includeContradicted?: boolean;
  /** True: superseded versions keep their score; otherwise they are demoted. */
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
  /** Default: true if the query asks for preferences. */
  readonly preferenceEnrichment?: boolean;
  readonly includeSources?: boolean;
  readonly annotateRelativeTime?: boolean;
  /** The time to which relative times refer, in seconds. */
  readonly referenceDate?: number;
  readonly countEntities?: boolean;
  readonly explanation?: boolean;
  /** Needs no work in the stages: hits carry their breakdown anyway. */
  readonly scoreBreakdown?: boolean;
}

/** The stages that change a score, in execution order. A score is summed in this order. */
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

/** Data that the stages attach to a hit, besides its score. */
export interface StageEffects {
  /** The score before the changes. */
  readonly base: number;
  /** True if rank fusion produced `base`; otherwise it is the sum of the text leg's terms. */
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
  /** Sessions in the answer, including those that the census added. */
  readonly representedSessions: number;
  readonly censusQueriesIssued: number;
  readonly grainsAdded: number;
  readonly sessionStats: readonly CensusSession[];
}

export interface ExhaustiveRound {
  /** Number of the round, from 1. */
  readonly round: number;
  readonly queriesIssued: number;
  readonly newHashes: number;
  readonly filteredByMinScore: number;
  readonly budgetCapped: number;
}

export interface ExhaustiveMetadata {
  readonly roundsExecuted: number;
  /** Entities in query order. */
  readonly entitiesFound: readonly string[];
  readonly initialUniqueCount: number;
  readonly finalUniqueCount: number;
  readonly roundStats: readonly ExhaustiveRound[];
  /** True if the expansion ended because a round found nothing new, false if it ran out of rounds. */
  readonly converged: boolean;
  readonly expansionGrainsFiltered: number;
  readonly expansionGrainsBudgetCapped: number;
  /** Upper bound of the scores of added hits; absent if there was no hit to stay below. */
  readonly expansionScoreCap?: number;
}

export interface Excluded {
  /** Number of excluded grains by reason. */
  readonly counts: Readonly<Partial<Record<ExclusionReason, number>>>;
  /** The excluded grains, at most EXCLUDED_NAMED_MAX. */
  readonly named: readonly { readonly hash: string; readonly reason: ExclusionReason }[];
}
