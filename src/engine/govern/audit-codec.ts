// The body of an audit record: all entries that one memory got in one group.
//
//   first seq u32 | count u16 | timestamp u48 (seconds) | actors: count u8, each u16 length + UTF-8 |
//   entries: event u8 | actor u8 (index) | subject u8 length + packed | details u16 length + packed | hash 32
//
// Packed text: canonical JSON and pseudonyms hold no control characters, so the bytes 01 and 02 stand for the long
// things in them: 01 + 32 bytes for 64 hex characters, 02 + u8 for a fragment that recurs. An add takes ~85 bytes
// instead of ~200.
import { assert } from '../assert.ts';
import { AUDIT_EVENTS, type AuditEntry, type AuditEvent } from './audit.ts';

const EVENT_NAMES: (AuditEvent | undefined)[] = [];
for (const [name, number] of Object.entries(AUDIT_EVENTS)) EVENT_NAMES[number] = name as AuditEvent;

/** On disk by position: only ever appended to. */
const FRAGMENTS: readonly string[] = [
  '{"grain_type":"belief","hash":"',
  '{"grain_type":"event","hash":"',
  '{"grain_type":"state","hash":"',
  '{"grain_type":"workflow","hash":"',
  '{"grain_type":"action","hash":"',
  '{"grain_type":"observation","hash":"',
  '{"grain_type":"goal","hash":"',
  '{"grain_type":"reasoning","hash":"',
  '{"grain_type":"consensus","hash":"',
  '{"grain_type":"consent","hash":"',
  '{"hash":"',
  '","old_hash":"',
  '","reason_sha256":"',
  '"}',
];
const HEX_RUN = /[0-9a-f]{64}/g;

export function encodeAuditBody(entries: readonly AuditEntry[]): Buffer {
  assert(entries.length > 0 && entries.length < 65_536, 'an audit record has entries, and a u16 of them');
  const actors = [...new Set(entries.map((entry) => entry.actor))];
  assert(actors.length < 256, 'a group has few actors');
  const parts: Buffer[] = [];
  const head = Buffer.alloc(13);
  head.writeUInt32BE(entries[0]!.seq, 0);
  head.writeUInt16BE(entries.length, 4);
  head.writeUIntBE(entries[0]!.timestamp, 6, 6);
  head[12] = actors.length;
  parts.push(head);
  for (const actor of actors) {
    const text = Buffer.from(actor);
    parts.push(Buffer.from([text.length >> 8, text.length & 255]), text);
  }
  for (const entry of entries) {
    const subject = pack(entry.subject);
    const details = pack(entry.details);
    assert(subject.length < 256 && details.length < 65_536, 'audit texts are short');
    const bytes = Buffer.allocUnsafe(5 + subject.length + details.length + 32);
    bytes[0] = AUDIT_EVENTS[entry.event];
    bytes[1] = actors.indexOf(entry.actor);
    bytes[2] = subject.length;
    bytes.set(subject, 3);
    bytes.writeUInt16BE(details.length, 3 + subject.length);
    bytes.set(details, 5 + subject.length);
    bytes.write(entry.hash, 5 + subject.length + details.length, 'hex');
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** Throws RangeError or AssertionError on bytes that `encodeAuditBody` did not make. */
export function decodeAuditBody(body: Uint8Array): AuditEntry[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let seq = bytes.readUInt32BE(0);
  const count = bytes.readUInt16BE(4);
  const timestamp = bytes.readUIntBE(6, 6);
  const actors: string[] = [];
  let at = 13;
  for (let i = 0; i < bytes[12]!; i++) {
    const length = bytes.readUInt16BE(at);
    actors.push(bytes.toString('utf8', at + 2, at + 2 + length));
    at += 2 + length;
  }
  const entries: AuditEntry[] = [];
  for (let i = 0; i < count; i++) {
    const event = EVENT_NAMES[bytes.readUInt8(at)];
    const actor = actors[bytes.readUInt8(at + 1)];
    assert(event !== undefined && actor !== undefined, 'an audit record names known events and actors');
    const subjectEnd = at + 3 + bytes.readUInt8(at + 2);
    const subject = unpack(bytes.subarray(at + 3, subjectEnd));
    const detailsEnd = subjectEnd + 2 + bytes.readUInt16BE(subjectEnd);
    const details = unpack(bytes.subarray(subjectEnd + 2, detailsEnd));
    assert(detailsEnd + 32 <= bytes.length, 'an audit record is whole');
    entries.push({
      seq,
      timestamp,
      event,
      actor,
      subject,
      details,
      hash: bytes.toString('hex', detailsEnd, detailsEnd + 32),
    });
    seq += 1;
    at = detailsEnd + 32;
  }
  return entries;
}

function pack(text: string): Buffer {
  if (text === '') return Buffer.alloc(0);
  const parts: Buffer[] = [];
  let from = 0;
  for (const match of text.matchAll(HEX_RUN)) {
    packPlain(text.slice(from, match.index), parts);
    parts.push(Buffer.from([1]), Buffer.from(match[0], 'hex'));
    from = match.index + 64;
  }
  packPlain(text.slice(from), parts);
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

/** Between two runs of hex the text is usually one fragment as a whole. */
function packPlain(text: string, parts: Buffer[]): void {
  if (text === '') return;
  const fragment = FRAGMENTS.indexOf(text);
  parts.push(fragment < 0 ? Buffer.from(text) : Buffer.from([2, fragment]));
}

function unpack(bytes: Buffer): string {
  let text = '';
  let from = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte !== 1 && byte !== 2) {
      at += 1;
      continue;
    }
    text += bytes.toString('utf8', from, at);
    if (byte === 1) {
      text += bytes.toString('hex', at + 1, at + 33);
      at += 33;
    } else {
      text += FRAGMENTS[bytes.readUInt8(at + 1)] ?? '';
      at += 2;
    }
    from = at;
  }
  return text + bytes.toString('utf8', from);
}
