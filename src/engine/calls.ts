// What can be asked of an engine, one shard's: its calls with what they take and give. Names are camelCase; a grain's
// own fields keep their wire names (snake_case), as JSON.

import type { CalCall, CalReply } from './cal/run/answer.ts';
import type { PartitionAnswer, PartitionRead } from './cal/run/asks.ts';
import type { WireError } from './errors.ts';
import type { ConsentFact } from './govern/consent.ts';
import type { FoundResult, KeptQuery, QueryMode } from './govern/provenance.ts';
import type { JsonObject, JsonValue } from './grain/api-json.ts';
import type { Facet, Verification } from './index/part.ts';
import type { PartitionEvidence } from './maintain/compliance/evidence.ts';
import type { CensusMetadata } from './recall/stages/census.ts';
import type { Excluded } from './recall/stages/excluded.ts';
import type { ExhaustiveMetadata } from './recall/stages/exhaustive.ts';
import type { StageMarks } from './recall/stages/hit.ts';
import type { RecallOptions } from './recall/stages/options.ts';
import type { MemorySettings } from './store/settings.ts';

/** Integers past 2^53 are `bigint`: read and write such texts with `parseJson` and `stringifyJson` of that file. */
export type { ConsentFact, JsonObject, JsonValue, MemorySettings, PartitionEvidence };

/** Who asks, where, under which narrowing. Every call has one. */
export interface CallContext {
  /** Memory number. */
  readonly memory: number;
  /** Partition of it that this shard call is for, from 0. */
  readonly partition: number;
  /** Principal: the audit actor (`key:<key_id>`, `user:<name>`, `anonymous`, `system`). */
  readonly actor: string;
  readonly requestId: string;
  /** Bound or narrowed: the call sees and writes only this namespace / user. */
  readonly namespace?: string;
  readonly userId?: string;
  readonly reason?: string;
  readonly purpose?: string;
  /** Epoch ms after which nobody waits for the answer. */
  readonly deadlineMs?: number;
  readonly idempotency?: { readonly key: string; readonly bodyHash: string };
  /** Removals repeat what was done in the deployment that this one is a copy of: what its policy said then is not asked. */
  readonly repeats?: true;
  /** The caller wants a request refused for members that are not known, which would only be told else. */
  readonly strict?: true;
}

/** A grain as answers show it. `fields` holds every field with answer defaults filled, times in seconds. */
export interface GrainView {
  readonly hash: string;
  readonly grainType: string;
  readonly fields: JsonObject;
  /** Seconds, as answers show it. */
  readonly createdAt: number;
  /** Milliseconds: what orders grains, here and when answers of several partitions are merged. */
  readonly createdAtMs: number;
  readonly namespace: string;
  readonly userId?: string;
  readonly supersededBy?: string;
  readonly supersedes?: string;
  /**
   * Of a known grain that was read again: hashes of its further sources, the newest first. At least one. A partition answers with the
   * names of those that others hold, which the router puts hashes in the place of.
   */
  readonly sources?: readonly string[];
  readonly sizeBytes: number;
}

/** Structural conditions; all given ones must hold. Times in epoch ms, inclusive. */
export interface GrainFilter {
  readonly grainTypes?: readonly string[];
  readonly namespace?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  readonly subject?: string;
  readonly relation?: string;
  readonly object?: string;
  /** A part of it, whatever its case. */
  readonly subjectContains?: string;
  readonly objectContains?: string;
  /** Subject or object. */
  readonly entity?: string;
  /** Of each: a grain has one of the values. An empty list lets nothing through. */
  readonly anyOf?: readonly { readonly facet: Facet; readonly values: readonly string[] }[];
  /** Of each: a grain has the field, and none of the values. Fields are those of `store/indexed-fields.ts`. */
  readonly otherThan?: readonly { readonly field: string; readonly values: readonly string[] }[];
  /** Of each list: a grain passes one of the filters, which ask for facets and columns alone. */
  readonly either?: readonly (readonly GrainFilter[])[];
  /** A grain passes none of them. */
  readonly except?: readonly GrainFilter[];
  /** One of these was said of a grain last; nothing passes an empty list. */
  readonly verification?: readonly Verification[];
  readonly tags?: readonly string[];
  readonly excludeTags?: readonly string[];
  readonly createdFromMs?: number;
  readonly createdToMs?: number;
  /** By the time that a grain tells of: its `timestamp_ms`, else when it was created. */
  readonly timeFromMs?: number;
  readonly timeToMs?: number;
  readonly validFromMs?: number;
  readonly validToMs?: number;
  /** Either the creation or the beginning of validity lies within. */
  readonly eitherTime?: { readonly fromMs?: number; readonly toMs?: number };
  readonly confidenceMin?: number;
  readonly importanceMin?: number;
  /** A grain without confidence counts as 1, as it is shown; one without importance passes none. */
  readonly numbers?: readonly NumberTest[];
  /** No others: full addresses. */
  readonly addresses?: readonly string[];
  /** Addresses that begin with these 8 to 64 hex digits. */
  readonly addressPrefix?: string;
  readonly includeSuperseded?: boolean;
  readonly scope?: ScopeView;
}

export interface NumberTest {
  readonly field: 'confidence' | 'importance';
  readonly op: '=' | '!=' | '>=' | '<=' | '>' | '<';
  readonly value: number;
}

/** The namespaces that a scope path sees: those of its line, what lies below its end, and what lies beside it. */
export interface ScopeView {
  /** The path and its ancestors, the highest first; at least one. */
  readonly line: readonly string[];
  /** What siblings begin with, a slash at its end unless it is ''; absent: they are not seen. */
  readonly beside?: string;
  /** True when it was looked up in the memory's tree; then these say the rest: the tops of what is seen with all below it, and siblings. */
  readonly ofTree?: true;
  readonly below?: readonly string[];
  readonly also?: readonly string[];
}

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
  /** What is asked for a caller leaves a record (govern/provenance.ts); `asked`: whether or not its policy wants one. */
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
  /** Bits: see recall/text-leg.ts. */
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

export interface AddItem {
  readonly grainType: string;
  readonly fields: JsonObject;
  /**
   * How the audit trail calls this add; absent: `memory.added`. What is `memory.extracted` is refused (MEM-E001) when the
   * grain that it is derived from is gone.
   */
  readonly event?: 'memory.remembered' | 'memory.extracted';
  /** Of what is extracted, over several partitions: its source as the partition told it that holds it. */
  readonly source?: ExtractedFrom;
  /** Stores nothing: a grain that is known gains the source. MEM-E001 where none is known. */
  readonly knownOnly?: true;
  /** Names of further sources of the known grain, in other partitions, that are gone: they make room. */
  readonly gone?: readonly string[];
}

/** What the partition of a known grain has to know of a further source that another one may hold. */
export interface ExtractedFrom {
  /** What the trail of the known grain's partition calls it. */
  readonly name: string;
  readonly namespace: string;
  readonly userId?: string;
  /** SHA-256 of its text as stored, in hex; absent without a text. */
  readonly textHash?: string;
}

/** What one partition knows of a belief that is about to be stored. */
export interface KnownFact {
  /** The call's idempotency key has an answer for it here. */
  readonly answered: boolean;
  /** Stored here it would be a duplicate. */
  readonly known: boolean;
  /** The same for one that comes from a text with one of these hashes: what such a text stated was replaced since. */
  readonly fromTexts: readonly string[];
  /** Names of its further sources in other partitions, where it has as many sources as are kept. */
  readonly elsewhere?: readonly string[];
}
export type AddOutcome =
  | {
      readonly hash: string;
      readonly grainType: string;
      readonly duplicate: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly error: WireError; readonly grainType: string };

export interface Accumulated {
  readonly oldHash: string;
  readonly newHash: string;
  readonly applied: readonly { readonly field: string; readonly old: JsonValue; readonly new: JsonValue }[];
  readonly fields: JsonObject;
}

export interface VersionView {
  readonly hash: string;
  readonly grainType: string;
  readonly fields: JsonObject;
  readonly createdAt: number;
  readonly relation: 'original' | 'superseded' | 'supersedes';
}

/** Whose vectors they are: those of another name cannot be compared with them. */
export interface EmbedderStamp {
  readonly name: string;
  readonly dimensions: number;
}

export interface MemoryStatistics {
  readonly totalGrains: number;
  readonly diskSpaceBytes: number;
  readonly typeCounts: Readonly<Record<string, number>>;
  readonly namespaces: readonly string[];
  readonly userCount: number;
  readonly supersededGrains: number;
  readonly triples: number;
  /** The rest counts what others do too: it is absent for a bound caller. */
  readonly auditEntries?: number;
  readonly pendingWrites?: number;
  readonly vectors?: number;
  /** Index blocks still to be rewritten after an erasure. 0: every purge has ended. */
  readonly purgePending?: number;
  /** Grains that the memory's embedder has still to look at. */
  readonly indexLag?: number;
}

/** Which entries of the audit trail; all given conditions hold. Times in seconds, inclusive. */
export interface AuditFilter {
  /** The person concerned or acting. */
  readonly user?: string;
  /** Names of event types, or beginnings of them like `memory.*`; an entry has one of them. */
  readonly events?: readonly string[];
  readonly grainHash?: string;
  /** Beside `grainHash`: what entries of other partitions than its own call that grain. */
  readonly grainNames?: readonly string[];
  readonly actor?: string;
  readonly since?: number;
  readonly until?: number;
}

/** An entry of the audit trail. What its hash is over is as kept, but for erased persons: they are `erased:<fingerprint>`. */
export interface AuditView {
  readonly partition: number;
  readonly seq: number;
  /** Seconds. */
  readonly timestamp: number;
  readonly eventType: string;
  readonly actor: string;
  readonly subject: string;
  readonly grainHash?: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly prevHash: string;
  readonly hash: string;
}

/** What a recall leaves behind, before it is sealed (service contract section 14). */
export interface RecallAccount {
  readonly mode: QueryMode;
  readonly asked: boolean;
  readonly query: KeptQuery;
  readonly namespace: string;
  /** The person that it is about, as far as its conditions say. */
  readonly userId?: string;
  readonly subject?: string;
  readonly relation?: string;
  readonly object?: string;
  readonly entity?: string;
  readonly candidateCount: number;
  readonly results: readonly FoundResult[];
  /** What the trail calls the grains, by their hashes, where they lie in several partitions; '' for one that is gone. */
  readonly names?: Readonly<Record<string, string>>;
  /** Where not all that was found is named by `results`. */
  readonly resultCount?: number;
  readonly excluded: Excluded;
}

/** Which records; times in seconds, inclusive. */
export interface RecordFilter {
  readonly namespace?: string;
  readonly userId?: string;
  readonly since?: number;
  readonly until?: number;
}

export interface RecallSummary {
  readonly recallId: string;
  readonly timestamp: number;
  readonly namespace: string;
  readonly queryMode: string;
  readonly candidateCount: number;
  readonly resultCount: number;
  readonly principal: string;
}

export interface RecallRecordView extends RecallSummary {
  readonly query: JsonObject;
  readonly results: readonly JsonObject[];
  readonly excluded: readonly JsonObject[];
  readonly excludedCounts: Readonly<Record<string, number>>;
  readonly excludedTotal: number;
  readonly nonce: number;
  readonly requestId: string;
  /** '' where reads are not audited. */
  readonly auditEntryHash: string;
  /** Whether the id is still that of the record: of the whole, or of what an erasure left of it. */
  readonly verified: boolean;
  /** True when the person that it was about was erased: names and that person are gone from it. */
  readonly redacted: boolean;
}

export interface RecallTotals {
  readonly totalRecords: number;
  /** Sums: means are theirs by the records. */
  readonly candidates: number;
  readonly results: number;
  readonly zeroResultCount: number;
  readonly byMode: Readonly<Record<string, number>>;
  readonly byExclusion: Readonly<Record<string, number>>;
  /** Seconds. */
  readonly oldest?: number;
  readonly newest?: number;
}

export interface AuditCheck {
  readonly valid: boolean;
  readonly checked: number;
  readonly firstBadSeq?: number;
  readonly partition: number;
}

export interface ErasureProof {
  readonly userId: string;
  readonly count: number;
  /** First 16 hex of SHA-256 of the destroyed key; with several partitions of the keys in partition order; '' when none. */
  readonly keyFingerprint: string;
  /** Seconds. */
  readonly timestamp: number;
  /**
   * Hash of the entry `user.erased` in the audit trail; with several partitions, of the first that erased something. Absent where
   * there is none: nothing was erased, or by a build that did not note it.
   */
  readonly auditEntryHash?: string;
}

/** What a removal is asked for: of `forget`, `eraseUser`, `eraseScope` and `dropMemory`. */
export type RemovalTarget =
  | { readonly of: 'grains'; readonly hashes?: readonly string[]; readonly subject?: string; readonly userId?: string }
  | { readonly of: 'user'; readonly userId: string }
  | { readonly of: 'scope'; readonly path: string }
  | { readonly of: 'memory' };

export interface RemovalPreview {
  /** Grains, all versions. */
  readonly count: number;
  readonly byType: Readonly<Record<string, number>>;
  /** When the oldest and the newest of them were created; absent for none. */
  readonly oldestMs?: number;
  readonly newestMs?: number;
  /** Of grains. */
  readonly hashes?: readonly string[];
  readonly notFound?: readonly string[];
  /** Of a scope: the one that was meant, and each of those that have something. */
  readonly path?: string;
  readonly scopes?: readonly { readonly path: string; readonly count: number }[];
}

/** What is left of one erased scope. */
export interface ScopeProof {
  readonly path: string;
  readonly count: number;
  /** As of a user's proof; '' for a scope whose grains lay under no key of its own. */
  readonly keyFingerprint: string;
  /** True for the proof of an erasure that came before. */
  readonly isRepeat: boolean;
}

/** A blob on its way out: the plaintext `.mg` bytes and what the index layer knows of it. */
export interface ExportedGrain {
  readonly hash: string;
  readonly blob: Uint8Array;
  readonly supersededBy?: string;
  readonly systemValidToMs?: number;
  readonly verificationStatus?: string;
}

/** What a file says of one of its grains beside the grain's own bytes. */
export type ManifestEntry = Omit<ExportedGrain, 'blob'>;

/** An entry of a manifest that does not count. The error does not tell whether a grain exists that the caller does not see. */
export interface RefusedEntry {
  readonly hash: string;
  readonly error: WireError;
}

export interface ShardHealth {
  readonly shard: number;
  readonly ok: boolean;
  readonly reasons: readonly string[];
  readonly pendingWrites: number;
  readonly tailGrains: number;
  readonly segments: number;
  readonly sequence: number;
  readonly sealedSequence: number;
}

/** One finding of a verification. */
export interface VerifyFinding {
  readonly shard: number;
  readonly kind: 'record' | 'blob' | 'segment' | 'vectors' | 'index' | 'audit' | 'key';
  readonly where: string;
  readonly problem: string;
}
export interface VerifyReport {
  readonly records: number;
  readonly grains: number;
  readonly blocks: number;
  readonly auditEntries: number;
  readonly findings: readonly VerifyFinding[];
}

/** What a partition says of words: whether it holds them, and for those it does not which of its own may be meant. */
export interface AlikeWords {
  readonly words: readonly {
    readonly known: boolean;
    /** The likeliest first; `similarity` from 0 to 1. */
    readonly alike: readonly { readonly word: string; readonly similarity: number }[];
  }[];
}

/** A change of a policy, as a caller wishes it. */
export interface PolicyChange {
  readonly addPolicies?: readonly string[];
  readonly removePolicies?: readonly string[];
  /** By path or nested; null takes an override back. */
  readonly overrides?: JsonObject;
  readonly reason?: string;
}

/** What rules mean for what one partition holds. */
export interface PolicyImpact {
  readonly grainsTotal: number;
  /** Grains that are there and whose time is over under the rules. */
  readonly grainsExpiring: number;
  /** Users with grains and without a grant that the rules want; the hash of each, as `users` has them. */
  readonly usersWithoutConsent: Uint8Array;
  /** Grains with personal data that the rules keep out, of those looked at. */
  readonly grainsWithBlockedPii: number;
}

export interface RestrictionView {
  readonly userId: string;
  readonly reason: string;
  /** Seconds. */
  readonly restrictedAt: number;
  readonly restrictedBy: string;
}

/** What a user says of a purpose. */
export interface ConsentItem {
  readonly userId: string;
  readonly purpose: string;
  readonly granted: boolean;
  readonly basis?: string;
  readonly jurisdiction?: string;
  readonly granteeDid?: string;
  readonly reason?: string;
  /** Seconds: a grant is none from then on. */
  readonly expiresAt?: number;
}
export type ConsentOutcome = { readonly fact: ConsentFact } | { readonly error: WireError };

export interface RetentionNamespace {
  readonly namespace: string;
  readonly ttlDays: number | null;
  /** Where that comes from; '' where nothing ends a grain but its own `expires_at`. */
  readonly source: 'namespace' | 'type' | 'default' | '';
  readonly grains: number;
  readonly expired: number;
  readonly held: number;
  readonly nextExpiryMs?: number;
  readonly oldestCreatedMs?: number;
}

/** Calls on one memory's partition in one shard. `kind` tells how the router treats several partitions. */
export interface MemoryCalls {
  attachMemory: { input: { settings: MemorySettings }; output: Record<never, never> };
  /**
   * Destroys the memory's keys in this shard and removes its records. `check`: only whether its policy lets it go, POL-E003;
   * the fingerprint is '' then, or not where the policy is lost with its key and cannot say. What was begun is finished
   * without asking again.
   */
  dropMemory: { input: { check?: true }; output: { keyFingerprint: string } };
  /**
   * Remembers the call's idempotency key with the hash of its body, and does nothing else; VAL-E005 for another body.
   * Of several partitions one keeps the keys, as another body may go to another partition. `release`: the call under
   * the key was refused, so the key is free again.
   */
  claim: { input: { release: boolean }; output: Record<never, never> };
  add: {
    input: AddItem & { sync: boolean };
    output: { hash: string; duplicate: boolean; warnings: readonly string[] };
  };
  /** `places`: of the items in the whole batch, where this is a part of it; a repeat of the batch goes by them. */
  addBatch: {
    input: { items: readonly AddItem[]; sync?: boolean; places?: readonly number[] };
    output: { outcomes: readonly AddOutcome[] };
  };
  /**
   * What a partition knows of beliefs that were extracted: `places` as in `addBatch`, `sources` hashes of what they were extracted
   * from. In that order; null for a source that is not here.
   */
  knownFacts: {
    input: { items: readonly AddItem[]; places: readonly number[]; sources: readonly string[] };
    output: { facts: readonly KnownFact[]; sources: readonly (ExtractedFrom | null)[] };
  };
  /**
   * Stores blobs, then what the manifest says of them. An entry counts for a grain that this call accepts, or that an earlier call of
   * the same import accepted (`accepted`), and is decided as a supersede is; `refused` names those that do not count.
   */
  importBlobs: {
    input: {
      blobs: readonly Uint8Array[];
      manifest: readonly ManifestEntry[];
      accepted?: readonly string[];
    };
    output: { outcomes: readonly AddOutcome[]; refused: readonly RefusedEntry[] };
  };
  get: { input: { hash: string }; output: GrainView };
  getRaw: { input: { hash: string }; output: { blob: Uint8Array } };
  /** Which of these hashes this partition holds (any version, not removed). */
  locate: { input: { hashes: readonly string[] }; output: { held: readonly boolean[] } };
  list: {
    input: {
      filter: GrainFilter;
      limit: number;
      order: 'asc' | 'desc';
      after?: { createdAtMs: number; hash: string };
      offset?: number;
      /** What the grains may come to as JSON, in place of what an answer may. The page ends before it would. */
      bytesMax?: number;
    };
    output: {
      grains: readonly GrainView[];
      total: number;
      more: boolean;
      /** Place of the last grain given, to be sent back as `after`; there when `more` is true. */
      next?: { createdAtMs: number; hash: string };
    };
  };
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
  /** Grains by hash, in that order; fewer than hashes where they would be more than `bytesMax` bytes of blobs. */
  fetch: {
    input: { hashes: readonly string[]; bytesMax?: number };
    output: { grains: readonly (GrainView | null)[] };
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
  /** Leaves the record of a recall that was put together elsewhere. Nothing where neither policy nor caller wants one. */
  keepRecall: { input: RecallAccount; output: { recallId?: string } };
  /** What the trail calls these grains; '' for one that is not here. In the order of `hashes`. */
  grainNames: { input: { hashes: readonly string[] }; output: { names: readonly string[] } };
  /**
   * The hashes of grains that the trail calls so; '' for one that is not here, or whose name is another partition's. `shown`: nor
   * for one that is hidden from the caller.
   */
  grainHashes: { input: { names: readonly string[]; shown?: true }; output: { hashes: readonly string[] } };
  /** Records of recalls, newest or oldest first. `from`: the first place that may be given; `next` goes on from there. */
  recallRecords: {
    input: { filter: RecordFilter; limit: number; order: 'asc' | 'desc'; from?: number; offset?: number };
    output: { records: readonly RecallSummary[]; total: number | null; next?: number };
  };
  /** PRV-E001. */
  recallRecord: { input: { recallId: string }; output: RecallRecordView };
  recallTotals: { input: Pick<RecordFilter, 'since' | 'until'>; output: RecallTotals };
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
  /** Namespaces of grains that the filter lets through, old versions too, in any order. */
  namespaces: { input: { filter: GrainFilter }; output: { namespaces: readonly string[] } };
  /** Words of the memory that may be meant by those of a query, at most `limit` for each; in the order of `words`. */
  alike: { input: { words: readonly string[]; limit: number }; output: AlikeWords };
  /** A unit vector for what each grain says, as 4-byte floats; null for one that has none or is not here. */
  meanings: {
    input: { hashes: readonly string[] };
    output: { embedder: string; vectors: readonly (Uint8Array | null)[] };
  };
  /** The whole of a CAL query on a memory with one partition; it changes nothing. */
  cal: { input: CalCall; output: CalReply | { readonly tooLong: true } };
  /** What a partition is asked of a CAL query over several, or of one that changes something. */
  calRead: { input: PartitionRead; output: PartitionAnswer };
  /** The same in slices, for what may have to open many grains. */
  calScan: { input: PartitionRead; output: PartitionAnswer };
  supersede: {
    input: { oldHash: string; grainType?: string; fields: JsonObject };
    output: { oldHash: string; newHash: string; warnings: readonly string[] };
  };
  accumulate: {
    input: {
      target: { hash: string } | { namespace?: string; subject: string; relation: string };
      deltas: Readonly<Record<string, number>>;
      set: JsonObject;
    };
    output: Accumulated;
  };
  /** `check: true` only finds and refuses; nothing is removed. Act on several partitions: check all, then apply all. */
  forget: {
    input: { hashes?: readonly string[]; subject?: string; userId?: string; check: boolean };
    output: { hashes: readonly string[]; notFound: readonly string[] };
  };
  /** `check` as in `forget`: a refusal by one of several partitions is to come before any of them has begun. */
  eraseUser: { input: { userId: string; check?: true }; output: ErasureProof };
  /**
   * Takes an erased user's name out of others' grains; `keyFingerprint` is the proof's and stands for the name from then
   * on. Some at a time: `more` when it is to be called again. `removed` counts the versions that named the user.
   */
  redactUser: {
    input: { userId: string; keyFingerprint: string };
    output: { redacted: number; removed: number; more: boolean };
  };
  /** What a removal would take. Found and refused as by the removal itself; nothing is removed. */
  previewRemoval: { input: RemovalTarget; output: RemovalPreview };
  /** Erases a scope and all below it. Proofs by path, ascending; `path` is the one that was meant. */
  eraseScope: {
    input: { path: string; check?: true };
    output: { readonly path: string; readonly timestamp: number; readonly proofs: readonly ScopeProof[] };
  };
  /** `after`: a version that was told already. `next`: where the rest goes on, which has no room in one answer. */
  history: {
    input: { hash: string; after?: string };
    output: { versions: readonly VersionView[]; next?: string };
  };
  flush: { input: Record<never, never>; output: { flushed: number; pending: number } };
  statistics: { input: Record<never, never>; output: MemoryStatistics };
  /** Users with a live key, for counting those of several partitions once: the first 6 bytes of SHA-256 of each id, unordered. */
  users: { input: Record<never, never>; output: { hashes: Uint8Array } };
  statisticsHistory: {
    input: { fromMs: number; toMs: number; interval: 'hour' | 'day' };
    output: {
      points: readonly {
        timestamp: number;
        totalGrains: number;
        diskSpaceBytes: number;
        typeCounts: Readonly<Record<string, number>>;
      }[];
    };
  };
  verifyAudit: { input: { limit?: number }; output: AuditCheck };
  /** What each partition measures of itself for a verdict on its compliance, with canaries named by `runId`. */
  compliance: { input: { runId: string }; output: { partitions: readonly PartitionEvidence[] } };
  /**
   * Entries of the audit trail, by seq; of several partitions by time. `from`: the first seq of each partition that may be
   * given; without it a page begins at an end of the chain. `next` is what the following page has as `from`.
   */
  auditPage: {
    input: {
      filter: AuditFilter;
      limit: number;
      order: 'asc' | 'desc';
      from?: readonly number[];
      /** Of the entries that match, so many first ones are passed over. */
      offset?: number;
      /** The page ends earlier where its entries are larger together. */
      bytesMax?: number;
      /** `total` is null: counting may walk the whole trail. */
      uncounted?: true;
    };
    output: { entries: readonly AuditView[]; total: number | null; next?: readonly number[] };
  };
  rebuildIndexes: {
    input: Record<never, never>;
    output: { grainsScanned: number; ftsIndexed: number; vectorsIndexed: number; errors: number; elapsedMs: number };
  };
  compact: { input: Record<never, never>; output: { reclaimedBytes: number } };
  /** A new version of the memory's blob key. What older ones sealed is sealed anew by `compact`. */
  rotateKeys: { input: { scope: 'memory' }; output: { rotated: number; fingerprint: string } };
  /** An audit entry of the memory for an act that changes nothing in a shard's log; of several partitions in the first. */
  note: {
    input: {
      event:
        | 'memory.flushed'
        | 'memory.searched'
        | 'verify.run'
        | 'export.file'
        | 'policy.enforced'
        | 'policy.simulated'
        | 'user.data_exported';
      /** The person concerned; otherwise the one that the caller is bound to. */
      userId?: string;
      /** Codes and counts alone. */
      details: Readonly<Record<string, number | string>>;
      /** Texts by a name each, told as `NAME_hmac`: what stands for them under the key of the person, or of the memory. */
      texts?: Readonly<Record<string, string>>;
    };
    output: Record<never, never>;
  };
  /** The policy that holds, or an earlier version of it, as the wire has it; null: there is no such version. */
  policy: { input: { version?: number }; output: { policy: JsonObject | null } };
  /** What a change would come to, as the wire has it, but for its impact. Throws POL-E009, VAL-E001. */
  simulatePolicy: { input: { change: PolicyChange; isAdmin: boolean }; output: { decision: JsonObject } };
  /** What rules would mean for what is stored here; absent: those that hold. */
  policyImpact: { input: { rules?: JsonObject }; output: PolicyImpact };
  /**
   * Seals the next version; what changes nothing is answered with the version that holds. `check`: only decides. `sealed`:
   * a version that another partition decided, taken over as it is. Throws POL-E009, POL-E010, VAL-E001.
   */
  setPolicy: {
    input:
      | { change: PolicyChange; isAdmin: boolean; check?: true }
      | { sealed: JsonObject; change: 'upgraded' | 'downgraded' | 'unchanged' };
    output: { policy: JsonObject; change: 'upgraded' | 'downgraded' | 'unchanged' };
  };
  /** Freezes a user's data, or lifts that. Either may be repeated. `timestamp` in seconds. */
  restrict: {
    input: { userId: string; restricted: boolean; reason?: string };
    output: { restricted: boolean; timestamp: number };
  };
  /** Users whose data is frozen, those first who have been longest. */
  restrictions: { input: { userId?: string }; output: { restrictions: readonly RestrictionView[] } };
  /** Writes a consent grain for each item, and what it says. Items answer one by one. */
  consent: { input: { items: readonly ConsentItem[] }; output: { outcomes: readonly ConsentOutcome[] } };
  /** What consents say whose grains lie in another partition. */
  consentFacts: { input: { facts: readonly ConsentFact[] }; output: Record<never, never> };
  /** The last that users said of purposes, by user, then purpose. */
  consents: { input: { userId?: string; purpose?: string }; output: { facts: readonly ConsentFact[] } };
  /** What the policy's times to live mean for what is here, by namespace in their order. Times in ms. */
  retentionStatus: {
    input: { namespace?: string };
    output: { namespaces: readonly RetentionNamespace[]; defaultTtlDays: number | null; lastEnforcedMs?: number };
  };
  /** Removes what has expired; `dryRun` only counts. POL-E003 never: what a hold keeps is counted as held. */
  enforceRetention: {
    input: { namespace?: string; dryRun: boolean };
    output: {
      expired: number;
      forgotten: number;
      held: number;
      byNamespace: Readonly<Record<string, { expired: number; forgotten: number; held: number }>>;
    };
  };
  /**
   * Grains of a person, every version, in ordinal order: what nothing that governs the memory hides from that person.
   * `after` is the last ordinal of the page before.
   */
  personPage: {
    input: { userId: string; after: number; limitBytes: number };
    output: {
      grains: readonly { readonly view: GrainView; readonly blob: Uint8Array }[];
      last: number;
      done: boolean;
    };
  };
  /** Grains in ordinal order, for exports. `after` is the last ordinal of the page before. */
  exportPage: {
    input: { after: number; limitBytes: number; filter: GrainFilter };
    output: { grains: readonly ExportedGrain[]; last: number; done: boolean };
  };
}

/** Calls on a shard as a whole; their context's memory is 0. */
export interface ShardWideCalls {
  health: { input: Record<never, never>; output: ShardHealth };
  verify: { input: Record<never, never>; output: VerifyReport };
  /** Copies the shard's data into `dataDirectory` and its keys into `keysDirectory` (both made by the caller). */
  backup: { input: { dataDirectory: string; keysDirectory: string }; output: { bytes: number } };
  /**
   * Wraps every key of the shard under the first of these master keys (raw, 32 bytes each); the others open what is
   * wrapped under them until then. Calling again completes what was cut short.
   */
  rewrapKeys: { input: { masterKeys: readonly Uint8Array[] }; output: { rewrapped: number } };
  /**
   * What waits to be embedded: stretches of memories' logs, above `after` and up to `upTo`, and their grains with words.
   * `embedders` by what memories call them (MemorySettings.vectorBackend, '' for those that name none): each is that of its memories
   * from then on, and memories of others are left out. `waiting`: memories with something left, these pages included; `looked`: how
   * many of them this call has looked at.
   */
  embedPages: {
    input: {
      embedders: Readonly<Record<string, EmbedderStamp>>;
      grainsMax: number;
      /** Backends whose embedders are services outside: texts are given for them as each memory's policy lets them leave. */
      outside?: readonly string[];
      /** True: what was just written and is short, ahead of what waits before it. */
      fresh?: true;
    };
    output: {
      pages: readonly {
        readonly memory: number;
        readonly backend: string;
        readonly after: number;
        readonly upTo: number;
        /** Of a fresh page: how far the memory was embedded when it was made. */
        readonly aheadOf?: number;
        readonly grains: readonly { readonly ordinal: number; readonly text: string }[];
      }[];
      looked: number;
      waiting: number;
    };
  };
  /** Keeps the vectors of a page: of each grain its unit vectors as 4-byte floats, one behind the other. */
  keepVectors: {
    input: {
      memory: number;
      embedder: EmbedderStamp;
      after: number;
      upTo: number;
      /** As `embedPages` gave it. */
      aheadOf?: number;
      grains: readonly { readonly ordinal: number; readonly vectors: Uint8Array }[];
    };
    output: { kept: number };
  };
  /** Fault hook for tests; refused unless the server was started for tests. */
  fault: { input: { kind: 'throw' | 'exit' }; output: Record<never, never> };
}
