// Splits a stream's bytes into messages. Each message has a prefix: one byte for compression, and four bytes for its
// length, big-endian.
import { EngineError } from '../../engine/base/errors.ts';
import { GRPC_STATUS } from '../status.ts';
import { ProtocolError } from './trailers.ts';

const PREFIX_BYTES = 5;
const NOTHING = Buffer.alloc(0);
/** Messages from this size on are not copied after their prefix. */
const COPY_BYTES_MAX = 16_384;

export interface Message {
  /** A view of the received bytes. */
  readonly bytes: Buffer;
  readonly isCompressed: boolean;
}

/**
 * A message received in one piece is a view of the received bytes. A partial one is copied to a buffer of its own
 * (`keep`): otherwise a few bytes would keep a whole read alive. A message that arrives byte by byte costs its bytes,
 * not an object for each.
 */
export class MessageReader {
  private bytes: Buffer = NOTHING;
  private start = 0;
  private end = 0;
  /** True when `bytes` is a buffer made here, so that views refer only to it. */
  isOwn = false;
  private readonly bytesMax: number;

  /** `bytesMax`: limit for a message as sent. */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Bytes received and not returned yet. */
  get heldBytes(): number {
    return this.end - this.start;
  }

  /** Size of the buffer. */
  get roomBytes(): number {
    return this.isOwn ? this.bytes.length : this.heldBytes;
  }

  /** Moves partial bytes to a buffer of their own, since the rest may take long to arrive. */
  keep(): void {
    if (!this.isOwn) this.grow(0);
  }

  push(chunk: Buffer): void {
    if (this.start === this.end) {
      this.bytes = chunk;
      this.start = 0;
      this.end = chunk.length;
      this.isOwn = false;
      return;
    }
    if (!this.isOwn || this.end + chunk.length > this.bytes.length) this.grow(chunk.length);
    chunk.copy(this.bytes, this.end);
    this.end += chunk.length;
  }

  /**
   * The next complete message. Throws as soon as its prefix shows that it is too long (LIM-E003) or invalid
   * (ProtocolError).
   */
  next(): Message | undefined {
    const { bytes, start } = this;
    if (this.heldBytes < PREFIX_BYTES) return undefined;
    const flag = bytes[start]!;
    if (flag > 1) throw new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E002', `${flag} is not a valid flag of a message`);
    const length = bytes.readUInt32BE(start + 1);
    if (length > this.bytesMax) throw tooLong(this.bytesMax);
    const end = start + PREFIX_BYTES + length;
    if (end > this.end) return undefined;
    this.start = end;
    return { bytes: bytes.subarray(start + PREFIX_BYTES, end), isCompressed: flag === 1 };
  }

  /** Enlarges the buffer: twice the size, but not beyond the message. */
  private grow(byBytes: number): void {
    const held = this.heldBytes;
    const needed = held + byBytes;
    const whole = held < PREFIX_BYTES ? 0 : PREFIX_BYTES + this.bytes.readUInt32BE(this.start + 1);
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(whole, 2 * needed)));
    this.bytes.copy(grown, 0, this.start, this.end);
    this.bytes = grown;
    this.start = 0;
    this.end = held;
    this.isOwn = true;
  }
}

export function tooLong(bytesMax: number): EngineError {
  return new EngineError('LIM-E003', `the message is larger than the limit of ${bytesMax} bytes`);
}

/** Frames a message: in one piece, or, when it is long, as prefix and message without a copy. */
export function framed(message: Uint8Array): readonly [Uint8Array] | readonly [Uint8Array, Uint8Array] {
  const { length } = message;
  const isCopied = length <= COPY_BYTES_MAX;
  const frame = Buffer.allocUnsafe(isCopied ? PREFIX_BYTES + length : PREFIX_BYTES);
  frame[0] = 0;
  frame.writeUInt32BE(length, 1);
  if (!isCopied) return [frame, message];
  frame.set(message, PREFIX_BYTES);
  return [frame];
}
