// What the control log holds: one live record an entity, a kind byte in the clear and sealed JSON behind it. A change
// writes the whole entity again and deletes its old record in the same transaction, so that the log never holds more
// than what is there now, and opening it is reading it. Audit entries stay for good, and are not read at open.
//
//   kind u8 | sealed JSON                     under the control key
//   kind u8 + 128 | key u32 | sealed JSON     under a key of its own (record-keys.ts), and the control key
import type { EgressAction } from '../../engine/govern/policy/rules.ts';
import type { JsonObject, JsonValue, MemorySettings } from '../../shards/protocol.ts';
import type { Scope } from '../auth/principal.ts';

/** Numbers on disk. Append-only. */
export const RECORD_KINDS = { memory: 1, key: 2, reply: 3, setting: 4, audit: 5 } as const;

/** Added to the kind of a record that lies under a key of its own. */
export const UNDER_OWN_KEY = 128;

export interface MemoryRecord extends MemorySettings {
  readonly name: string;
  readonly description: string;
  /** Actor that made it. */
  readonly owner: string;

  /** The caller's own; they mean nothing to the server. */
  readonly settings?: JsonObject;
  /** What its policy says now, for whoever lists memories: the policy itself is in its partitions. */
  readonly governing?: Governing;
  /** A policy is being sealed that is not noted here yet. */
  readonly sealing?: true;
  /** Its keys are being destroyed: it answers no more, and a start goes on with the deletion. */
  readonly deleting?: true;
}

export interface Governing {
  /** Of the policy; absent in records of older builds. */
  readonly version?: number;
  readonly presets: readonly string[];
  readonly guardrailPatterns: readonly string[];
  readonly guardrailMode: string;
  /** What becomes of texts that would go to a service outside. */
  readonly egress: EgressAction;
  /** What counts as personal data there; absent in records of older builds: all of it. */
  readonly egressCategories?: '*' | readonly string[];
  /** A legal hold keeps everything. Absent in records of older builds: not known. */
  readonly isHeld?: boolean;
}

export interface KeyRecord {
  readonly keyId: string;
  readonly name: string;
  readonly principal: string;
  readonly scopes: readonly Scope[];
  /** First 10 characters of the key. */
  readonly prefix: string;
  /** SHA-256 of the key, hex. The key itself is nowhere. */
  readonly hash: string;
  readonly createdAtMs: number;
  readonly memoryId?: string;
  readonly namespace?: string;
  readonly userId?: string;
  readonly expiresAtMs?: number;
  readonly lastUsedAtMs?: number;
  readonly revokedAtMs?: number;
  /** The person whose it was has been erased: nothing here names them any more. */
  readonly erased?: true;
  /** The key that the deployment made, or was given, at its first start. */
  readonly bootstrap?: true;
}

/** What an idempotency key answered, to be answered again. */
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

export interface Entities {
  memory: MemoryRecord;
  key: KeyRecord;
  reply: ReplyRecord;
  setting: SettingRecord;
}
export type EntityKind = keyof Entities;
export const ENTITY_KINDS: readonly EntityKind[] = ['memory', 'key', 'reply', 'setting'];

export function entityId<K extends EntityKind>(kind: K, value: Entities[K]): string {
  const member = { memory: 'id', key: 'keyId', reply: 'id', setting: 'name' }[kind];
  return String((value as unknown as Record<string, unknown>)[member]); // each entity has the member named above
}

/** True for what may name a person: it lies under a key of its own, which goes with the record. */
export function isPersonal<K extends EntityKind>(kind: K, value: Entities[K]): boolean {
  switch (kind) {
    case 'key': {
      const { userId, principal } = value as KeyRecord; // by its kind
      return userId !== undefined || principal.startsWith('user:');
    }
    case 'setting':
      return (value as SettingRecord).name.includes(ERASURE_MARK); // by its kind
    case 'reply':
      return true;
    default:
      return false;
  }
}

/** In the names of settings that hold what an erasure intends. */
export const ERASURE_MARK = '/erasure/';
