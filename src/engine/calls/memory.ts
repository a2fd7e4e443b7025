// A memory as a whole: its settings, its statistics, its upkeep.
import type { ScopeNode } from '../govern/scope-tree.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import type { RowsOf } from './row.ts';

export interface MemoryStatistics {
  readonly totalGrains: number;
  readonly diskSpaceBytes: number;
  readonly typeCounts: Readonly<Record<string, number>>;
  readonly namespaces: readonly string[];
  readonly userCount: number;
  readonly supersededGrains: number;
  readonly triples: number;
  /** This and the following members cover the whole memory, so a bound caller does not get them. */
  readonly auditEntries?: number;
  readonly pendingWrites?: number;
  readonly vectors?: number;
  /** Index blocks still to be rewritten after erasures; 0 if every purge is complete. */
  readonly purgePending?: number;
  /** Grains that the memory's embedder has not processed yet. */
  readonly indexLag?: number;
}

/** The contents of a memory at a time, in Unix seconds. */
export interface HistoryPoint {
  readonly timestamp: number;
  readonly totalGrains: number;
  readonly diskSpaceBytes: number;
  readonly typeCounts: Readonly<Record<string, number>>;
}

/** The calls on a memory as a whole: attaching, statistics, upkeep. */
export interface MemoryWideCalls {
  attachMemory: { input: { settings: MemorySettings }; output: Record<never, never> };
  /**
   * Destroys the memory's keys in this shard and removes its records. `check`: only checks whether the policy allows it
   * (POL-E003). The fingerprint is then '', unless the policy was lost with its key and cannot be checked. A removal
   * that has begun is completed without another check.
   */
  dropMemory: { input: { check?: true | undefined }; output: { keyFingerprint: string } };
  /**
   * Stores the call's idempotency key with the hash of its body and does nothing else. VAL-E005 for another body. Over
   * several partitions one of them stores the key, because another body may go to another partition. `release`: frees
   * the key, because the call was refused.
   */
  claim: { input: { release: boolean }; output: Record<never, never> };
  flush: { input: Record<never, never>; output: { flushed: number; pending: number } };
  statistics: { input: Record<never, never>; output: MemoryStatistics };
  /**
   * Users with a live key, as the first 6 bytes of the SHA-256 of each id, unordered. Lets the gather count a user of
   * several partitions once.
   */
  users: { input: Record<never, never>; output: { hashes: Uint8Array } };
  statisticsHistory: {
    input: { fromMs: number; toMs: number; interval: 'hour' | 'day' };
    output: {
      points: readonly HistoryPoint[];
      /** The last one before them, which holds until the first. */
      before?: HistoryPoint | undefined;
      /** They are the last ones of their days. */
      isByDay?: true | undefined;
    };
  };
  rebuildIndexes: {
    input: Record<never, never>;
    output: { grainsScanned: number; ftsIndexed: number; vectorsIndexed: number; errors: number; elapsedMs: number };
  };
  compact: { input: Record<never, never>; output: { reclaimedBytes: number } };
  /** Adds a new version of the memory's blob key. `compact` reseals the blobs of older versions. */
  rotateKeys: { input: { scope: 'memory' }; output: { rotated: number; fingerprint: string } };
  /** Adds an audit entry for an act that changes no data of the memory. Over several partitions the first one keeps it. */
  note: {
    input: {
      event:
        | 'memory.extracted'
        | 'memory.flushed'
        | 'memory.imported'
        | 'memory.searched'
        | 'verify.run'
        | 'export.file'
        | 'import.queued'
        | 'import.completed'
        | 'import.failed'
        | 'import.cancelled'
        | 'chat.turn'
        | 'dsr.opened'
        | 'dsr.extended'
        | 'dsr.reported'
        | 'dsr.closed'
        | 'chat.thread_deleted'
        | 'harness.provisioned'
        | 'harness.tool_bound'
        | 'hook.created'
        | 'hook.deleted'
        | 'hook.delivered'
        | 'hook.dead_lettered'
        | 'hook.paused'
        | 'hook.resumed'
        | 'monitor.excessive_forget'
        | 'monitor.policy_violations'
        | 'monitor.excessive_export'
        | 'policy.enforced'
        | 'policy.simulated'
        | 'session.consolidated'
        | 'user.data_exported';
      /** The person concerned; absent: the person that the caller is bound to. */
      userId?: string | undefined;
      /** Codes and counts only. */
      details: Readonly<Record<string, number | string>>;
      /** Named texts. The entry holds each one as `NAME_hmac`, an HMAC under the key of the person or of the memory. */
      texts?: Readonly<Record<string, string>> | undefined;
    };
    output: Record<never, never>;
  };
}

export const MEMORY_WIDE_ROWS = {
  attachMemory: {
    kind: 'write',
    by: 'own',
    changes: 'memory',
    retry: 'same',
    gather: 'each',
    governed: { nothing: 'settings alone' },
    access: { open: 'settings that the control log holds already' },
  },
  dropMemory: {
    kind: 'write',
    by: 'own',
    changes: 'memory',
    retry: 'same',
    gather: 'merged',
    governed: { nothing: 'the whole memory goes; a hold refuses it' },
    access: { memory: ['owner'] },
  },
  claim: {
    kind: 'write',
    by: 'own',
    changes: 'idempotency',
    retry: 'same',
    gather: 'home',
    governed: { nothing: 'an idempotency key alone' },
    access: { open: 'an idempotency key alone' },
  },
  flush: {
    kind: 'long',
    changes: 'files',
    retry: 'same',
    gather: 'merged',
    governed: { nothing: 'upkeep' },
    access: { open: 'upkeep; it counts the grains that the caller may view' },
  },
  statistics: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'counts' },
    access: { open: 'counts of the grains that the caller may view' },
  },
  users: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'hashes of names, for counting' },
    access: { open: 'of persons with grains that the caller may view' },
  },
  statisticsHistory: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { nothing: 'counts' },
    access: { memory: ['viewer'] },
  },
  rebuildIndexes: {
    kind: 'long',
    changes: 'files',
    retry: 'same',
    gather: 'merged',
    governed: { nothing: 'upkeep' },
    access: { memory: ['admin'] },
  },
  compact: {
    kind: 'long',
    changes: 'files',
    retry: 'same',
    gather: 'merged',
    governed: { nothing: 'upkeep' },
    access: { memory: ['admin'] },
  },
  rotateKeys: {
    kind: 'write',
    by: 'plan',
    changes: 'keys',
    retry: 'again',
    gather: 'merged',
    governed: { nothing: 'upkeep' },
    access: { memory: ['admin'] },
  },
  note: {
    kind: 'write',
    by: 'plan',
    changes: 'trail',
    retry: 'again',
    gather: 'first',
    governed: { nothing: 'an audit entry' },
    access: { open: 'an audit entry' },
  },
} as const satisfies RowsOf<MemoryWideCalls>;

/** Settings of a memory that its shards need. The control log makes them; every shard with a partition of the memory gets them. */
export interface MemorySettings {
  /** The memory's number, assigned by the control log and never reused. Shards identify memories by it. */
  readonly number: number;
  readonly id: string;
  readonly partitions: number;
  /** ISO 639-1 language code. */
  readonly language: string;
  readonly dedup: 'none' | 'exact' | 'fuzzy' | 'upsert';
  readonly dedupThreshold: number;
  readonly createdAtMs: number;
  /** Name of the memory's embedder. Absent: the deployment's default. */
  readonly vectorBackend?: string;
  /** Its scopes, checked (govern/scope-tree.ts). Absent: a scope is any namespace. */
  readonly scopes?: { readonly root: ScopeNode; readonly updatedAtMs: number };
  /** The region declared at creation; checked against the policy's regions. */
  readonly region?: string;
  /** The first version of its policy, given at creation. Absent: the baseline applies until a policy is set. */
  readonly policy?: {
    readonly presets: readonly string[];
    /** Overrides by path. */
    readonly overrides: JsonObject;
    /** The rules composed at creation, in wire form. Absent for memories of the first builds. */
    readonly rules?: JsonObject;
    readonly sealedBy: string;
  };
}
