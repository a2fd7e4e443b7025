// The suite's interface to a memory on any transport. Members and fields have their wire names.
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type Fields = { readonly [name: string]: Json };

/** Features that not every transport has. */
export type Feature =
  /** Lists, raw blobs, search, erasure of a user, the audit chain, and forgetting by more than one hash. */
  | 'many'
  /** Features of the server on top of the engine: the whole RecallRequest with its warnings, warnings of options. */
  | 'server'
  /** Answers to repeated writes (idempotency key). */
  | 'repeat';

export interface Item {
  readonly grain_type: string;
  readonly fields: Fields;
}

export interface Grain {
  readonly hash: string;
  readonly grain_type: string;
  readonly fields: Record<string, Json>;
}

export interface Listed extends Grain {
  readonly version_status: string;
  readonly superseded_by?: string;
}

export interface Added {
  readonly hash: string;
  /** Undefined on transports that do not report it. */
  readonly duplicate?: boolean;
}

export interface BatchAnswer {
  readonly added: readonly { readonly index: number; readonly hash: string }[];
  readonly duplicates: readonly { readonly index: number; readonly hash: string }[];
  readonly errors: readonly { readonly index: number; readonly code: string }[];
}

export interface Hit extends Grain {
  readonly score: number;
  readonly superseded: boolean;
}

/** An answer as parsed JSON; members may be absent. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into it as callers do
export type ParsedJson = Record<string, any>;

export interface RecallAnswer {
  /** All of the answer, hits with their parsed fields. */
  readonly raw: ParsedJson;
  readonly hits: readonly Hit[];
  readonly total: number;
  readonly coverage: string | null;
  readonly warnings: readonly string[];
  readonly entities: readonly string[];
}

export interface ListAnswer {
  readonly grains: readonly Listed[];
  readonly total: number | null;
  readonly next: string | null;
}

export interface Version extends Grain {
  readonly relation: string;
  readonly created_at: number;
}

export interface Accumulated {
  readonly old_hash: string;
  readonly new_hash: string;
  readonly applied: Json;
  readonly fields: Fields;
}

export interface Forgotten {
  readonly hashes: readonly string[];
  readonly not_found: readonly string[];
}

export interface Proof {
  readonly user_id: string;
  readonly count: number;
  readonly key_fingerprint: string;
  readonly timestamp: number;
}

export interface Statistics {
  readonly total_grains: number;
  readonly superseded_grains: number;
  readonly type_counts: Readonly<Record<string, number>>;
  readonly namespaces: readonly string[];
  readonly users: number;
  readonly audit_entries: number;
}

export type AccumulateTarget =
  | { readonly hash: string }
  | { readonly namespace?: string; readonly subject: string; readonly relation: string };

/** How a caller differs from the memory's creator. */
export interface Caller {
  /** Bound to it: the caller sees and writes nothing else. */
  readonly namespace?: string;
  readonly user_id?: string;
  readonly idempotencyKey?: string;
}

export interface CalAnswer {
  readonly result: ParsedJson;
  readonly warnings: readonly string[];
  readonly type: string;
  readonly count: number;
}

/** One memory. Rejects with `Refusal` for errors of the contract. */
export interface Memory {
  add(grainType: string, fields: Fields, options?: Fields): Promise<Added>;
  batchAdd(items: readonly Item[]): Promise<BatchAnswer>;
  get(hash: string): Promise<Grain>;
  /** `query_mode` goes as the transport takes it. */
  recall(query: Fields): Promise<RecallAnswer>;
  supersede(hash: string, fields: Fields, options?: { grainType?: string; reason?: string }): Promise<string>;
  accumulate(target: AccumulateTarget, deltas: Fields, set?: Fields): Promise<Accumulated>;
  forget(hash: string): Promise<void>;
  flush(): Promise<{ readonly pending: number }>;
  statistics(): Promise<Statistics>;
  history(hash: string): Promise<readonly Version[]>;
  cal(query: string): Promise<CalAnswer>;
  /** The same memory as seen by another caller. */
  as(caller: Caller): Promise<Memory>;
  // Feature 'many'.
  raw(hash: string): Promise<Uint8Array>;
  list(query: Fields): Promise<ListAnswer>;
  search(query: string, options?: Fields): Promise<RecallAnswer>;
  forgetMany(which: { hashes?: readonly string[]; subject?: string; user_id?: string }): Promise<Forgotten>;
  eraseUser(userId: string): Promise<Proof>;
  verifyAudit(): Promise<{ readonly valid: boolean; readonly checked: number }>;
}

/** One way to reach memories. */
export interface Target {
  readonly name: string;
  /** Partitions of its new memories. */
  readonly partitions: number;
  readonly features: ReadonlySet<Feature>;
  /** A new, empty memory; `options` are `dedup`, `dedup_threshold` and `language` of POST /memories. */
  memory(options?: Fields): Promise<Memory>;
  close(): Promise<void>;
}

/** Placeholder for a missing feature; the suite calls only features that a driver declares. */
export function lacks(): Promise<never> {
  return Promise.reject(new Error('this transport has no such call'));
}
