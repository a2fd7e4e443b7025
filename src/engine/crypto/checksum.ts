// CRC-32 (IEEE 802.3, as gzip has it) finds bytes that rotted or were torn; it protects against nobody's intent, for
// which everything secret is sealed besides.
import { crc32 } from 'node:zlib';

export const CHECKSUM_BYTES = 4;

/** Checksum of `bytes`; `seed` binds it to a place (a sequence, a block number), so a misplaced copy fails too. */
export function checksum(bytes: Uint8Array, seed = 0): number {
  return crc32(bytes, seed);
}

/** `bytes` with their checksum after them (u32, little-endian). A copy. */
export function withChecksum(bytes: Uint8Array, seed = 0): Buffer {
  const framed = Buffer.allocUnsafe(bytes.length + CHECKSUM_BYTES);
  framed.set(bytes);
  framed.writeUInt32LE(crc32(bytes, seed), bytes.length);
  return framed;
}

/** A view of what `withChecksum` was given, or undefined when the checksum is not right. */
export function checkedBytes(framed: Uint8Array, seed = 0): Uint8Array | undefined {
  const length = framed.length - CHECKSUM_BYTES;
  if (length < 0) return undefined;
  const bytes = framed.subarray(0, length);
  const stored =
    (framed[length]! | (framed[length + 1]! << 8) | (framed[length + 2]! << 16) | (framed[length + 3]! << 24)) >>> 0;
  return crc32(bytes, seed) === stored ? bytes : undefined;
}
