// Calls on the audit trail and on recall records.
import type { FoundResult, KeptQuery, QueryMode } from '../govern/trail/provenance.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import type { Excluded } from './recall.ts';
import type { RowsOf } from './row.ts';

/** Selects audit entries; all given conditions must hold. Times in seconds, inclusive. */
export interface AuditFilter {
  /** The person concerned or the acting person. */
  readonly user?: string;
  /** Event types, or prefixes such as `memory.*`. An entry matches one of them. */
  readonly events?: readonly string[];
  readonly grainHash?: string;
  /** Names of the grain `grainHash` in the entries of other partitions. */
  readonly grainNames?: readonly string[];
  readonly actor?: string;
  readonly since?: number;
  readonly until?: number;
}

/** An audit entry. All hashed members are as stored, except that an erased person appears as `erased:<fingerprint>`. */
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

/** The content of a recall record before it is sealed (service contract, section 14). */
export interface RecallRecordContent {
  readonly mode: QueryMode;
  readonly asked: boolean;
  readonly query: KeptQuery;
  readonly namespace: string;
  /** The person in the recall's conditions, if any. */
  readonly userId?: string;
  readonly subject?: string;
  readonly relation?: string;
  readonly object?: string;
  readonly entity?: string;
  readonly candidateCount: number;
  readonly results: readonly FoundResult[];
  /** Trail names of the grains by hash, if the memory has several partitions; '' for a grain that is gone. */
  readonly names?: Readonly<Record<string, string>>;
  /** Total number of results, if `results` does not list all. */
  readonly resultCount?: number;
  readonly excluded: Excluded;
  /** Names in the trail of further grains beyond the limit, one after the other. Only within a shard. */
  readonly beyond?: Uint8Array;
  /** The turn of a harness that showed the results to a model. The grains that it names are among the results. */
  readonly turn?: {
    readonly slug: string;
    readonly conversationId: string;
    readonly provider: string;
    readonly model: string;
    readonly userEvent: string;
    readonly assistantEvent: string | null;
    readonly actions: readonly string[];
  };
}

/** Selects recall records. Times in seconds, inclusive. */
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
  /** '' if reads are not audited. */
  readonly auditEntryHash: string;
  /** True if the id matches the record's content, complete or as an erasure left it. */
  readonly verified: boolean;
  /** True if its person was erased: the record no longer holds names or that person. */
  readonly redacted: boolean;
  /**
   * Set for a bound caller if a call without its binding made the record. `whole`: the counts are of grains within the binding.
   * `part`: so are these, as far as the shard knows.
   */
  readonly seen?: 'whole' | 'part';
}

export interface RecallTotals {
  readonly totalRecords: number;
  /** Sums over the records; divide by the number of records for means. */
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
  /** Stores the record of a recall that was fused elsewhere. Stores nothing if neither policy nor caller asks for one. */
  keepRecall: { input: RecallRecordContent; output: { recallId?: string } };
  /** Trail names of these grains, in the order of `hashes`; '' for a grain that is not in this partition. */
  grainNames: { input: { hashes: readonly string[] }; output: { names: readonly string[] } };
  /** Trail names of the grains at these ordinals, in their order; '' for a grain that was removed meanwhile. */
  namesAt: { input: { ordinals: readonly number[] }; output: { names: readonly string[] } };
  /**
   * Hashes of the grains with these trail names, in the order of `names`; '' for a grain that is not in this partition
   * or whose name is from another one, and for a grain outside the caller's binding. `shown`: the caller sees a grain that names
   * them, which has their person and namespace; '' also for a grain that is hidden from the caller.
   */
  grainHashes: { input: { names: readonly string[]; shown?: true | undefined }; output: { hashes: readonly string[] } };
  /** Recall records, newest or oldest first. `from`: the first position to return. `next`: `from` of the next page. */
  recallRecords: {
    input: {
      filter: RecordFilter;
      limit: number;
      order: 'asc' | 'desc';
      from?: number | undefined;
      offset?: number | undefined;
    };
    output: { records: readonly RecallSummary[]; total: number | null; next?: number };
  };
  /** One recall record. Throws PRV-E001. */
  recallRecord: { input: { recallId: string }; output: RecallRecordView };
  recallTotals: { input: Pick<RecordFilter, 'since' | 'until'>; output: RecallTotals };
  verifyAudit: { input: { limit?: number | undefined }; output: AuditCheck };
  /**
   * Audit entries by sequence number, or by time over several partitions. `from`: the first sequence number to return,
   * for each partition; absent: an end of the chain. `next`: `from` of the next page.
   */
  auditPage: {
    input: {
      filter: AuditFilter;
      limit: number;
      order: 'asc' | 'desc';
      from?: readonly number[] | undefined;
      /** Number of matching entries to skip. */
      offset?: number | undefined;
      /** Maximum bytes of the page's entries; the page ends before it exceeds this. */
      bytesMax?: number | undefined;
      /** Return null as `total`, because counting may walk the whole trail. */
      uncounted?: true | undefined;
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
    access: { open: 'takes what a recall found' },
  },
  grainNames: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'asked within the deployment, for a record' },
    access: { open: 'asked within the deployment, for a record' },
  },
  namesAt: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'never',
    governed: { nothing: 'asked within the deployment, for a record' },
    access: { open: 'asked within the deployment, for a record' },
  },
  grainHashes: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'asked within the deployment, for a record' },
    access: { open: 'asked within the deployment, for a record' },
  },
  recallRecords: {
    kind: 'long',
    changes: 'nothing',
    gather: 'first',
    governed: { nothing: 'hashes and tokens alone' },
    access: { memory: ['auditor', 'admin'], orOwn: true },
  },
  recallRecord: {
    kind: 'long',
    changes: 'nothing',
    gather: 'own',
    governed: { nothing: 'hashes and tokens alone' },
    access: { memory: ['auditor', 'admin'], orOwn: true },
  },
  recallTotals: {
    kind: 'long',
    changes: 'nothing',
    gather: 'first',
    governed: { nothing: 'counts' },
    access: { memory: ['auditor', 'admin'], orOwn: true },
  },
  verifyAudit: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'the audit chain, which holds no words' },
    access: { memory: ['auditor', 'admin'] },
  },
  auditPage: {
    kind: 'long',
    changes: 'nothing',
    gather: 'own',
    governed: { nothing: 'the audit chain, which holds no words' },
    access: { memory: ['auditor', 'admin'], orOwn: true },
  },
} as const satisfies RowsOf<TrailCalls>;
