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
//   8 rule      memory u32 | about u8 | key u32 | at ms u48 | sealed JSON: a policy version, a restriction, a consent, an access tuple,
//               an agent's identity, a turn of a harness, its conversation
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
//               name holds a partition when the source is in another one than the grain.
//  13 audit     memory u32 | events before u48 | at ms u48 | marks u16 | mark u8 ... | entries as in kind 6
//               events before: the number of events of the memory's partition up to this record. One mark for each of the
//               first entries: the events that it makes (govern/trail/event-kinds.ts). Entries without a mark make none.
import { assert, unreachable } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import { decodeGrain, GRAIN_BOUND_AT, GRAIN_SEALED_AT, startGrainRecord } from './grain-head.ts';
import { isPlainHash } from './grain-name.ts';
import {
  type AuditRecord,
  type EngineRecord,
  type FurtherSourceRecord,
  type GrainRecord,
  KEY_KIND_NAMES,
  KEY_KINDS,
  type KeyRecord,
  RECORD_KINDS,
  REMOVAL_CAUSE_NAMES,
  REMOVAL_CAUSES,
  type RecallRecord,
  type RecordKind,
  type RemovalRecord,
  type ReplyRecord,
  RULE_TOPIC_NAMES,
  RULE_TOPICS,
  type RuleRecord,
  type SettingRecord,
  type StatusRecord,
  VERIFICATION_STATES,
} from './record.ts';

/** Offset of the new version's name in a version link. */
const STATUS_NAME_AT = 20;
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

export function encodeRecord(record: EngineRecord): Buffer {
  switch (record.kind) {
    case 'grain':
      return encodeGrain(record);
    case 'status':
      return encodeStatus(record);
    case 'furtherSource':
      return encodeFurtherSource(record);
    case 'removal':
      return encodeRemoval(record);
    case 'key':
      return encodeKey(record);
    case 'setting':
      return encodeSetting(record);
    case 'audit':
      return encodeAudit(record);
    case 'reply':
      return encodeReply(record);
    case 'rule':
      return encodeRule(record);
    case 'recall':
      return encodeRecall(record);
    default:
      return unreachable(record);
  }
}

function encodeGrain(record: GrainRecord): Buffer {
  assert(record.bound.length === 32, 'a grain is written with its enciphered hash');
  const bytes = startGrainRecord(record, record.sealed.length);
  bytes.set(record.bound, GRAIN_BOUND_AT);
  bytes.set(record.sealed, GRAIN_SEALED_AT);
  return bytes;
}

function encodeStatus(record: StatusRecord): Buffer {
  assert(!isPlainHash(record.newName), 'a link is written with a name');
  const bytes = Buffer.alloc(STATUS_NAME_AT + record.newName.length / 2);
  start(bytes, 'status', record.memory);
  bytes.writeUInt32BE(record.oldOrdinal, 5);
  bytes.writeUInt32BE(record.newOrdinal, 9);
  bytes.writeUIntBE(record.atMs, 13, 6);
  bytes[19] = VERIFICATION_STATES.indexOf(record.verification);
  bytes.write(record.newName, STATUS_NAME_AT, 'hex');
  return bytes;
}

function encodeFurtherSource(record: FurtherSourceRecord): Buffer {
  assert(!isPlainHash(record.name), 'a source is written with a name');
  const bytes = Buffer.alloc(SOURCE_NAME_AT + record.name.length / 2);
  start(bytes, 'furtherSource', record.memory);
  bytes.writeUInt32BE(record.ordinal, 5);
  bytes.writeUIntBE(record.atMs, 9, 6);
  bytes.write(record.name, SOURCE_NAME_AT, 'hex');
  return bytes;
}

function encodeRemoval(record: RemovalRecord): Buffer {
  const bytes = Buffer.allocUnsafe(10 + record.ordinals.length * 4);
  start(bytes, 'removal', record.memory);
  bytes[5] = REMOVAL_CAUSES[record.cause];
  bytes.writeUInt32BE(record.ordinals.length, 6);
  record.ordinals.forEach((ordinal, i) => {
    bytes.writeUInt32BE(ordinal, 10 + 4 * i);
  });
  return bytes;
}

function encodeKey(record: KeyRecord): Buffer {
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

function encodeSetting(record: SettingRecord): Buffer {
  const bytes = Buffer.allocUnsafe(18 + record.sealed.length);
  start(bytes, 'setting', record.memory);
  bytes.writeUInt32BE(record.blobKey, 5);
  bytes.writeUInt32BE(record.tokenKey, 9);
  bytes.writeUInt32BE(record.indexKey, 13);
  bytes[17] = record.dropped ? 1 : 0;
  bytes.set(record.sealed, 18);
  return bytes;
}

function encodeAudit(record: AuditRecord): Buffer {
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

function encodeReply(record: ReplyRecord): Buffer {
  const bytes = Buffer.allocUnsafe(27 + record.sealed.length);
  start(bytes, 'reply', record.memory);
  assert(record.token.length === 16, 'a reply token has 16 bytes');
  bytes.set(record.token, 5);
  bytes.writeUIntBE(record.atMs, 21, 6);
  bytes.set(record.sealed, 27);
  return bytes;
}

function encodeRule(record: RuleRecord): Buffer {
  const bytes = Buffer.allocUnsafe(16 + record.sealed.length);
  start(bytes, 'rule', record.memory);
  bytes[5] = RULE_TOPICS[record.about];
  bytes.writeUInt32BE(record.key, 6);
  bytes.writeUIntBE(record.atMs, 10, 6);
  bytes.set(record.sealed, 16);
  return bytes;
}

function encodeRecall(record: RecallRecord): Buffer {
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

/**
 * Decodes the record in `bytes`, with views into them. Throws AssertionError for an unknown kind, since the log's
 * checksum was correct.
 */
export function decodeRecord(bytes: Uint8Array): EngineRecord {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  assert(buffer.length >= 5, 'a record has a header');
  const memory = buffer.readUInt32BE(1);
  switch (buffer[0]) {
    case RECORD_KINDS.grain:
    case RECORD_KINDS.plainGrain:
      return decodeGrain(buffer, memory);
    case RECORD_KINDS.status:
    case RECORD_KINDS.plainStatus:
      return decodeStatus(buffer, memory);
    case RECORD_KINDS.furtherSource:
      return decodeFurtherSource(buffer, memory);
    case RECORD_KINDS.removal:
      return decodeRemoval(buffer, memory);
    case RECORD_KINDS.key:
      return decodeKey(buffer, memory);
    case RECORD_KINDS.setting:
      return decodeSetting(buffer, memory);
    case RECORD_KINDS.audit:
      return { kind: 'audit', memory, body: buffer.subarray(AUDIT_BODY_AT) };
    case RECORD_KINDS.markedAudit:
      return decodeMarkedAudit(buffer, memory);
    case RECORD_KINDS.reply:
      return decodeReply(buffer, memory);
    case RECORD_KINDS.rule:
      return decodeRule(buffer, memory);
    case RECORD_KINDS.recall:
      return decodeRecall(buffer, memory);
    default:
      throw new Error(`unknown record kind ${buffer[0]}`);
  }
}

function decodeStatus(buffer: Buffer, memory: number): StatusRecord {
  const newOrdinal = buffer.readUInt32BE(9);
  return {
    kind: 'status',
    memory,
    oldOrdinal: buffer.readUInt32BE(5),
    newOrdinal,
    atMs: buffer.readUIntBE(13, 6),
    verification: VERIFICATION_STATES[buffer[19]!] ?? '',
    newName: newOrdinal === 0 ? '' : buffer.toString('hex', STATUS_NAME_AT),
  };
}

function decodeFurtherSource(buffer: Buffer, memory: number): FurtherSourceRecord {
  return {
    kind: 'furtherSource',
    memory,
    ordinal: buffer.readUInt32BE(5),
    atMs: buffer.readUIntBE(9, 6),
    name: buffer.toString('hex', SOURCE_NAME_AT),
  };
}

function decodeRemoval(buffer: Buffer, memory: number): RemovalRecord {
  const cause = REMOVAL_CAUSE_NAMES[buffer[5]!];
  assert(cause !== undefined, 'a removal has a known cause');
  const ordinals = new Uint32Array(buffer.readUInt32BE(6));
  for (let i = 0; i < ordinals.length; i++) ordinals[i] = buffer.readUInt32BE(10 + 4 * i);
  return { kind: 'removal', memory, cause, ordinals };
}

function decodeKey(buffer: Buffer, memory: number): KeyRecord {
  const keyKind = KEY_KIND_NAMES[buffer[9]!];
  assert(keyKind !== undefined, 'a key record has a known kind');
  const action = buffer[10] === 1 ? 'made' : 'destroyed';
  const rest = buffer.subarray(KEY_REST_AT);
  return defined({
    kind: 'key',
    memory,
    key: buffer.readUInt32BE(5),
    keyKind,
    action,
    atMs: buffer.readUIntBE(11, 6),
    token: buffer.subarray(17, 33),
    fingerprint: buffer.subarray(33, KEY_REST_AT),
    sealedName: action === 'made' ? rest : rest.subarray(rest.length),
    auditHash: action === 'destroyed' && rest.length === 32 ? rest.toString('hex') : undefined,
  });
}

function decodeSetting(buffer: Buffer, memory: number): SettingRecord {
  return {
    kind: 'setting',
    memory,
    blobKey: buffer.readUInt32BE(5),
    tokenKey: buffer.readUInt32BE(9),
    indexKey: buffer.readUInt32BE(13),
    dropped: buffer[17] === 1,
    sealed: buffer.subarray(18),
  };
}

function decodeMarkedAudit(buffer: Buffer, memory: number): AuditRecord {
  const marksEnd = AUDIT_MARKS_AT + buffer.readUInt16BE(17);
  const marks = buffer.subarray(AUDIT_MARKS_AT, marksEnd);
  const events = { before: buffer.readUIntBE(5, 6), atMs: buffer.readUIntBE(11, 6), marks };
  return { kind: 'audit', memory, body: buffer.subarray(marksEnd), events };
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

function decodeReply(buffer: Buffer, memory: number): ReplyRecord {
  return {
    kind: 'reply',
    memory,
    token: buffer.subarray(5, 21),
    atMs: buffer.readUIntBE(21, 6),
    sealed: buffer.subarray(27),
  };
}

function decodeRule(buffer: Buffer, memory: number): RuleRecord {
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

function decodeRecall(buffer: Buffer, memory: number): RecallRecord {
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

/** 32 bytes as hex; '' for zeros. */
function idAt(bytes: Buffer, offset: number): string {
  const id = bytes.toString('hex', offset, offset + 32);
  return id === NO_ADDRESS ? '' : id;
}

function start(bytes: Buffer, kind: RecordKind, memory: number): void {
  bytes[0] = RECORD_KINDS[kind];
  bytes.writeUInt32BE(memory, 1);
}
