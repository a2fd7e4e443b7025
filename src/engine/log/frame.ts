// A record as it is stored: its bytes, then a CRC-32 of them seeded with its sequence, so that a record in another's
// place does not check either.
import { crc32 } from 'node:zlib';

export const FRAME_BYTES = 4;

/**
 * The frames of `records`, which get sequences from `first`. Views of one new block: records arrive as many small
 * arrays, and this is the only copy made of them on this side.
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

/** One frame; `seed` is the sequence, or 0 for what has none. */
export function frame(bytes: Uint8Array, seed: number): Uint8Array {
  return frameRecords([bytes], seed)[0]!;
}

/** A copy of a frame's bytes, or undefined when they do not check. Only the first `length` bytes of `framed` count. */
export function unframe(framed: Uint8Array, length: number, seed: number): Buffer | undefined {
  const end = length - FRAME_BYTES;
  if (end < 0) return undefined;
  const bytes = Buffer.allocUnsafe(end);
  bytes.set(framed.subarray(0, end));
  const stored = (framed[end]! | (framed[end + 1]! << 8) | (framed[end + 2]! << 16) | (framed[end + 3]! << 24)) >>> 0;
  return crc32(bytes, seed) === stored ? bytes : undefined;
}
