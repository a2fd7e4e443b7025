// Record formats of the control log. Each entity has one live record: a kind byte and sealed JSON. A change writes the
// whole entity again and deletes the old record in the same transaction, so the log holds only current state, and
// opening it means reading it. Audit entries are permanent and are not read at open.
//
//   kind u8 | sealed JSON                     under the control key
//   kind u8 + 128 | key u32 | sealed JSON     under a key of its own (record-keys.ts), and the control key

import type { ErrorCode } from '../../engine/base/errors.ts';
import type { EgressAction } from '../../engine/govern/policy/rules.ts';
import type { EventKind } from '../../engine/govern/trail/event-kinds.ts';
import type { JsonObject, JsonValue, MemorySettings } from '../../shards/protocol.ts';
import type { Principal, Scope } from '../auth/principal.ts';
import type { ProviderKind } from '../models/roles.ts';
import type { SignedProof } from '../proofs/erasure-proof.ts';

/** Numbers on disk. Append-only. */
export const RECORD_KINDS = {
  memory: 1,
  key: 2,
  reply: 3,
  setting: 4,
  audit: 5,
  hook: 6,
  hookState: 7,
  provider: 8,
  importJob: 9,
  importFile: 10,
  subjectRequest: 11,
} as const;

/** Added to the kind of a record with its own key. */
export const UNDER_OWN_KEY = 128;

export interface MemoryRecord extends MemorySettings {
  readonly name: string;
  readonly description: string;
  /** The actor that created it. */
  readonly owner: string;

  /** Set by clients; the server does not interpret them. */
  readonly settings?: JsonObject | undefined;
  /** A summary of its policy for lists of memories. The partitions hold the policy itself. */
  readonly governing?: Governing | undefined;
  /** A policy is being sealed that is not recorded here yet. */
  readonly sealing?: true | undefined;
  /** Its keys are being destroyed: the memory no longer answers, and a start continues the deletion. */
  readonly deleting?: true | undefined;
}

export interface Governing {
  /** Version of the policy; absent in records of older builds. */
  readonly version?: number | undefined;
  readonly presets: readonly string[];
  readonly guardrailPatterns: readonly string[];
  readonly guardrailMode: string;
  /** How to treat texts that would go to an external service. */
  readonly egress: EgressAction;
  /** Categories that count as personal data; absent in records of older builds: all. */
  readonly egressCategories?: '*' | readonly string[] | undefined;
  /** A legal hold keeps all data. Unknown when absent, in records of older builds. */
  readonly isHeld?: boolean | undefined;
  /** Regions that its texts are kept in; empty: any. Absent in records of older builds, until a start asks the shards. */
  readonly regions?: readonly string[] | undefined;
  /** Whether a person's grant for `cross_border` lets texts leave the regions; absent as `regions` is. */
  readonly crossBorderConsent?: boolean | undefined;
}

export interface KeyRecord {
  readonly keyId: string;
  readonly name: string;
  readonly principal: string;
  readonly scopes: readonly Scope[];
  /** First 10 characters of the key. */
  readonly prefix: string;
  /** SHA-256 of the key, hex. The key itself is not stored. */
  readonly hash: string;
  readonly createdAtMs: number;
  readonly memoryId?: string | undefined;
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  readonly expiresAtMs?: number | undefined;
  readonly lastUsedAtMs?: number | undefined;
  readonly revokedAtMs?: number | undefined;
  /** Its person was erased: the record names no one. */
  readonly erased?: true | undefined;
  /** The deployment's first key, generated or given at its first start. */
  readonly bootstrap?: true | undefined;
}

/** The answer to a call with an idempotency key, for repeats. */
export interface ReplyRecord {
  readonly id: string;
  readonly bodyHash: string;
  readonly atMs: number;
  /** The answer; what the call made first while `isOpen`. */
  readonly value: JsonValue;
  /** The call has not come to its answer. If the process ended meanwhile, a repeat continues from what was made. */
  readonly isOpen?: true;
}

export interface SettingRecord {
  readonly name: string;
  readonly value: JsonValue;
}

/** A hook: events of a memory that are sent to a URL, or read by its filters. */
export interface HookRecord {
  readonly id: string;
  /** Number of the memory. */
  readonly memory: number;
  readonly name: string;
  /** Absent: the events are read, not sent. */
  readonly url?: string;
  /** Empty: all kinds. */
  readonly filters: readonly EventKind[];
  readonly createdAtMs: number;
  /** For each partition, the number of the last event before the hook began. */
  readonly cursor: readonly number[];
  /** Signs deliveries. */
  readonly secret?: string;
}

/** An event that was given up. */
export interface DeadLetter {
  /** The event's cursor, by which it can be read again while events are kept. */
  readonly cursor: string;
  readonly kind: string;
  readonly atMs: number;
  readonly attempts: number;
  readonly reason: string;
}

/** How far the deliveries of a webhook came. */
export interface HookStateRecord {
  /** Id of the hook. */
  readonly id: string;
  /** For each partition, the number of the last event that was delivered, given up or not wanted. */
  readonly cursor: readonly number[];
  /** Failed tries of the next event. */
  readonly attempts: number;
  /** When that event is tried again. */
  readonly nextAtMs?: number;
  /** Why nothing is delivered until the hook is resumed. */
  readonly pausedReason?: string;
  readonly deadInRow: number;
  /** Numbers since the hook was made. */
  readonly delivered: number;
  readonly dead: number;
  /** The newest ones, the newest last. */
  readonly letters: readonly DeadLetter[];
  /** `[hour since 1970, delivered, given up]` of the last day, the newest last. */
  readonly hours: readonly (readonly [number, number, number])[];
  readonly lastFailure?: { readonly reason: string; readonly atMs: number };
}

/** A service with models. */
export interface ProviderRecord {
  readonly id: string;
  readonly kind: ProviderKind;
  /** Empty for a mock. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly region?: string;
  readonly enabled: boolean;
  readonly createdAtMs: number;
}

/** On whose behalf a job stores: what its chunks' calls carry. */
export interface ImportCaller extends Pick<Principal, 'actor' | 'scope' | 'keyId' | 'agentId'> {
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  readonly purpose?: string | undefined;
}

/** How a document is cut, and what its chunks get. */
export interface ImportJobOptions {
  readonly namespace?: string;
  readonly tags?: string[];
  readonly chunkSize?: number;
  readonly chunkOverlap?: number;
  readonly confidence?: number;
  readonly userId?: string;
  readonly extract?: boolean;
}

/** The import of a document that continues after its answer. */
export interface ImportJobRecord {
  readonly id: string;
  /** Number of the memory. */
  readonly memory: number;
  readonly caller: ImportCaller;
  readonly options: ImportJobOptions;
  readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  readonly phase: 'parsing' | 'chunking' | 'storing' | 'extracting';
  readonly fileName: string;
  /** Known once the document is read. */
  readonly mimeType?: string;
  readonly sizeBytes: number;
  readonly totalChunks?: number;
  readonly processedChunks: number;
  readonly created: number;
  readonly duplicates: number;
  readonly refused: number;
  readonly extracted: number;
  /** Of the first chunks. */
  readonly hashes: readonly string[];
  /** Of the first refused chunks. */
  readonly errors: readonly { readonly index: number; readonly code: ErrorCode; readonly error: string }[];
  readonly warnings: readonly string[];
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  /** The end that was decided. The status shows it once the memory's audit trail has it. */
  readonly ending?: ImportEnding;
}

export interface ImportEnding {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly error?: NonNullable<ImportJobRecord['error']>;
  readonly atMs: number;
}

/** The key of an uploaded file. It goes when the job ends. */
export interface ImportFileRecord {
  /** Id of the job. */
  readonly id: string;
  /** Number of the memory. */
  readonly memory: number;
  readonly bytes: number;
  /** In base64. */
  readonly key: string;
}

/** Kinds of requests of data subjects: GDPR Art. 15, 20, 17, 16, 18 and 21. */
export const SUBJECT_REQUEST_KINDS = [
  'access',
  'portability',
  'erasure',
  'rectification',
  'restriction',
  'objection',
] as const;
export type SubjectRequestKind = (typeof SUBJECT_REQUEST_KINDS)[number];
export const SUBJECT_REQUEST_OUTCOMES = ['fulfilled', 'partly_fulfilled', 'refused', 'withdrawn'] as const;
export type SubjectRequestOutcome = (typeof SUBJECT_REQUEST_OUTCOMES)[number];

/** A count of what a memory held of a person, without a word of it. */
export interface HeldSummary {
  readonly atMs: number;
  readonly count: number;
  /** By grain type, in the order of their number. Times in milliseconds. */
  readonly byType: readonly {
    readonly type: string;
    readonly count: number;
    readonly oldestMs: number;
    readonly newestMs: number;
  }[];
  /** By month of creation in UTC, `2026-11`, oldest first. */
  readonly byMonth: readonly { readonly month: string; readonly count: number }[];
  readonly consents: number;
  /** Null where they were not counted. */
  readonly recalls: number | null;
  readonly restricted: boolean;
}

/** The request of a data subject, with its deadline. It is sealed under a key of its own. */
export interface SubjectRequestRecord {
  readonly id: string;
  /** Number of the memory. */
  readonly memory: number;
  /** Keyed hash of memory and person, by which the request is found once it names nobody. */
  readonly person: string;
  /** Absent once the request was closed and the person erased; so are all free texts. */
  readonly userId?: string;
  readonly kind: SubjectRequestKind;
  /** Requester, in the operator's words. */
  readonly requester?: string;
  readonly note?: string;
  readonly receivedAtMs: number;
  readonly openedAtMs: number;
  readonly openedBy: string;
  readonly days: number;
  readonly extension?: {
    readonly days: number;
    readonly reason?: string;
    readonly atMs: number;
    readonly by: string;
  };
  readonly erasure?: {
    readonly atMs: number;
    readonly count: number;
    /** Empty for a person whom the memory did not know. */
    readonly keyFingerprint: string;
  };
  /** Before the erasure, which follows the record of this. */
  readonly heldBefore?: HeldSummary;
  /** The newest one that was issued. It names the person for as long as the request does. */
  readonly proof?: SignedProof;
  readonly closed?: {
    readonly atMs: number;
    readonly by: string;
    readonly outcome: SubjectRequestOutcome;
    readonly note?: string;
    /** Acts of the audit trail, as the report lists them. */
    readonly acts: readonly SubjectRequestAct[];
  };
}

/** Entries of the audit trail of one kind by one actor, one after the other. */
export interface SubjectRequestAct {
  readonly event: string;
  readonly actor: string;
  /** Of the first and the last one, in seconds. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Hash of the last entry. */
  readonly hash: string;
}

export interface Entities {
  memory: MemoryRecord;
  key: KeyRecord;
  reply: ReplyRecord;
  setting: SettingRecord;
  hook: HookRecord;
  hookState: HookStateRecord;
  provider: ProviderRecord;
  importJob: ImportJobRecord;
  importFile: ImportFileRecord;
  subjectRequest: SubjectRequestRecord;
}
export type EntityKind = keyof Entities;
export const ENTITY_KINDS: readonly EntityKind[] = [
  'memory',
  'key',
  'reply',
  'setting',
  'hook',
  'hookState',
  'provider',
  'importJob',
  'importFile',
  'subjectRequest',
];

const ID_OF: { readonly [K in EntityKind]: (value: Entities[K]) => string } = {
  memory: ({ id }) => id,
  key: ({ keyId }) => keyId,
  reply: ({ id }) => id,
  setting: ({ name }) => name,
  hook: ({ id }) => id,
  hookState: ({ id }) => id,
  provider: ({ id }) => id,
  importJob: ({ id }) => id,
  importFile: ({ id }) => id,
  subjectRequest: ({ id }) => id,
};

export function entityId<K extends EntityKind>(kind: K, value: Entities[K]): string {
  return ID_OF[kind](value);
}

/** The members of a value; undefined for one without. */
export function membersOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/**
 * True for a record that may name a person, or holds a key of a provider or a file: it gets its own key, which is destroyed with the
 * record.
 */
export function hasOwnKey<K extends EntityKind>(kind: K, value: Entities[K]): boolean {
  switch (kind) {
    case 'key': {
      const { userId, principal } = value as KeyRecord; // by its kind
      return userId !== undefined || principal.startsWith('user:');
    }
    case 'setting':
      return (value as SettingRecord).name.includes(ERASURE_MARK); // by its kind
    case 'reply':
    case 'provider':
    case 'importJob':
    case 'importFile':
    case 'subjectRequest':
      return true;
    default:
      return false;
  }
}

/** Name of the setting that changes when an erasure has ended keys. Copies of the control log have it: they see no erasure. */
export const KEYS_ENDED = 'erasures.keys_ended';

/** Part of the names of settings that hold a planned erasure. */
export const ERASURE_MARK = '/erasure/';
