// The body of an audit record: all entries of one memory in one group.
//
//   255 | first seq u32 | count u16 | timestamp u48 (seconds) | actors: count u8, each u16 length + UTF-8 |
//   subjects: count u16, each u8 length + UTF-8, or 255 + 16 bytes for a pseudonym |
//   entries: event u8 | actor u8 (index) | subject (index, 7 bits a byte, the lowest first) | details | hash 32
//   details: number of a grain's type from 1 u8 + its name (record/grain-name.ts), or 0 + u16 length + packed
//
// A pseudonym is `user:` and 32 hex characters. An add takes 73 to 77 bytes, and each person of the group 17.
//
// Packed text: canonical JSON holds no control characters, so the bytes 01 to 03 encode its long parts: 01 + 32 bytes for
// 64 hex characters, 02 + u8 for a common fragment, 03 + a name of a grain.
//
// Builds up to log format 6 wrote no 255 and no subjects, and entries of another layout. The first byte of the seq, which these bodies
// begin with, would be 255 above 4 billion entries:
//
//   entries: event u8 | actor u8 (index) | subject u8 length + packed | details u16 length + packed | hash 32
import { assert } from '../../base/assert.ts';
import { nameBytesAt } from '../../record/grain-name.ts';
import {
  AUDIT_EVENTS,
  type AuditDraft,
  type AuditEntry,
  type AuditEvent,
  type ChainedDrafts,
  type GrainDetails,
} from './audit.ts';

const EVENT_NAMES: (AuditEvent | undefined)[] = [];
for (const [name, number] of Object.entries(AUDIT_EVENTS)) EVENT_NAMES[number] = name as AuditEvent;

/**
 * Closed: a type added here would move the later fragments, whose numbers are on disk. The details of later types are packed
 * like other text.
 */
const GRAIN_TYPES = [
  'belief',
  'event',
  'state',
  'workflow',
  'action',
  'observation',
  'goal',
  'reasoning',
  'consensus',
  'consent',
] as const;
/** On disk by index: only append to it. */
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
  '{"grain":"',
  ...GRAIN_TYPES.map((type) => `","grain_type":"${type}"}`),
  ...GRAIN_TYPES.map((type) => `","grain_type":"${type}","old_grain":"`),
  ...GRAIN_TYPES.map((type) => `","grain_type":"${type}","reason_hmac":"`),
  '","reason_hmac":"',
];
const FRAGMENT_NUMBERS = new Map(FRAGMENTS.map((fragment, i) => [fragment, i]));
/** How the details of an added grain begin. */
const GRAIN_OPENS = '{"grain":"';
/** The form of details that are packed text. Those of a grain have the number of its type. */
const PACKED = 0;
const GRAIN_FORMS: ReadonlyMap<string, number> = new Map(GRAIN_TYPES.map((type, i) => [type, i + 1]));
/** The same by the text after the name. */
const GRAIN_CLOSES: ReadonlyMap<string, number> = new Map(
  GRAIN_TYPES.map((type, i) => [`","grain_type":"${type}"}`, i + 1]),
);
/** An entry with the details of a grain, and what an entry has besides its texts. */
const ENTRY_BYTES = 128;
const HEX_RUN = /[0-9a-f]{64,}/g;
const HASH_DIGITS = 64;
const HASH_BYTES = 32;
/** The first byte of a body with a list of subjects, and of a subject that is a pseudonym. */
const LISTED = 255;
const PSEUDONYM = 255;
const PSEUDONYM_TEXT = /^user:[0-9a-f]{32}$/;
const PSEUDONYM_OPENS = 'user:';
const PSEUDONYM_BYTES = 16;
/** The number of entries has 16 bits, so an index has at most three bytes of seven bits. */
const ENTRIES_MAX = 2 ** 16 - 1;
const INDEX_BYTES_MAX = 3;

/** Grows to the largest group so far. Results are copied out of it. */
let out = Buffer.allocUnsafeSlow(64 * 1024);

function room(at: number, bytes: number): void {
  if (at + bytes <= out.length) return;
  const grown = Buffer.allocUnsafeSlow(Math.max(out.length * 2, at + bytes));
  out.copy(grown, 0, 0, at);
  out = grown;
}

export function encodeAuditBody(entries: readonly AuditEntry[]): Buffer {
  const details = entries.map((entry) => entry.details);
  const hashes = entries.map(({ hash }) => hash);
  const { seq = 0, timestamp = 0 } = entries[0] ?? {};
  return encodeDrafts({ seq, timestamp }, entries, { details, hashes });
}

/** The body of the entries that `chainDrafts` made of `drafts`. `seq`: that of the first. */
export function encodeDrafts(
  { seq, timestamp }: Pick<AuditEntry, 'seq' | 'timestamp'>,
  drafts: readonly Pick<AuditDraft, 'event' | 'actor' | 'subject'>[],
  { details, hashes }: Pick<ChainedDrafts, 'details' | 'hashes'>,
): Buffer {
  assert(drafts.length > 0 && drafts.length < 65_536, 'an audit record has entries, and a u16 of them');
  const actors = new Map<string, number>();
  // Neighbours mostly have the same actor.
  let last: string | undefined;
  for (let i = 0; i < drafts.length; i++) {
    const { actor } = drafts[i]!;
    if (actor === last) continue;
    last = actor;
    if (!actors.has(actor)) actors.set(actor, actors.size);
  }
  assert(actors.size < 256, 'a group has few actors');
  assert(drafts.length <= ENTRIES_MAX, 'the bytes of a group bound its entries');
  out[0] = LISTED;
  out.writeUInt32BE(seq, 1);
  out.writeUInt16BE(drafts.length, 5);
  out.writeUIntBE(timestamp, 7, 6);
  out[13] = actors.size;
  let at = 14;
  for (const actor of actors.keys()) {
    room(at, 2 + actor.length * 3);
    const length = out.write(actor, at + 2);
    out.writeUInt16BE(length, at);
    at += 2 + length;
  }
  const subjects = numbered(drafts);
  room(at, 2);
  at = out.writeUInt16BE(subjects.size, at);
  for (const subject of subjects.keys()) at = writeSubject(subject, at);
  last = undefined;
  let actorNumber = 0;
  let lastSubject: string | undefined;
  let subjectNumber = 0;
  for (let i = 0; i < drafts.length; i++) {
    const { event, actor, subject } = drafts[i]!;
    const text = details[i]!;
    room(at, ENTRY_BYTES + (typeof text === 'string' ? text.length : 0) * 3);
    if (actor !== last) actorNumber = actors.get(actor)!;
    last = actor;
    if (subject !== lastSubject) subjectNumber = subjects.get(subject)!;
    lastSubject = subject;
    out[at] = AUDIT_EVENTS[event];
    out[at + 1] = actorNumber;
    at += 2;
    let rest = subjectNumber;
    for (; rest > 127; rest >>>= 7) out[at++] = (rest & 127) | 128;
    out[at++] = rest;
    at = typeof text === 'string' ? writeDetails(text, at) : writeGrainDetails(text, at);
    out.write(hashes[i]!, at, 'hex');
    at += HASH_BYTES;
  }
  return Buffer.from(out.subarray(0, at));
}

/** The subjects of the drafts, numbered in their order. */
function numbered(drafts: readonly Pick<AuditDraft, 'subject'>[]): Map<string, number> {
  const subjects = new Map<string, number>();
  let last: string | undefined;
  for (let i = 0; i < drafts.length; i++) {
    const { subject } = drafts[i]!;
    if (subject === last) continue;
    last = subject;
    if (!subjects.has(subject)) subjects.set(subject, subjects.size);
  }
  return subjects;
}

/** Writes an entry of the list of subjects at `at`, and returns its end. */
function writeSubject(subject: string, at: number): number {
  room(at, 1 + subject.length * 3);
  if (PSEUDONYM_TEXT.test(subject)) {
    out[at] = PSEUDONYM;
    return at + 1 + out.write(subject.slice(PSEUDONYM_OPENS.length), at + 1, 'hex');
  }
  const length = out.write(subject, at + 1);
  assert(length < PSEUDONYM, 'a subject is short');
  out[at] = length;
  return at + 1 + length;
}

/** Throws RangeError or AssertionError for bytes that `encodeAuditBody` of this build or an older one did not write. */
export function decodeAuditBody(body: Uint8Array): AuditEntry[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const isListed = bytes[0] === LISTED;
  const reader = new BodyReader(bytes, isListed ? 1 : 0);
  let seq = reader.uint(4);
  const count = reader.uint(2);
  const timestamp = reader.uint(6);
  const actors = Array.from({ length: reader.uint(1) }, () => reader.text(reader.uint(2)));
  const subjects = isListed ? Array.from({ length: reader.uint(2) }, () => readSubject(reader)) : [];
  const entries: AuditEntry[] = [];
  for (let i = 0; i < count; i++) {
    const event = EVENT_NAMES[reader.uint(1)];
    const actor = actors[reader.uint(1)];
    assert(event !== undefined && actor !== undefined, 'an audit record names known events and actors');
    const subject = isListed ? subjects[readIndex(reader)] : unpack(reader.bytes(reader.uint(1)));
    assert(subject !== undefined, 'an audit record names known subjects');
    const details = isListed ? readDetails(reader) : unpack(reader.bytes(reader.uint(2)));
    entries.push({ seq, timestamp, event, actor, subject, details, hash: reader.bytes(HASH_BYTES).toString('hex') });
    seq += 1;
  }
  return entries;
}

/** The sequence number of the first entry in a body of this build or an older one. */
export function firstSeqIn(body: Uint8Array): number {
  return Buffer.from(body.buffer, body.byteOffset, body.length).readUInt32BE(body[0] === LISTED ? 1 : 0);
}

/** Reads a body from front to back. Throws RangeError or AssertionError at its end. */
class BodyReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  uint(bytes: number): number {
    this.#at += bytes;
    return this.#bytes.readUIntBE(this.#at - bytes, bytes);
  }

  bytes(count: number): Buffer {
    this.#at += count;
    assert(this.#at <= this.#bytes.length, 'an audit record is whole');
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  text(bytes: number): string {
    return this.bytes(bytes).toString();
  }

  /** The name of a grain, in hex. */
  name(): string {
    const length = nameBytesAt(this.#bytes, this.#at);
    assert(length !== undefined, 'an audit record names grains');
    return this.bytes(length).toString('hex');
  }
}

function readSubject(reader: BodyReader): string {
  const length = reader.uint(1);
  if (length !== PSEUDONYM) return reader.text(length);
  return `${PSEUDONYM_OPENS}${reader.bytes(PSEUDONYM_BYTES).toString('hex')}`;
}

function readIndex(reader: BodyReader): number {
  let index = 0;
  for (let i = 0; i < INDEX_BYTES_MAX; i++) {
    const byte = reader.uint(1);
    index |= (byte & 127) << (7 * i);
    if (byte < 128) return index;
  }
  throw new RangeError('an index of a subject is too long');
}

function readDetails(reader: BodyReader): string {
  const form = reader.uint(1);
  if (form === PACKED) return unpack(reader.bytes(reader.uint(2)));
  const type = GRAIN_TYPES[form - 1];
  assert(type !== undefined, 'an audit record names known types');
  return `${GRAIN_OPENS}${reader.name()}","grain_type":"${type}"}`;
}

/** Writes details at `at`, and returns their end. */
function writeDetails(text: string, at: number): number {
  if (text.startsWith(GRAIN_OPENS)) {
    const end = writeGrainText(text, at);
    if (end !== undefined) return end;
  }
  return writePacked(text, at);
}

function writePacked(text: string, at: number): number {
  out[at] = PACKED;
  const end = pack(text, at + 3);
  assert(end - at - 3 < 65_536, 'details are short');
  out.writeUInt16BE(end - at - 3, at + 1);
  return end;
}

/** Writes the details of a grain, as `writeDetails` writes their canonical JSON. */
function writeGrainDetails(details: GrainDetails, at: number): number {
  const form = GRAIN_FORMS.get(details.type);
  const end = details.writeName(out, at + 1);
  if (form === undefined || nameBytesAt(out, at + 1) !== end - at - 1) {
    room(at, ENTRY_BYTES + details.canonical.length * 3);
    return writePacked(details.canonical, at);
  }
  out[at] = form;
  return end;
}

/** Writes details that are a name and a type of grain, as most are, without a search for hex. Undefined for others. */
function writeGrainText(text: string, at: number): number | undefined {
  const nameEnd = text.indexOf('"', GRAIN_OPENS.length);
  const form = GRAIN_CLOSES.get(text.slice(nameEnd));
  if (form === undefined) return undefined;
  const digits = nameEnd - GRAIN_OPENS.length;
  const bytes = out.write(text.slice(GRAIN_OPENS.length, nameEnd), at + 1, 'hex');
  // Text that is not all hex is written up to its first other character.
  if (2 * bytes !== digits || nameBytesAt(out, at + 1) !== bytes) return undefined;
  out[at] = form;
  return at + 1 + bytes;
}

/** Packs `text` at `at` and returns its end. */
function pack(text: string, at: number): number {
  if (text.length < 64) return packPlain(text, at);
  let from = 0;
  HEX_RUN.lastIndex = 0;
  for (let match = HEX_RUN.exec(text); match !== null; match = HEX_RUN.exec(text)) {
    const [run] = match;
    const mark = run.length === HASH_DIGITS ? 1 : isName(run) ? 3 : 0;
    if (mark === 0) continue;
    at = packPlain(text.slice(from, match.index), at);
    out[at] = mark;
    at += 1 + out.write(run, at + 1, 'hex');
    from = match.index + run.length;
  }
  return packPlain(from === 0 ? text : text.slice(from), at);
}

/** Between two runs of hex, the text is usually exactly one fragment. */
function packPlain(text: string, at: number): number {
  if (text === '') return at;
  const fragment = FRAGMENT_NUMBERS.get(text);
  if (fragment === undefined) return at + out.write(text, at);
  out[at] = 2;
  out[at + 1] = fragment;
  return at + 2;
}

function isName(run: string): boolean {
  return nameBytesAt([Number.parseInt(run.slice(0, 2), 16)], 0) === run.length / 2;
}

function unpack(bytes: Buffer): string {
  let text = '';
  let from = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte !== 1 && byte !== 2 && byte !== 3) {
      at += 1;
      continue;
    }
    text += bytes.toString('utf8', from, at);
    if (byte === 1) {
      text += bytes.toString('hex', at + 1, at + 33);
      at += 33;
    } else if (byte === 3) {
      const end = at + 1 + (nameBytesAt(bytes, at + 1) ?? 0);
      text += bytes.toString('hex', at + 1, end);
      at = end;
    } else {
      text += FRAGMENTS[bytes.readUInt8(at + 1)] ?? '';
      at += 2;
    }
    from = at;
  }
  return text + bytes.toString('utf8', from);
}
