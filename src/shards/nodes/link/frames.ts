// Frames of a connection between nodes: u32 length, little-endian, then so many bytes.
import { EngineError } from '../../../engine/base/errors.ts';

export const LENGTH_BYTES = 4;

/** Takes bytes as they come and gives whole frames. */
export class FrameReader {
  /** Longer frames are refused before they are kept. May be changed between frames. */
  bytesMax: number;
  #pieces: Buffer[] = [];
  #have = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /**
   * Gives each frame that is complete to `take`, as bytes that it owns. Stops early when `take` returns false. Throws VAL-E001
   * for a frame that is too long; nothing can be read after that.
   */
  push(bytes: Buffer, take: (frame: Buffer) => boolean | undefined): void {
    this.#pieces.push(bytes);
    this.#have += bytes.length;
    for (let length = this.#length(); length !== undefined && this.#have >= LENGTH_BYTES + length; ) {
      const frame = this.#take(length);
      if (take(frame) === false) return;
      length = this.#length();
    }
  }

  /** Of the frame that comes next, once its first bytes are there. */
  #length(): number | undefined {
    if (this.#have < LENGTH_BYTES) return undefined;
    if (this.#pieces[0]!.length < LENGTH_BYTES) this.#pieces = [Buffer.concat(this.#pieces)];
    const length = this.#pieces[0]!.readUInt32LE(0);
    if (length > this.bytesMax)
      throw new EngineError('VAL-E001', `a frame of ${length} bytes is longer than ${this.bytesMax}`);
    return length;
  }

  #take(length: number): Buffer {
    const whole = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    const end = LENGTH_BYTES + length;
    this.#pieces = end < whole.length ? [whole.subarray(end)] : [];
    this.#have -= end;
    return Buffer.from(whole.subarray(LENGTH_BYTES, end));
  }
}

/** `parts` as one frame. */
export function framed(...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt32LE(length, 0);
  let at = LENGTH_BYTES;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}
