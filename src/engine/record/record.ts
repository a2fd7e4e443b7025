// The records of a shard's log, byte by byte. All numbers are big-endian. The first byte says the kind; kinds and
// their layouts are on disk and only ever added to. The log adds a checksum of its own around each.
//
//   1 grain     memory u32 | key u32 | scope key u32 | address 32 | sealed blob
//               As older builds wrote it: with the grain's hash in the clear. `compact` writes it anew as kind 10.
//   2 status    memory u32 | old u32 | new u32 (0: none) | at ms u48 | verification u8 | new address 32
//               As older builds wrote it; `compact` writes it anew as kind 11.
//   3 removal   memory u32 | cause u8 | count u32 | ordinals u32 ...
//   4 key       memory u32 | key u32 (0: a user erased without ever having had one) | kind u8 | action u8 | at ms u48 | token 16 | fingerprint 8 | sealed name
//               A user's destroyed key has, in the name's place, the hash (32) of the erasure's audit entry; older builds
//               left it empty.
//   5 setting   memory u32 | blob key u32 | token key u32 | index key u32 | dropped u8 | sealed JSON of MemorySettings
//   6 audit     memory u32 | entries: see govern/trail/audit-codec.ts
//               As older builds wrote it: its entries make no events.
//   7 reply     memory u32 | token 16 | at ms u48 | sealed {bodyHash, output}
//   8 rule      memory u32 | about u8 | key u32 | at ms u48 | sealed JSON: a policy version, a restriction, a consent
//               key: the user's key that it is sealed under, 0 for the memory's own small key. The state names the records
//               in force (store/rules.ts); the others are history.
//   9 recall    memory u32 | at ms u48 | id 32 | names key u32 | names length u16 | rest id 32 | audit entry 32 |
//               sealed names | sealed rest: a recall record (govern/trail/provenance.ts)
//               names: of persons and things, under the key of the person concerned (0: under the memory's small key).
//               rest id: the id of the record without the names; zeros when it has none.
//  10 grain     memory u32 | key u32 | scope key u32 | of u8 | enciphered hash 32 | sealed blob
//               key: the user's key (of is 1), or the memory's blob key when the grain has no user (of is 0). The grain's
//               key is HKDF(key, scope key); the enciphered hash (record/grain-name.ts) is the sealed blob's additional data.
//  11 status    memory u32 | old u32 | new u32 (0: none) | at ms u48 | verification u8 | name of the new version
//               The name is empty where new is 0.
//  12 further source   memory u32 | grain u32 | at ms u48 | name of the source
//               A stored fact was extracted again, from a source that is not in the grain's bytes. One record a source. The
//               name holds a partition when the source lies in another one than the grain.
//  13 audit     memory u32 | events before u48 | at ms u48 | marks u16 | mark u8 ... | entries as in kind 6
//               events before: the number of events of the memory's partition up to this record. One mark for each of the
//               first entries: the events that it makes (govern/trail/event-kinds.ts). Entries without a mark make none.
import { assert, unreachable } from '../base/assert.ts';
import { grainName, isPlainHash } from './grain-name.ts';

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
const KEY_KIND_NAMES: readonly (KeyKind | undefined)[] = [undefined, 'blob', 'token', 'index', 'user', 'scope'];

export const REMOVAL_CAUSES = { forgotten: 1, erased: 2, dropped: 3, expired: 4, keyDestroyed: 5 } as const;
export type RemovalCause = keyof typeof REMOVAL_CAUSES;
const REMOVAL_CAUSE_NAMES: readonly (RemovalCause | undefined)[] = [
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
export const RULE_TOPICS = { policy: 1, restriction: 2, consent: 3 } as const;
export type RuleTopic = keyof typeof RULE_TOPICS;
const RULE_TOPIC_NAMES: readonly (RuleTopic | undefined)[] = [undefined, 'policy', 'restriction', 'consent'];

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

/** Bytes that a grain record adds to its blob: header and seal. */
export const GRAIN_RECORD_OVERHEAD = 14 + 32 + 28;
/** Offset of the 32 bytes that a grain's record is bound to. The sealed bytes follow them. */
export const GRAIN_BOUND_AT = 14;
export const GRAIN_SEALED_AT = 46;
/** The same offset in records of older builds. */
const PLAIN_BOUND_AT = 13;
const PLAIN_SEALED_AT = 45;
/** Offset of the new version's name in a version link. */
const STANDING_NAME_AT = 20;
/** Offset of the name in a further source's record. */
const SOURCE_NAME_AT = 15;
/** Offset of the sealed name in a key's record. */
const KEY_REST_AT = 41;
/** Offset of the sealed names in a recall record. */
const RECALL_NAMES_AT = 113;
/** Offset of the entries in an audit record of an older build, and of the marks in one of this build. */
const AUDIT_BODY_AT = 5;
const AUDIT_MARKS_AT = 19;
const NO_ADDRESS = '0'.repeat(64);

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each kind of record
export function encodeRecord(record: EngineRecord): Buffer {
  switch (record.kind) {
    case 'grain': {
      const bytes = startGrainRecord(record, record.sealed.length);
      bytes.set(record.sealed, GRAIN_SEALED_AT);
      return bytes;
    }
    case 'status': {
      assert(!isPlainHash(record.newName), 'a link is written with a name');
      const bytes = Buffer.alloc(STANDING_NAME_AT + record.newName.length / 2);
      start(bytes, 'status', record.memory);
      bytes.writeUInt32BE(record.oldOrdinal, 5);
      bytes.writeUInt32BE(record.newOrdinal, 9);
      bytes.writeUIntBE(record.atMs, 13, 6);
      bytes[19] = VERIFICATION_STATES.indexOf(record.verification);
      bytes.write(record.newName, STANDING_NAME_AT, 'hex');
      return bytes;
    }
    case 'furtherSource': {
      assert(!isPlainHash(record.name), 'a source is written with a name');
      const bytes = Buffer.alloc(SOURCE_NAME_AT + record.name.length / 2);
      start(bytes, 'furtherSource', record.memory);
      bytes.writeUInt32BE(record.ordinal, 5);
      bytes.writeUIntBE(record.atMs, 9, 6);
      bytes.write(record.name, SOURCE_NAME_AT, 'hex');
      return bytes;
    }
    case 'removal': {
      const bytes = Buffer.allocUnsafe(10 + record.ordinals.length * 4);
      start(bytes, 'removal', record.memory);
      bytes[5] = REMOVAL_CAUSES[record.cause];
      bytes.writeUInt32BE(record.ordinals.length, 6);
      record.ordinals.forEach((ordinal, i) => {
        bytes.writeUInt32BE(ordinal, 10 + 4 * i);
      });
      return bytes;
    }
    case 'key': {
      const rest = record.auditHash === undefined ? record.sealedName : Buffer.from(record.auditHash, 'hex');
      const bytes = Buffer.allocUnsafe(KEY_REST_AT + rest.length);
      start(bytes, 'key', record.memory);
      bytes.writeUInt32BE(record.key, 5);
      bytes[9] = KEY_KINDS[record.keyKind];
      bytes[10] = record.action === 'made' ? 1 : 2;
      bytes.writeUIntBE(record.atMs, 11, 6);
      assert(record.token.length === 16 && record.fingerprint.length === 8, 'a key record has fixed token sizes');
      bytes.set(record.token, 17);
      bytes.set(record.fingerprint, 33);
      bytes.set(rest, KEY_REST_AT);
      return bytes;
    }
    case 'setting': {
      const bytes = Buffer.allocUnsafe(18 + record.sealed.length);
      start(bytes, 'setting', record.memory);
      bytes.writeUInt32BE(record.blobKey, 5);
      bytes.writeUInt32BE(record.tokenKey, 9);
      bytes.writeUInt32BE(record.indexKey, 13);
      bytes[17] = record.dropped ? 1 : 0;
      bytes.set(record.sealed, 18);
      return bytes;
    }
    case 'audit': {
      const { memory, body, events } = record;
      const head = events === undefined ? AUDIT_BODY_AT : AUDIT_MARKS_AT + events.marks.length;
      const bytes = Buffer.allocUnsafe(head + body.length);
      start(bytes, events === undefined ? 'audit' : 'markedAudit', memory);
      if (events !== undefined) {
        bytes.writeUIntBE(events.before, 5, 6);
        bytes.writeUIntBE(events.atMs, 11, 6);
        bytes.writeUInt16BE(events.marks.length, 17);
        bytes.set(events.marks, AUDIT_MARKS_AT);
      }
      bytes.set(body, head);
      return bytes;
    }
    case 'reply': {
      const bytes = Buffer.allocUnsafe(27 + record.sealed.length);
      start(bytes, 'reply', record.memory);
      assert(record.token.length === 16, 'a reply token has 16 bytes');
      bytes.set(record.token, 5);
      bytes.writeUIntBE(record.atMs, 21, 6);
      bytes.set(record.sealed, 27);
      return bytes;
    }
    case 'rule': {
      const bytes = Buffer.allocUnsafe(16 + record.sealed.length);
      start(bytes, 'rule', record.memory);
      bytes[5] = RULE_TOPICS[record.about];
      bytes.writeUInt32BE(record.key, 6);
      bytes.writeUIntBE(record.atMs, 10, 6);
      bytes.set(record.sealed, 16);
      return bytes;
    }
    case 'recall': {
      const { sealedNames, sealed } = record;
      const bytes = Buffer.alloc(RECALL_NAMES_AT + sealedNames.length + sealed.length);
      start(bytes, 'recall', record.memory);
      bytes.writeUIntBE(record.atMs, 5, 6);
      bytes.write(record.id, 11, 'hex');
      bytes.writeUInt32BE(record.namesKey, 43);
      bytes.writeUInt16BE(sealedNames.length, 47);
      bytes.write(record.restId, 49, 'hex');
      bytes.write(record.auditHash, 81, 'hex');
      bytes.set(sealedNames, RECALL_NAMES_AT);
      bytes.set(sealed, RECALL_NAMES_AT + sealedNames.length);
      return bytes;
    }
    default:
      return unreachable(record);
  }
}

/** A grain's record without its `sealedBytes` sealed bytes, which the caller writes at GRAIN_SEALED_AT. */
export function startGrainRecord(grain: Omit<GrainRecord, 'kind' | 'sealed'>, sealedBytes: number): Buffer {
  assert(grain.userKey !== undefined && grain.bound.length === 32, 'a grain is written with its enciphered hash');
  const bytes = Buffer.allocUnsafe(GRAIN_SEALED_AT + sealedBytes);
  start(bytes, 'grain', grain.memory);
  bytes.writeUInt32BE(grain.key, 5);
  bytes.writeUInt32BE(grain.scopeKey, 9);
  bytes[13] = grain.userKey === 0 ? 0 : 1;
  bytes.set(grain.bound, GRAIN_BOUND_AT);
  return bytes;
}

/**
 * Decodes the record in `bytes`, with views into them. Throws AssertionError for an unknown kind, since the log's
 * checksum was correct.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each kind of record
export function decodeRecord(bytes: Uint8Array): EngineRecord {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  assert(buffer.length >= 5, 'a record has a header');
  const memory = buffer.readUInt32BE(1);
  switch (buffer[0]) {
    case RECORD_KINDS.grain:
    case RECORD_KINDS.plainGrain: {
      const isPlain = buffer[0] === RECORD_KINDS.plainGrain;
      const key = buffer.readUInt32BE(5);
      const sealedAt = isPlain ? PLAIN_SEALED_AT : GRAIN_SEALED_AT;
      return {
        kind: 'grain',
        memory,
        key,
        scopeKey: buffer.readUInt32BE(9),
        userKey: isPlain ? undefined : userKeyOf(key, buffer[13]!),
        bound: buffer.subarray(isPlain ? PLAIN_BOUND_AT : GRAIN_BOUND_AT, sealedAt),
        sealed: buffer.subarray(sealedAt),
      };
    }
    case RECORD_KINDS.status:
    case RECORD_KINDS.plainStatus: {
      const newOrdinal = buffer.readUInt32BE(9);
      return {
        kind: 'status',
        memory,
        oldOrdinal: buffer.readUInt32BE(5),
        newOrdinal,
        atMs: buffer.readUIntBE(13, 6),
        verification: VERIFICATION_STATES[buffer[19]!] ?? '',
        newName: newOrdinal === 0 ? '' : buffer.toString('hex', STANDING_NAME_AT),
      };
    }
    case RECORD_KINDS.furtherSource:
      return {
        kind: 'furtherSource',
        memory,
        ordinal: buffer.readUInt32BE(5),
        atMs: buffer.readUIntBE(9, 6),
        name: buffer.toString('hex', SOURCE_NAME_AT),
      };
    case RECORD_KINDS.removal: {
      const cause = REMOVAL_CAUSE_NAMES[buffer[5]!];
      assert(cause !== undefined, 'a removal has a known cause');
      const ordinals = new Uint32Array(buffer.readUInt32BE(6));
      for (let i = 0; i < ordinals.length; i++) ordinals[i] = buffer.readUInt32BE(10 + 4 * i);
      return { kind: 'removal', memory, cause, ordinals };
    }
    case RECORD_KINDS.key: {
      const keyKind = KEY_KIND_NAMES[buffer[9]!];
      assert(keyKind !== undefined, 'a key record has a known kind');
      const action = buffer[10] === 1 ? 'made' : 'destroyed';
      const rest = buffer.subarray(KEY_REST_AT);
      return {
        kind: 'key',
        memory,
        key: buffer.readUInt32BE(5),
        keyKind,
        action,
        atMs: buffer.readUIntBE(11, 6),
        token: buffer.subarray(17, 33),
        fingerprint: buffer.subarray(33, KEY_REST_AT),
        sealedName: action === 'made' ? rest : rest.subarray(rest.length),
        ...(action === 'destroyed' && rest.length === 32 ? { auditHash: rest.toString('hex') } : {}),
      };
    }
    case RECORD_KINDS.setting:
      return {
        kind: 'setting',
        memory,
        blobKey: buffer.readUInt32BE(5),
        tokenKey: buffer.readUInt32BE(9),
        indexKey: buffer.readUInt32BE(13),
        dropped: buffer[17] === 1,
        sealed: buffer.subarray(18),
      };
    case RECORD_KINDS.audit:
      return { kind: 'audit', memory, body: buffer.subarray(AUDIT_BODY_AT) };
    case RECORD_KINDS.markedAudit: {
      const marksEnd = AUDIT_MARKS_AT + buffer.readUInt16BE(17);
      const marks = buffer.subarray(AUDIT_MARKS_AT, marksEnd);
      const events = { before: buffer.readUIntBE(5, 6), atMs: buffer.readUIntBE(11, 6), marks };
      return { kind: 'audit', memory, body: buffer.subarray(marksEnd), events };
    }
    case RECORD_KINDS.reply:
      return {
        kind: 'reply',
        memory,
        token: buffer.subarray(5, 21),
        atMs: buffer.readUIntBE(21, 6),
        sealed: buffer.subarray(27),
      };
    case RECORD_KINDS.rule: {
      const about = RULE_TOPIC_NAMES[buffer[5]!];
      assert(about !== undefined, 'a rule record has a known topic');
      return {
        kind: 'rule',
        memory,
        about,
        key: buffer.readUInt32BE(6),
        atMs: buffer.readUIntBE(10, 6),
        sealed: buffer.subarray(16),
      };
    }
    case RECORD_KINDS.recall: {
      const namesEnd = RECALL_NAMES_AT + buffer.readUInt16BE(47);
      return {
        kind: 'recall',
        memory,
        atMs: buffer.readUIntBE(5, 6),
        id: buffer.toString('hex', 11, 43),
        namesKey: buffer.readUInt32BE(43),
        sealedNames: buffer.subarray(RECALL_NAMES_AT, namesEnd),
        restId: idAt(buffer, 49),
        auditHash: idAt(buffer, 81),
        sealed: buffer.subarray(namesEnd),
      };
    }
    default:
      throw new Error(`unknown record kind ${buffer[0]}`);
  }
}

/** The key of a recall record in the index. */
export function recallKey(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16);
}

/** True for an entry of an audit chain, which never changes. Judges by the first byte. */
export function isAuditRecord(bytes: Uint8Array): boolean {
  return bytes[0] === RECORD_KINDS.audit || bytes[0] === RECORD_KINDS.markedAudit;
}

/**
 * Where the events of an audit record begin: their count before it, and their time. From unverified bytes, which may be
 * longer than the record. A record of an older build comes before all events. Undefined for another kind.
 */
export function peekedEvents(bytes: Buffer): { readonly before: number; readonly atMs: number } | undefined {
  if (bytes[0] === RECORD_KINDS.audit) return { before: 0, atMs: 0 };
  if (bytes[0] !== RECORD_KINDS.markedAudit || bytes.length < AUDIT_MARKS_AT) return undefined;
  return { before: bytes.readUIntBE(5, 6), atMs: bytes.readUIntBE(11, 6) };
}

/** True for a record of an older build, which holds a grain's hash in the clear. Judges by the first byte. */
export function isPlainRecord(bytes: Uint8Array): boolean {
  return bytes[0] === RECORD_KINDS.plainGrain || bytes[0] === RECORD_KINDS.plainStatus;
}

/** True for a grain's record of any build. Judges by the first byte. */
export function isGrainRecord(bytes: Uint8Array): boolean {
  return bytes[0] === RECORD_KINDS.grain || bytes[0] === RECORD_KINDS.plainGrain;
}

/** 32 bytes as hex; '' for zeros. */
function idAt(bytes: Buffer, offset: number): string {
  const id = bytes.toString('hex', offset, offset + 32);
  return id === NO_ADDRESS ? '' : id;
}

/** The part of a grain's record before the sealed bytes. */
export type GrainHead = Omit<GrainRecord, 'kind' | 'sealed'>;

/**
 * The head of unverified bytes, which may be longer than the record; undefined for another kind. The caller owns it.
 */
export function peekedHead(bytes: Buffer): GrainHead | undefined {
  const isPlain = bytes[0] === RECORD_KINDS.plainGrain;
  if (!isGrainRecord(bytes) || bytes.length < GRAIN_SEALED_AT) return undefined;
  const key = bytes.readUInt32BE(5);
  return {
    memory: bytes.readUInt32BE(1),
    key,
    scopeKey: bytes.readUInt32BE(9),
    userKey: isPlain ? undefined : userKeyOf(key, bytes[13]!),
    bound: Buffer.from(bytes.subarray(isPlain ? PLAIN_BOUND_AT : GRAIN_BOUND_AT).subarray(0, 32)),
  };
}

function userKeyOf(key: number, of: number): number {
  return of === 1 ? key : 0;
}

/** The name in a grain's record; undefined in a record of an older build. */
export function nameInHead({ userKey, scopeKey, bound }: GrainHead): string | undefined {
  if (userKey === undefined) return undefined;
  return grainName({ keys: { user: userKey, scope: scopeKey }, enciphered: bound });
}

function start(bytes: Buffer, kind: RecordKind, memory: number): void {
  bytes[0] = RECORD_KINDS[kind];
  bytes.writeUInt32BE(memory, 1);
}
