// Reads zstd frames: finds their end and inflates them up to a limit. This codec never writes zstd.
import { zstdDecompressSync } from 'node:zlib';
import { refuse } from '../error.ts';

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const DICTIONARY_BYTES = [0, 1, 2, 4];

/** End of the zstd frame at `start`, or -1 if there is none or it is truncated (RFC 8878, section 3.1.1). */
export function endOfFrame(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 6 || MAGIC.some((byte, i) => bytes[start + i] !== byte)) return -1;
  const descriptor = bytes[start + 4]!;
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = descriptor >> 6 === 0 && singleSegment ? 1 : CONTENT_SIZE_BYTES[descriptor >> 6]!;
  let at = start + 5 + (singleSegment ? 0 : 1) + DICTIONARY_BYTES[descriptor & 3]! + sizeBytes;
  for (let last = false; !last; ) {
    if (at + 3 > end) return -1;
    const head = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    last = (head & 1) === 1;
    const type = (head >> 1) & 3;
    if (type === 3) return -1;
    at += 3 + (type === 1 ? 1 : head >> 3);
  }
  if ((descriptor & 0x04) !== 0) at += 4;
  return at <= end ? at : -1;
}

/** The content of one frame. Throws ERR_CORRUPT if it is damaged or exceeds `bytesMax`. */
export function inflateFrame(frame: Uint8Array, bytesMax: number): Buffer {
  try {
    return zstdDecompressSync(frame, { maxOutputLength: Math.max(1, bytesMax) });
  } catch {
    return refuse('ERR_CORRUPT', 'compressed data is broken or inflates past the limit');
  }
}
