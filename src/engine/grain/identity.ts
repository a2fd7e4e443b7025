// What makes two grains the same statement: everything in the payload but when it was written down and under which of
// its type's names. Hashing these bytes gives the exact-duplicate identity; they are never stored.

import { GRAIN_DEPTH_MAX } from '../limits.ts';
import { refuse } from './error.ts';
import { typeByByte } from './field-map.ts';
import { HEADER_BYTES } from './header.ts';
import { endOfValue } from './msgpack.ts';

/**
 * Bytes over which the identity of a grain is hashed, or undefined when it has none (an action without tool_call_id).
 * Made from the encoded blob: type byte, four bytes of time (the created_at second for events, observations and
 * states, which happen at a time; else zero), then all entries of the payload but `ca` and `t`. The blob must be one
 * that was strictly decoded or encoded here. Another signed flag or sensitivity is the same statement.
 */
export function identityBytes(blob: Uint8Array): Uint8Array | undefined {
  const typeByte = blob[2]!;
  const spec = typeByByte(typeByte);
  const type = spec?.type;
  const result = Buffer.allocUnsafe(blob.length);
  result[0] = typeByte;
  if (type === 'event' || type === 'observation' || type === 'state') result.set(blob.subarray(5, HEADER_BYTES), 1);
  else result.fill(0, 1, 5);
  let to = 5;
  let hasCallId = false;
  let at = HEADER_BYTES;
  let copiedTo = -1;
  const end = blob.length;
  let count = blob[at++]!;
  if (count >= 0x80 && count < 0x90) count &= 0x0f;
  else if (count === 0xde) {
    count = blob[at]! * 256 + blob[at + 1]!;
    at += 2;
  } else if (count === 0xdf) {
    count = ((blob[at]! * 256 + blob[at + 1]!) * 256 + blob[at + 2]!) * 256 + blob[at + 3]!;
    at += 4;
  } else refuse('ERR_NOT_MAP');
  copiedTo = at;
  for (; count > 0; count--) {
    const entry = at;
    const head = blob[at]!;
    const isCreatedAt = head === 0xa2 && blob[at + 1] === 0x63 && blob[at + 2] === 0x61; // "ca"
    const isType = head === 0xa1 && blob[at + 1] === 0x74; // "t"
    if (head === 0xa4 && blob[at + 1] === 0x74 && blob[at + 2] === 0x63) {
      if (blob[at + 3] === 0x69 && blob[at + 4] === 0x64) hasCallId = true; // "tcid"
    }
    at = skip(blob, skip(blob, at, end), end);
    if (!isCreatedAt && !isType) continue;
    result.set(blob.subarray(copiedTo, entry), to);
    to += entry - copiedTo;
    copiedTo = at;
  }
  result.set(blob.subarray(copiedTo, at), to);
  to += at - copiedTo;
  return type === 'action' && !hasCallId ? undefined : result.subarray(0, to);
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
