// Bytes of requests that may be many: hashed in turns of the event loop, and handed to another thread without a copy.
import { createHash } from 'node:crypto';
import { HANDED_OVER_BYTES, HASHED_AT_ONCE_BYTES } from '../engine/base/limits.ts';

/**
 * SHA-256 of the parts, one after the other, as 64 hexadecimal digits. A megabyte takes .7 ms, and other requests are
 * answered in between.
 */
export async function hashInTurns(...parts: readonly Uint8Array[]): Promise<string> {
  const sum = createHash('sha256');
  for (const part of parts)
    for (let at = 0; at < part.length; at += HASHED_AT_ONCE_BYTES) {
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
      sum.update(part.subarray(at, at + HASHED_AT_ONCE_BYTES));
    }
  return sum.digest('hex');
}

/**
 * The bytes in a buffer that a thread can take over: their own, which the caller then loses, or a copy of a part of another
 * one. Posting them would copy all at once, which takes 25 ms for 45 MB.
 */
export async function handedOver(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  if (bytes.length >= HANDED_OVER_BYTES && isAlone(bytes)) return bytes;
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += HANDED_OVER_BYTES) {
    copy.set(bytes.subarray(at, at + HANDED_OVER_BYTES), at);
    if (at + HANDED_OVER_BYTES < bytes.length) await new Promise((resolve) => setImmediate(resolve));
  }
  return copy;
}

/** True when the buffer has hardly anything besides the bytes: an upload's has its envelope too. */
function isAlone(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  const { buffer, length } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength < length + HANDED_OVER_BYTES;
}
