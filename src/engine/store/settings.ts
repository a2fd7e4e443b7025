import type { ScopeNode } from '../govern/scope-tree.ts';
import type { JsonObject } from '../grain/api-json.ts';

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
