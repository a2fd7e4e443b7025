// The audit trail and the records of recalls.
import type { FoundResult, KeptQuery, QueryMode } from '../govern/trail/provenance.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import type { Excluded } from './recall.ts';
import type { RowsOf } from './row.ts';

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

/** The calls on the audit trail and on records of recalls. */
export interface TrailCalls {
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
  verifyAudit: { input: { limit?: number }; output: AuditCheck };
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
}

export const TRAIL_ROWS = {
  keepRecall: {
    kind: 'record',
    changes: 'trail',
    retry: 'again',
    gather: 'own',
    governed: { nothing: 'takes what a recall found' },
  },
  grainNames: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'asked within the deployment, for a record' },
  },
  grainHashes: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'asked within the deployment, for a record' },
  },
  recallRecords: {
    kind: 'long',
    changes: 'nothing',
    gather: 'first',
    governed: { nothing: 'hashes and tokens alone' },
  },
  recallRecord: { kind: 'long', changes: 'nothing', gather: 'own', governed: { nothing: 'hashes and tokens alone' } },
  recallTotals: { kind: 'long', changes: 'nothing', gather: 'first', governed: { nothing: 'counts' } },
  verifyAudit: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'the audit chain, which holds no words' },
  },
  auditPage: {
    kind: 'long',
    changes: 'nothing',
    gather: 'own',
    governed: { nothing: 'the audit chain, which holds no words' },
  },
} as const satisfies RowsOf<TrailCalls>;
