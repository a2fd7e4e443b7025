// Bytes of a connection to frames (RFC 9113, sections 3.4 and 4.1).
import { CODE, ConnectionError, FRAME_BYTES_MAX, FRAME_HEAD_BYTES, PREFACE } from './frames.ts';

/** Takes one frame: its payload is `bytes` from `start` to `end`. May throw ConnectionError. */
export type TakeFrame = (
  type: number,
  flags: number,
  stream: number,
  bytes: Buffer,
  start: number,
  end: number,
) => void;

const NOTHING = Buffer.alloc(0);

export class FrameReader {
  private readonly take: TakeFrame;
  /** The start of an incomplete frame, or of the preface. */
  private rest: Buffer = NOTHING;
  private isBegun = false;
  private isStopped = false;
  private isPaused = false;

  constructor(take: TakeFrame) {
    this.take = take;
  }

  /** Drops what is left and what follows. */
  stop(): void {
    this.isStopped = true;
    this.rest = NOTHING;
  }

  /** Gives no further frames until `resume`, not even of the chunk that it reads. `push` keeps what it takes meanwhile. */
  pause(): void {
    this.isPaused = true;
  }

  /** Gives the frames that it kept. Throws as `push` does. */
  resume(): void {
    this.isPaused = false;
    const { rest } = this;
    this.rest = NOTHING;
    this.push(rest);
  }

  /**
   * Takes received bytes. Payloads are views of them, or of a copy of a frame that came in pieces. Throws ConnectionError
   * for another preface and for a frame larger than announced, as soon as its head shows it.
   */
  push(chunk: Buffer): void {
    if (this.isStopped) return;
    if (this.isPaused) {
      this.rest = Buffer.concat([this.rest, chunk]);
      return;
    }
    let at = this.isBegun ? 0 : this.preface(chunk);
    if (this.rest.length > 0) at = this.completed(chunk, at);
    while (!this.isStopped && !this.isPaused && chunk.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + lengthAt(chunk, at);
      if (end > chunk.length) break;
      this.frame(chunk, at, end);
      at = end;
    }
    // A copy: few bytes would keep the whole read alive.
    if (!this.isStopped && at < chunk.length) this.rest = Buffer.from(chunk.subarray(at));
  }

  /** Compares the preface; returns the place after it. */
  private preface(chunk: Buffer): number {
    const seen = this.rest.length;
    const length = Math.min(PREFACE.length - seen, chunk.length);
    if (!PREFACE.subarray(seen, seen + length).equals(chunk.subarray(0, length)))
      throw new ConnectionError(CODE.PROTOCOL_ERROR, 'the connection does not begin with the preface of HTTP/2');
    this.isBegun = seen + length === PREFACE.length;
    this.rest = this.isBegun ? NOTHING : PREFACE.subarray(0, seen + length);
    return length;
  }

  /** Completes the frame that began in an earlier chunk, if it ends in this one; returns the place after it. */
  private completed(chunk: Buffer, from: number): number {
    if (!this.isBegun) return chunk.length;
    let at = from;
    if (this.rest.length < FRAME_HEAD_BYTES) {
      at = Math.min(from + FRAME_HEAD_BYTES - this.rest.length, chunk.length);
      this.rest = Buffer.concat([this.rest, chunk.subarray(from, at)]);
      if (this.rest.length < FRAME_HEAD_BYTES) return chunk.length;
    }
    const missing = FRAME_HEAD_BYTES + lengthAt(this.rest, 0) - this.rest.length;
    const end = Math.min(at + missing, chunk.length);
    const whole = Buffer.concat([this.rest, chunk.subarray(at, end)]);
    if (end - at < missing) {
      this.rest = whole;
      return chunk.length;
    }
    this.rest = NOTHING;
    this.frame(whole, 0, whole.length);
    return end;
  }

  private frame(bytes: Buffer, at: number, end: number): void {
    // Section 4.1: the first bit of a stream's number says nothing.
    const stream = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
    this.take(bytes[at + 3]!, bytes[at + 4]!, stream, bytes, at + FRAME_HEAD_BYTES, end);
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
  if (length > FRAME_BYTES_MAX) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'a frame is larger than announced');
  return length;
}
