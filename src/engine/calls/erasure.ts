// Calls that remove data: forget, erase a person or a scope; with their proofs.
import type { RowsOf } from './row.ts';

export interface ErasureProof {
  readonly userId: string;
  readonly count: number;
  /**
   * First 16 hex digits of the SHA-256 of the destroyed key, or over the partitions' fingerprints in partition order;
   * '' if there was no key.
   */
  readonly keyFingerprint: string;
  /** Seconds. */
  readonly timestamp: number;
  /**
   * Hash of the audit entry `user.erased`; with several partitions, from the first one that erased something. Absent if
   * nothing was erased, or if an old build erased without an entry.
   */
  readonly auditEntryHash?: string;
}

/** The target of a removal, for previews of `forget`, `eraseUser`, `eraseScope` and `dropMemory`. */
export type RemovalTarget =
  | {
      readonly of: 'grains';
      readonly hashes?: readonly string[] | undefined;
      readonly subject?: string | undefined;
      readonly userId?: string | undefined;
    }
  | { readonly of: 'user'; readonly userId: string }
  | { readonly of: 'scope'; readonly path: string }
  | { readonly of: 'memory' };

export interface RemovalPreview {
  /** Number of grains, all versions included. */
  readonly count: number;
  readonly byType: Readonly<Record<string, number>>;
  /** Creation times of the oldest and the newest grain; absent if there are no grains. */
  readonly oldestMs?: number;
  readonly newestMs?: number;
  /** Only for a removal of grains. */
  readonly hashes?: readonly string[];
  readonly notFound?: readonly string[];
  /** Only for a removal of a scope: the resolved path, and every scope at or below it with data. */
  readonly path?: string;
  readonly scopes?: readonly { readonly path: string; readonly count: number }[];
}

/** The proof of one erased scope. */
export interface ScopeProof {
  readonly path: string;
  readonly count: number;
  /** As in a user's proof; '' if the scope had no key of its own. */
  readonly keyFingerprint: string;
  /** True if an earlier erasure destroyed the key. */
  readonly isRepeat: boolean;
  /** Fingerprints of the keys of single partitions, which the audit entries have. Only with several partitions. */
  readonly ofPartitions?: readonly string[];
}

/** The calls that remove grains and destroy keys. */
export interface ErasureCalls {
  /**
   * Removes grains. `check: true` only looks for grains and reasons to refuse. Over several partitions: check all, then
   * apply all. So too for a subject with many grains, which are removed in several groups.
   */
  forget: {
    input: {
      hashes?: readonly string[] | undefined;
      subject?: string | undefined;
      userId?: string | undefined;
      check: boolean;
    };
    output: { hashes: readonly string[]; notFound: readonly string[] };
  };
  /** Erases a person. `check` as in `forget`, so that a refusal by one partition comes before any partition starts. */
  eraseUser: { input: { userId: string; check?: true | undefined }; output: ErasureProof };
  /**
   * Replaces an erased user's name in other people's grains with `keyFingerprint` of the proof. Works in portions: call
   * again while `more` is true. `removed` counts the replaced versions.
   */
  redactUser: {
    input: { userId: string; keyFingerprint: string };
    output: { redacted: number; removed: number; more: boolean };
  };
  /** Shows what a removal would remove. Finds and refuses exactly as the removal does, but removes nothing. */
  previewRemoval: { input: RemovalTarget; output: RemovalPreview };
  /**
   * Erases a scope and everything below it. Proofs are sorted by path, ascending; `path` is the resolved scope. With
   * `tops`, the namespaces that the path covered when the erasure was asked for, the tree is not asked.
   */
  eraseScope: {
    input: { path: string; check?: true | undefined; tops?: readonly string[] | undefined };
    output: { readonly path: string; readonly timestamp: number; readonly proofs: readonly ScopeProof[] };
  };
}

export const ERASURE_ROWS = {
  forget: {
    kind: 'write',
    by: 'own',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: 'writes',
    access: 'eraser',
  },
  eraseUser: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: { right: 'erasure' },
    access: { memory: ['eraser'] },
  },
  redactUser: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'same',
    gather: 'merged',
    governed: { right: 'erasure' },
    access: { open: 'the rest of an erasure that was granted' },
  },
  previewRemoval: {
    kind: 'write',
    by: 'own',
    changes: 'nothing',
    retry: 'same',
    gather: 'merged',
    governed: 'writes',
    access: 'eraser',
  },
  eraseScope: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: { right: 'erasure' },
    access: { memory: ['eraser'] },
  },
} as const satisfies RowsOf<ErasureCalls>;
