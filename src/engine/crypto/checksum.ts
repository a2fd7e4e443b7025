// CRC-32 (IEEE 802.3, as in gzip) detects rotten or torn bytes. It is no protection against tampering; secret bytes are
// sealed as well.
import { crc32 } from 'node:zlib';

export const CHECKSUM_BYTES = 4;

/**
 * Checksum of `bytes`. `seed` binds it to a place (a sequence number, a block number), so that a copy in another place
 * fails.
 */
export function checksum(bytes: Uint8Array, seed = 0): number {
  return crc32(bytes, seed);
}

/** A copy of `bytes` with their checksum appended (u32, little-endian). */
export function withChecksum(bytes: Uint8Array, seed = 0): Buffer {
  const framed = Buffer.allocUnsafe(bytes.length + CHECKSUM_BYTES);
  framed.set(bytes);
  framed.writeUInt32LE(crc32(bytes, seed), bytes.length);
  return framed;
}

/** A view of the bytes that `withChecksum` got, or undefined when the checksum is wrong. */
export function checkedBytes(framed: Uint8Array, seed = 0): Uint8Array | undefined {
  const length = framed.length - CHECKSUM_BYTES;
  if (length < 0) return undefined;
  const bytes = framed.subarray(0, length);
  const stored =
    (framed[length]! | (framed[length + 1]! << 8) | (framed[length + 2]! << 16) | (framed[length + 3]! << 24)) >>> 0;
  return crc32(bytes, seed) === stored ? bytes : undefined;
}
