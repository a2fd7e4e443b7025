// The identity of a grain: two grains are the same statement if their payloads differ only in creation time and in the
// alias of their type. A hash of the identity bytes detects exact duplicates; the bytes are never stored.

import { GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import { PassingBytes } from '../../base/passing-bytes.ts';
import { refuse } from '../error.ts';
import { fieldByName, TYPE_FIELD, typeByByte } from './field-map.ts';
import { HEADER_BYTES, peekType } from './header.ts';
import { endOfValue } from './msgpack.ts';

const CREATED_AT_KEY = fieldByName('created_at')!.keyBytes;
const CALL_ID_KEY = fieldByName('tool_call_id')!.keyBytes;
const TYPE_KEY = TYPE_FIELD.keyBytes;
const CONTEXT_KEY = fieldByName('context')!.keyBytes;
const DOCUMENT_KEY = fixedText('document');
const CHUNK_INDEX_KEY = fixedText('chunk_index');

/**
 * The bytes to hash for the identity, or undefined for a grain without one (an action without tool_call_id).
 * Made from the encoded blob: type byte, four bytes of time (the created_at second of a type that is `dated`, else
 * zero), then all payload entries except `ca` and `t`. The time of a document's chunk is zero too: the same file imported
 * later says nothing new. The blob must have been encoded here or decoded strictly. The
 * signed flag and the sensitivity do not affect the identity.
 */
export function identityBytes(blob: Buffer): Uint8Array | undefined {
  const result = Buffer.allocUnsafe(blob.length);
  const length = writeIdentity(blob, result, 0);
  return length < 0 ? undefined : result.subarray(0, length);
}

const passing = new PassingBytes(4_096);

/**
 * Like `identityBytes`, but behind `room` bytes that the caller may write, and the result is overwritten by the next
 * call.
 */
export function passingIdentity(blob: Buffer, room: number): Uint8Array | undefined {
  const most = room + blob.length;
  const isShort = most <= passing.bytes.length;
  const result = isShort ? passing.bytes : Buffer.allocUnsafe(most);
  const length = writeIdentity(blob, result, room);
  if (length < 0) return undefined;
  return isShort ? passing.view(length) : result.subarray(0, length);
}

/** Writes the identity to `result` at `from`. Returns its end, or -1 for a grain without one. */
function writeIdentity(blob: Buffer, result: Buffer, from: number): number {
  const typeByte = peekType(blob);
  const spec = typeByByte(typeByte);
  result[from] = typeByte;
  let to = from + 1;
  for (let at = 5; at < HEADER_BYTES; at++) result[to++] = spec?.dated === true ? blob[at]! : 0;
  let hasCallId = false;
  const end = blob.length;
  const count = entryCount(blob);
  const first = firstEntry(blob);
  let at = first;
  let copiedTo = first;
  for (let i = 0; i < count; i++) {
    const entry = at;
    const isLeftOut = keyIs(blob, at, CREATED_AT_KEY) || keyIs(blob, at, TYPE_KEY);
    hasCallId ||= keyIs(blob, at, CALL_ID_KEY);
    const value = skip(blob, at, end);
    if (spec?.dated === true && keyIs(blob, at, CONTEXT_KEY) && isDocumentChunk(blob, value, end))
      result.fill(0, from + 1, from + 5);
    at = skip(blob, value, end);
    if (at > end) refuse('ERR_CORRUPT');
    if (!isLeftOut) continue;
    blob.copy(result, to, copiedTo, entry);
    to += entry - copiedTo;
    copiedTo = at;
  }
  blob.copy(result, to, copiedTo, at);
  to += at - copiedTo;
  return spec?.type === 'action' && !hasCallId ? -1 : to;
}

/** True for a context that is only the place of a chunk: `{document: {…, chunk_index, …}}`. */
function isDocumentChunk(blob: Uint8Array, context: number, end: number): boolean {
  if (blob[context] !== 0x81 || !keyIs(blob, context + 1, DOCUMENT_KEY)) return false;
  let at = context + 1 + DOCUMENT_KEY.length;
  const head = blob[at] ?? 0;
  if (head < 0x80 || head >= 0x90) return false;
  at += 1;
  for (let left = head & 0x0f; left > 0 && at < end; left--) {
    if (keyIs(blob, at, CHUNK_INDEX_KEY)) return true;
    at = skip(blob, skip(blob, at, end), end);
  }
  return false;
}

function fixedText(text: string): Uint8Array {
  return Uint8Array.of(0xa0 | text.length, ...Buffer.from(text, 'ascii'));
}

/** Number of payload entries. */
function entryCount(blob: Buffer): number {
  const at = HEADER_BYTES;
  const head = blob[at]!;
  if (isFixedMap(head)) return head & 0x0f;
  if (head === 0xde && at + 3 <= blob.length) return blob[at + 1]! * 256 + blob[at + 2]!;
  if (head === 0xdf && at + 5 <= blob.length) return blob.readUInt32BE(at + 1);
  return refuse('ERR_NOT_MAP');
}

/** Position of the first entry of a payload that `entryCount` accepts. */
function firstEntry(blob: Buffer): number {
  const head = blob[HEADER_BYTES]!;
  return HEADER_BYTES + (isFixedMap(head) ? 1 : head === 0xde ? 3 : 5);
}

function isFixedMap(head: number): boolean {
  return head >= 0x80 && head < 0x90;
}

function keyIs(blob: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (blob[at + i] !== key[i]) return false;
  return true;
}

function skip(blob: Uint8Array, at: number, end: number): number {
  const head = blob[at]!;
  if (head >= 0xa0 && head < 0xc0) return at + 1 + (head & 0x1f);
  if (head === 0xd9) return at + 2 + blob[at + 1]!;
  if (head === 0xcb || head === 0xcf) return at + 9;
  const next = endOfValue(blob, at, end, GRAIN_DEPTH_MAX + 1);
  if (next === -1) refuse('ERR_CORRUPT');
  return next;
}
