// Removals as calls take and give them: forgetting, erasing a person or a scope, and their proofs.
import type { RowsOf } from './row.ts';

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

/** The calls that remove grains and destroy keys. */
export interface ErasureCalls {
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
}

export const ERASURE_ROWS = {
  forget: { kind: 'write', by: 'plan', changes: 'grains', retry: 'keyed', gather: 'own', governed: 'writes' },
  eraseUser: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: { right: 'erasure' },
  },
  redactUser: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'same',
    gather: 'merged',
    governed: { right: 'erasure' },
  },
  previewRemoval: {
    kind: 'write',
    by: 'plan',
    changes: 'nothing',
    retry: 'same',
    gather: 'merged',
    governed: 'writes',
  },
  eraseScope: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: { right: 'erasure' },
  },
} as const satisfies RowsOf<ErasureCalls>;
