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
  /** The rest counts what others do too: it is absent for a bound caller. */
  readonly auditEntries?: number;
  readonly pendingWrites?: number;
  readonly vectors?: number;
  /** Index blocks still to be rewritten after an erasure. 0: every purge has ended. */
  readonly purgePending?: number;
  /** Grains that the memory's embedder has still to look at. */
  readonly indexLag?: number;
}

/** The calls on a memory as a whole: attaching, statistics, upkeep. */
export interface MemoryWideCalls {
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
}

export const MEMORY_WIDE_ROWS = {
  attachMemory: {
    kind: 'write',
    by: 'own',
    changes: 'memory',
    retry: 'same',
    gather: 'each',
    governed: { nothing: 'settings alone' },
  },
  dropMemory: {
    kind: 'write',
    by: 'own',
    changes: 'memory',
    retry: 'same',
    gather: 'merged',
    governed: { nothing: 'the whole memory goes; a hold refuses it' },
  },
  claim: {
    kind: 'write',
    by: 'own',
    changes: 'idempotency',
    retry: 'same',
    gather: 'home',
    governed: { nothing: 'an idempotency key alone' },
  },
  flush: { kind: 'long', changes: 'files', retry: 'same', gather: 'merged', governed: { nothing: 'upkeep' } },
  statistics: { kind: 'read', trail: 'nothing', refusal: 'each', gather: 'own', governed: { nothing: 'counts' } },
  users: { kind: 'long', changes: 'nothing', gather: 'merged', governed: { nothing: 'hashes of names, for counting' } },
  statisticsHistory: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'merged',
    governed: { nothing: 'counts' },
  },
  rebuildIndexes: { kind: 'long', changes: 'files', retry: 'same', gather: 'merged', governed: { nothing: 'upkeep' } },
  compact: { kind: 'long', changes: 'files', retry: 'same', gather: 'merged', governed: { nothing: 'upkeep' } },
  rotateKeys: {
    kind: 'write',
    by: 'plan',
    changes: 'keys',
    retry: 'again',
    gather: 'merged',
    governed: { nothing: 'upkeep' },
  },
  note: {
    kind: 'write',
    by: 'plan',
    changes: 'trail',
    retry: 'again',
    gather: 'first',
    governed: { nothing: 'an audit entry' },
  },
} as const satisfies RowsOf<MemoryWideCalls>;

/** Settings of a memory that its shards need. Made by the control log, sent to every shard that holds a partition. */
export interface MemorySettings {
  /** The memory's number: given once by the control log, never reused. Shards know memories by it. */
  readonly number: number;
  readonly id: string;
  readonly partitions: number;
  /** ISO 639-1. */
  readonly language: string;
  readonly dedup: 'none' | 'exact' | 'fuzzy' | 'upsert';
  readonly dedupThreshold: number;
  readonly createdAtMs: number;
  /** Whose vectors it has: a name that the server knows embedders by. Absent: the deployment's own. */
  readonly vectorBackend?: string;
  /** Its scopes, checked (govern/scope-tree.ts). Absent: a scope is any namespace. */
  readonly scopes?: { readonly root: ScopeNode; readonly updatedAtMs: number };
  /** Where it lies, as its maker said: what a policy's regions are held against. */
  readonly region?: string;
  /** What it was made with: the first version of its policy. Absent: the baseline, until somebody sets a policy. */
  readonly policy?: {
    readonly presets: readonly string[];
    /** By path. */
    readonly overrides: JsonObject;
    /** The rules in their wire form, as they were composed then. Absent from memories of the first builds. */
    readonly rules?: JsonObject;
    readonly sealedBy: string;
  };
}
