// The body of an audit record: all entries of one memory in one group.
//
//   first seq u32 | count u16 | timestamp u48 (seconds) | actors: count u8, each u16 length + UTF-8 |
//   entries: event u8 | actor u8 (index) | subject u8 length + packed | details u16 length + packed | hash 32
//
// Packed text: canonical JSON and pseudonyms hold no control characters, so the bytes 01 to 03 encode their long parts:
// 01 + 32 bytes for 64 hex characters, 02 + u8 for a common fragment, 03 + a name of a grain
// (record/grain-name.ts). An add takes ~95 bytes instead of ~220.
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

/** In the order in which their fragments were added. */
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
const GRAIN_OPENS_NUMBER = FRAGMENTS.indexOf(GRAIN_OPENS);
/** The number of the fragment after the name of an added grain, by its type. */
const GRAIN_CLOSES: ReadonlyMap<string, number> = new Map(
  GRAIN_TYPES.map((type) => [type, FRAGMENTS.indexOf(`","grain_type":"${type}"}`)]),
);
/** An entry with the details of a grain, and what an entry has besides its texts. */
const ENTRY_BYTES = 128;
const HEX_RUN = /[0-9a-f]{64,}/g;
const HASH_DIGITS = 64;

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
  out.writeUInt32BE(seq, 0);
  out.writeUInt16BE(drafts.length, 4);
  out.writeUIntBE(timestamp, 6, 6);
  out[12] = actors.size;
  let at = 13;
  for (const actor of actors.keys()) {
    room(at, 2 + actor.length * 3);
    const length = out.write(actor, at + 2);
    out.writeUInt16BE(length, at);
    at += 2 + length;
  }
  last = undefined;
  let actorNumber = 0;
  for (let i = 0; i < drafts.length; i++) {
    const { event, actor, subject } = drafts[i]!;
    const text = details[i]!;
    room(at, ENTRY_BYTES + (subject.length + (typeof text === 'string' ? text.length : 0)) * 3);
    if (actor !== last) actorNumber = actors.get(actor)!;
    last = actor;
    out[at] = AUDIT_EVENTS[event];
    out[at + 1] = actorNumber;
    const subjectEnd = pack(subject, at + 3);
    assert(subjectEnd - at - 3 < 256, 'a subject is short');
    out[at + 2] = subjectEnd - at - 3;
    const detailsEnd = typeof text === 'string' ? pack(text, subjectEnd + 2) : packDetails(text, subjectEnd + 2);
    assert(detailsEnd - subjectEnd - 2 < 65_536, 'details are short');
    out.writeUInt16BE(detailsEnd - subjectEnd - 2, subjectEnd);
    out.write(hashes[i]!, detailsEnd, 'hex');
    at = detailsEnd + 32;
  }
  return Buffer.from(out.subarray(0, at));
}

/** Throws RangeError or AssertionError for bytes that `encodeAuditBody` did not write. */
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

/** Packs `text` at `at` and returns its end. */
function pack(text: string, at: number): number {
  if (text.length < 64) return packPlain(text, at);
  if (text.startsWith(GRAIN_OPENS)) {
    const end = packGrain(text, at);
    if (end !== undefined) return end;
  }
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

/** Packs the details of a grain, to the bytes that their canonical JSON is packed to. */
function packDetails(details: GrainDetails, at: number): number {
  const close = GRAIN_CLOSES.get(details.type);
  const end = details.writeName(out, at + 3);
  if (close === undefined || nameBytesAt(out, at + 3) !== end - at - 3) return pack(details.canonical, at);
  writeGrainMarks(at, end, close);
  return end + 2;
}

/** Completes the packed details of a grain around its name, which ends at `end`. */
function writeGrainMarks(at: number, end: number, close: number): void {
  out[at] = 2;
  out[at + 1] = GRAIN_OPENS_NUMBER;
  out[at + 2] = 3;
  out[end] = 2;
  out[end + 1] = close;
}

/** Packs details that are a name and a type of grain, as most are, without a search for hex. Undefined for others. */
function packGrain(text: string, at: number): number | undefined {
  const nameEnd = text.indexOf('"', GRAIN_OPENS.length);
  const rest = FRAGMENT_NUMBERS.get(text.slice(nameEnd));
  if (rest === undefined) return undefined;
  const digits = nameEnd - GRAIN_OPENS.length;
  const bytes = out.write(text.slice(GRAIN_OPENS.length, nameEnd), at + 3, 'hex');
  // Text that is not all hex is written up to its first other character.
  if (digits === HASH_DIGITS || 2 * bytes !== digits || nameBytesAt(out, at + 3) !== bytes) return undefined;
  writeGrainMarks(at, at + 3 + bytes, rest);
  return at + 5 + bytes;
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
