// The ids of a recall record. Every recall waits for them, so the JSON that is hashed is written as bytes into one buffer
// of the thread: as texts it would be most of what a recall leaves to the garbage collector.
import { createHash, hash } from 'node:crypto';
import { EXCLUSION_REASONS } from './exclusions.ts';
import {
  BREAKDOWN_FIELDS,
  DIGITS,
  type KeptNames,
  type KeptRecall,
  RANK_AT,
  shownCounts,
  shownQuery,
} from './provenance.ts';

/**
 * The ids of a record with its names and without them: SHA-256, in hex, over the canonical JSON (members sorted by
 * name, no white space) of the result of `shownRecall`. The second is '' for a record without names.
 */
export function recallIds(
  kept: KeptRecall,
  names: KeptNames | undefined,
): { readonly id: string; readonly rest: string } {
  const { counts, total } = shownCounts(kept);
  end = 0;
  member('{"candidate_count":', kept.candidateCount);
  ascii(',"excluded":[');
  writeExcluded(kept.excluded);
  ascii('],"excluded_counts":');
  json(counts);
  member(',"excluded_total":', total);
  ascii(',"namespace":');
  json(kept.namespace);
  member(',"nonce":', kept.nonce);
  ascii(',"principal":');
  json(kept.principal);
  ascii(',"query":');
  const queryAt = end;
  json(shownQuery(kept, names));
  const queryEnd = end;
  ascii(',"query_mode":"');
  ascii(kept.mode);
  ascii('","request_id":');
  json(kept.requestId);
  member(',"result_count":', kept.resultCount);
  ascii(',"results":[');
  writeResults(kept.results);
  member('],"timestamp":', kept.timestamp);
  ascii('}');
  if (names === undefined) return { id: hash('sha256', text.subarray(0, end), 'hex'), rest: '' };
  // Most of the text is before the query, and the same in both.
  const before = createHash('sha256').update(text.subarray(0, queryAt));
  const ofRest = before.copy();
  const id = before.update(text.subarray(queryAt, end)).digest('hex');
  const nameless = Buffer.from(JSON.stringify(shownQuery(kept, undefined)));
  return { id, rest: ofRest.update(nameless).update(text.subarray(queryEnd, end)).digest('hex') };
}

function writeExcluded({ grains, reasons }: KeptRecall['excluded']): void {
  const opens = grains.isHashes ? '{"hash":"' : '{"grain":"';
  const { bytes } = grains;
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const next = grains.endOf(at);
    room(ENTRY_BYTES);
    if (i > 0) text[end++] = COMMA;
    short(opens);
    hex(bytes, at, next);
    short(REASON_ENDS[reasons[i]!]!);
    at = next;
  }
}

const REASON_ENDS = EXCLUSION_REASONS.map((reason) => `","reason":"${reason}"}`);

function writeResults({ grains, scores }: KeptRecall['results']): void {
  const opens = grains.isHashes ? '{"hash":"' : '{"grain":"';
  const { bytes } = grains;
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const next = grains.endOf(at);
    const score = scores[i] ?? [];
    room(ENTRY_BYTES + score.length * NUMBER_BYTES);
    if (i > 0) text[end++] = COMMA;
    short(opens);
    hex(bytes, at, next);
    short('","rank":');
    end = writeInteger(text, end, i + 1);
    short(',"score_breakdown":{');
    writeScore(score);
    short('}}');
    at = next;
  }
}

/** A field's name as a member. */
const FIELD_OPENS = BREAKDOWN_FIELDS.map((name) => `"${name}":`);

function writeScore(numbers: readonly number[]): void {
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    const at = numbers[i]!;
    const value = numbers[i + 1]!;
    if (i > 0) text[end++] = COMMA;
    short(FIELD_OPENS[at] ?? '"undefined":');
    end = at === RANK_AT ? writeInteger(text, end, value) : writeMillionths(text, end, value);
  }
}

/** The buffer grows to the longest record so far. */
const TEXT_BYTES = 65_536;
/** The most of a grain beside its score: its name in hex, its rank or reason, and the names of members. */
const ENTRY_BYTES = 256;
/** The most of half a field of a score: its name, or a number. */
const NUMBER_BYTES = 32;
const COMMA = 0x2c;

let text = Buffer.allocUnsafeSlow(TEXT_BYTES);
let end = 0;

function room(bytes: number): void {
  if (end + bytes <= text.length) return;
  const longer = Buffer.allocUnsafeSlow(2 * (end + bytes));
  longer.set(text.subarray(0, end));
  text = longer;
}

function json(value: unknown): void {
  const written = JSON.stringify(value);
  room(3 * written.length);
  end += text.write(written, end);
}

function ascii(written: string): void {
  room(written.length);
  short(written);
}

/** Where there is room. For short texts a loop is faster than a call. */
function short(written: string): void {
  for (let i = 0; i < written.length; i++) text[end++] = written.charCodeAt(i);
}

function member(opens: string, value: number): void {
  ascii(opens);
  room(NUMBER_BYTES);
  end = writeInteger(text, end, value);
}

function hex(bytes: Uint8Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const digits = HEX_PAIRS[bytes[i]!]!;
    text[end++] = digits >>> 8;
    text[end++] = digits & 0xff;
  }
}

/** The character codes of the two hex digits of each byte. */
const HEX_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0');
  return (digits.charCodeAt(0) << 8) | digits.charCodeAt(1);
});

const ZERO = 0x30;
const SMALL_MAX = 0x3fff_ffff;

/** Writes the digits of `String(value)` to `into` at `at`, and returns their end. */
function writeInteger(into: Buffer, at: number, value: number): number {
  if (!(value >= 0 && value <= SMALL_MAX)) return at + into.write(`${value}`, at);
  let last = at;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) last += 1;
  for (let place = last, rest = value; place >= at; place--) {
    const tenth = Math.floor(rest / 10);
    into[place] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return last + 1;
}

/** Above this, the digits of a double are not exact. */
const EXACT_MAX = 1e15;

/**
 * Writes the text of `String(value / 1e6)` for an integer to `into` at `at`, and returns its end. Finding the shortest
 * text of a double takes two to three times as long.
 */
export function writeMillionths(into: Buffer, at: number, value: number): number {
  const size = Math.abs(value);
  const whole = Math.floor(size / DIGITS);
  let rest = size - whole * DIGITS;
  if (rest === 0 || !(size < EXACT_MAX)) return at + into.write(`${value / DIGITS}`, at);
  if (value < 0) into[at++] = 0x2d;
  at = writeInteger(into, at, whole);
  into[at++] = 0x2e;
  for (let unit = DIGITS / 10; rest > 0; unit /= 10) {
    const digit = Math.floor(rest / unit);
    into[at++] = ZERO + digit;
    rest -= digit * unit;
  }
  return at;
}
