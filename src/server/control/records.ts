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
  readonly value: JsonValue;
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

/** The import of a document that goes on after its answer. */
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
};

export function entityId<K extends EntityKind>(kind: K, value: Entities[K]): string {
  return ID_OF[kind](value);
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
      return true;
    default:
      return false;
  }
}

/** Part of the names of settings that hold a planned erasure. */
export const ERASURE_MARK = '/erasure/';
