// A stored record: its bytes, then their CRC-32, seeded with the sequence number so that a record in the wrong place
// fails its check.
import { crc32 } from 'node:zlib';

export const FRAME_BYTES = 4;

/** Frames one after the other. */
export interface FrameBlock {
  readonly frames: Buffer;
  /** Where each frame begins, and where the last one ends. */
  readonly offsets: Uint32Array;
}

/** Frames `records`, whose sequence numbers begin at `first`, in one new block: the only copy on this side. */
export function frameBlock(records: readonly Uint8Array[], first: number): FrameBlock {
  let total = 0;
  for (let i = 0; i < records.length; i++) total += records[i]!.length + FRAME_BYTES;
  const frames = Buffer.allocUnsafeSlow(total);
  const offsets = new Uint32Array(records.length + 1);
  let at = 0;
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!;
    frames.set(record, at);
    at += record.length;
    frames.writeUInt32LE(crc32(record, first + i), at);
    at += FRAME_BYTES;
    offsets[i + 1] = at;
  }
  return { frames, offsets };
}

/** One frame. `seed` is the sequence number, or 0 for values without one. */
export function frame(bytes: Uint8Array, seed: number): Buffer {
  return frameBlock([bytes], seed).frames;
}

/**
 * A copy of a frame's bytes, or undefined when the checksum is wrong. Reads only the first `length` bytes of `framed`.
 */
export function unframe(framed: Buffer, length: number, seed: number): Buffer | undefined {
  const end = length - FRAME_BYTES;
  if (end < 0) return undefined;
  const bytes = Buffer.allocUnsafe(end);
  framed.copy(bytes, 0, 0, end);
  const stored = (framed[end]! | (framed[end + 1]! << 8) | (framed[end + 2]! << 16) | (framed[end + 3]! << 24)) >>> 0;
  return crc32(bytes, seed) === stored ? bytes : undefined;
}

/** True when the checksum of a frame is right. Does not copy. */
export function isWhole(framed: Buffer, seed: number): boolean {
  const end = framed.length - FRAME_BYTES;
  return end >= 0 && crc32(framed.subarray(0, end), seed) === framed.readUInt32LE(end);
}
