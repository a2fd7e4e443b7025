// A stored record: its bytes, then their CRC-32, seeded with the sequence number so that a record in the wrong place
// fails its check.
import { crc32 } from 'node:zlib';

export const FRAME_BYTES = 4;

/**
 * Frames `records`, whose sequence numbers begin at `first`. The frames are views of one new block, the only copy on
 * this side: records arrive as many small arrays.
 */
export function frameRecords(records: readonly Uint8Array[], first: number): Uint8Array[] {
  let total = 0;
  for (const record of records) total += record.length + FRAME_BYTES;
  const block = Buffer.allocUnsafeSlow(total);
  const frames: Uint8Array[] = new Array(records.length);
  let at = 0;
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!;
    const end = at + record.length;
    block.set(record, at);
    block.writeUInt32LE(crc32(record, first + i), end);
    frames[i] = block.subarray(at, end + FRAME_BYTES);
    at = end + FRAME_BYTES;
  }
  return frames;
}

/** One frame. `seed` is the sequence number, or 0 for values without one. */
export function frame(bytes: Uint8Array, seed: number): Uint8Array {
  return frameRecords([bytes], seed)[0]!;
}

/**
 * A copy of a frame's bytes, or undefined when the checksum is wrong. Reads only the first `length` bytes of `framed`.
 */
export function unframe(framed: Uint8Array, length: number, seed: number): Buffer | undefined {
  const end = length - FRAME_BYTES;
  if (end < 0) return undefined;
  const bytes = Buffer.allocUnsafe(end);
  bytes.set(framed.subarray(0, end));
  const stored = (framed[end]! | (framed[end + 1]! << 8) | (framed[end + 2]! << 16) | (framed[end + 3]! << 24)) >>> 0;
  return crc32(bytes, seed) === stored ? bytes : undefined;
}
