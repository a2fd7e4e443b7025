// Received bytes of a stream, give me its messages. Each has a prefix: one byte that says whether it is compressed, and
// its length in four, big-endian.
import { EngineError } from '../../engine/base/errors.ts';
import { GRPC_STATUS } from '../status.ts';
import { ProtocolError } from './trailers.ts';

const PREFIX_BYTES = 5;
const NOTHING = Buffer.alloc(0);
/** From here on a message is not copied behind its prefix. */
const COPY_BYTES_MAX = 16_384;

export interface Message {
  /** A view of what was received. */
  readonly bytes: Buffer;
  readonly isCompressed: boolean;
}

/**
 * A message that comes in one piece is a view of what was received. One that has to wait for its rest is copied to room of its
 * own (`keep`): a few bytes would keep all that was received with them, and a message which comes byte by byte costs
 * its bytes and not an object for each of them.
 */
export class MessageReader {
  private bytes: Buffer = NOTHING;
  private start = 0;
  private end = 0;
  /** Whether `bytes` was made here, and so what is given out is a view of nothing else. */
  isOwn = false;
  private readonly bytesMax: number;

  /** `bytesMax`: of a message, as it was sent. */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** How much was received and not given out. */
  get heldBytes(): number {
    return this.end - this.start;
  }

  /** Room that what is held takes. */
  get roomBytes(): number {
    return this.isOwn ? this.bytes.length : this.heldBytes;
  }

  /** The rest of a message may be long in coming: what is held gets room of its own. */
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
   * The next message that is whole. Throws as soon as its prefix tells that it is too long (LIM-E003) or not a message
   * (ProtocolError).
   */
  next(): Message | undefined {
    const { bytes, start } = this;
    if (this.heldBytes < PREFIX_BYTES) return undefined;
    const flag = bytes[start]!;
    if (flag > 1) throw new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E002', `${flag} is no flag of a message`);
    const length = bytes.readUInt32BE(start + 1);
    if (length > this.bytesMax) throw tooLong(this.bytesMax);
    const end = start + PREFIX_BYTES + length;
    if (end > this.end) return undefined;
    this.start = end;
    return { bytes: bytes.subarray(start + PREFIX_BYTES, end), isCompressed: flag === 1 };
  }

  /** Moves what is held to where there is room for more: twice as much, but not beyond the message. */
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
  return new EngineError('LIM-E003', `the message is larger than ${bytesMax} bytes`);
}

/** A message as it is sent: in one piece, or, when it is long, behind its prefix without being copied. */
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
