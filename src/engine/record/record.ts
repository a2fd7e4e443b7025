// The kinds of records in the log of a shard, and the type of each. record-codec.ts has their bytes.

export const RECORD_KINDS = {
  plainGrain: 1,
  plainStatus: 2,
  removal: 3,
  key: 4,
  setting: 5,
  audit: 6,
  reply: 7,
  rule: 8,
  recall: 9,
  grain: 10,
  status: 11,
  furtherSource: 12,
  markedAudit: 13,
} as const;
export type RecordKind = keyof typeof RECORD_KINDS;

export const KEY_KINDS = { blob: 1, token: 2, index: 3, user: 4, scope: 5 } as const;
export type KeyKind = keyof typeof KEY_KINDS;
export const KEY_KIND_NAMES: readonly (KeyKind | undefined)[] = [undefined, 'blob', 'token', 'index', 'user', 'scope'];

export const REMOVAL_CAUSES = { forgotten: 1, erased: 2, dropped: 3, expired: 4, keyDestroyed: 5 } as const;
export type RemovalCause = keyof typeof REMOVAL_CAUSES;
export const REMOVAL_CAUSE_NAMES: readonly (RemovalCause | undefined)[] = [
  undefined,
  'forgotten',
  'erased',
  'dropped',
  'expired',
  'keyDestroyed',
];

/** Verification flags; 0 is none. The index is on disk. */
export const VERIFICATION_STATES = ['', 'unverified', 'verified', 'contested', 'retracted'] as const;
export type VerificationState = (typeof VERIFICATION_STATES)[number];

export interface GrainRecord {
  readonly kind: 'grain';
  readonly memory: number;
  readonly key: number;
  readonly scopeKey: number;
  /** The user's key when `key` is one, else 0; undefined in a record of an older build, which does not distinguish. */
  readonly userKey: number | undefined;
  /** The 32 bytes that the blob is bound to: its enciphered hash, or the hash itself in a record of an older build. */
  readonly bound: Uint8Array;
  readonly sealed: Uint8Array;
}
export interface StatusRecord {
  readonly kind: 'status';
  readonly memory: number;
  readonly oldOrdinal: number;
  /** 0 when only the verification flag changed. */
  readonly newOrdinal: number;
  readonly atMs: number;
  readonly verification: VerificationState;
  /** The name of the new version, or its hash in a record of an older build; '' when there is none. */
  readonly newName: string;
}
/** A further source of a stored grain, whose own `derived_from` cannot change. */
export interface FurtherSourceRecord {
  readonly kind: 'furtherSource';
  readonly memory: number;
  /** The ordinal of the stored grain. */
  readonly ordinal: number;
  readonly atMs: number;
  /** The name of the source. For a source in another partition, the form that is stored here. */
  readonly name: string;
}
export interface RemovalRecord {
  readonly kind: 'removal';
  readonly memory: number;
  readonly cause: RemovalCause;
  readonly ordinals: Uint32Array;
}
export interface KeyRecord {
  readonly kind: 'key';
  readonly memory: number;
  readonly key: number;
  readonly keyKind: KeyKind;
  readonly action: 'made' | 'destroyed';
  readonly atMs: number;
  /** Blind token of the user id or scope path; zeros for the memory's own keys. */
  readonly token: Uint8Array;
  /** First 8 bytes of SHA-256 of the key once destroyed; zeros before. */
  readonly fingerprint: Uint8Array;
  /** The user id or scope path, sealed under the key itself; empty for the memory's own keys and after destruction. */
  readonly sealedName: Uint8Array;
  /** For a user's destroyed key: the audit entry of the erasure, 64 hex digits; absent when none is named. */
  readonly auditHash?: string;
}
export interface SettingRecord {
  readonly kind: 'setting';
  readonly memory: number;
  readonly blobKey: number;
  readonly tokenKey: number;
  readonly indexKey: number;
  readonly dropped: boolean;
  readonly sealed: Uint8Array;
}
export interface AuditRecord {
  readonly kind: 'audit';
  readonly memory: number;
  /** The bytes after the kind and memory; govern/trail/audit-codec.ts decodes them. */
  readonly body: Uint8Array;
  /** Absent in a record of an older build. */
  readonly events?: {
    /** The number of events of the memory's partition before this record. */
    readonly before: number;
    readonly atMs: number;
    /** The events of each entry (govern/trail/event-kinds.ts). */
    readonly marks: Uint8Array;
  };
}
/** Topics of rule records. The numbers are on disk. */
export const RULE_TOPICS = {
  policy: 1,
  restriction: 2,
  consent: 3,
  tuple: 4,
  agent: 5,
  turn: 6,
  conversation: 7,
} as const;
export type RuleTopic = keyof typeof RULE_TOPICS;
export const RULE_TOPIC_NAMES: readonly (RuleTopic | undefined)[] = [
  undefined,
  'policy',
  'restriction',
  'consent',
  'tuple',
  'agent',
  'turn',
  'conversation',
];

export interface RuleRecord {
  readonly kind: 'rule';
  readonly memory: number;
  readonly about: RuleTopic;
  /** 0: sealed under the memory's small key. */
  readonly key: number;
  readonly atMs: number;
  readonly sealed: Uint8Array;
}
export interface ReplyRecord {
  readonly kind: 'reply';
  readonly memory: number;
  readonly token: Uint8Array;
  readonly atMs: number;
  readonly sealed: Uint8Array;
}
export interface RecallRecord {
  readonly kind: 'recall';
  readonly memory: number;
  readonly atMs: number;
  /** 64 hex digits, like the next two; '' for none. */
  readonly id: string;
  readonly namesKey: number;
  readonly sealedNames: Uint8Array;
  readonly restId: string;
  readonly auditHash: string;
  readonly sealed: Uint8Array;
}
export type EngineRecord =
  | RecallRecord
  | GrainRecord
  | StatusRecord
  | FurtherSourceRecord
  | RemovalRecord
  | KeyRecord
  | SettingRecord
  | AuditRecord
  | ReplyRecord
  | RuleRecord;

/** The key of a recall record in the index. */
export function recallKey(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16);
}

/** True for an entry of an audit chain, which never changes. Judges by the first byte. */
export function isAuditRecord(bytes: Uint8Array): boolean {
  return bytes[0] === RECORD_KINDS.audit || bytes[0] === RECORD_KINDS.markedAudit;
}

/** True for a record of an older build, which holds a grain's hash in the clear. Judges by the first byte. */
export function isPlainRecord(bytes: Uint8Array): boolean {
  return bytes[0] === RECORD_KINDS.plainGrain || bytes[0] === RECORD_KINDS.plainStatus;
}

/** True for a grain's record of any build. Judges by the first byte. */
export function isGrainRecord(bytes: Uint8Array): boolean {
  return bytes[0] === RECORD_KINDS.grain || bytes[0] === RECORD_KINDS.plainGrain;
}
