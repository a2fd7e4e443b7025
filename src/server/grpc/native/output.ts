// The output of a connection: the frames of one turn of the event loop leave in one write.
import type { Socket } from 'node:net';
import { FLAG, FRAME, FRAME_BYTES_MAX, FRAME_HEAD_BYTES } from './frames.ts';

const ROOM_BYTES_MIN = 1_024;
const ROOM_BYTES_MAX = 65_536;
/** Larger payloads are sent from where they are. */
const COPY_BYTES_MAX = 4_096;

export class Output {
  private readonly socket: Socket;
  private readonly flushed: (isTaken: boolean) => void;
  /** The bytes written in this turn before `room`. */
  private full: Buffer[] = [];
  private fullBytes = 0;
  private room: Buffer | undefined;
  /** The part of `room` that is not in `full`. */
  private start = 0;
  private end = 0;
  /** Size of the next room: twice what the last turn needed. */
  private wanted = ROOM_BYTES_MIN;
  private isDue = false;

  /** `flushed` is called after each write, with whether the socket has taken it. */
  constructor(socket: Socket, flushed: (isTaken: boolean) => void) {
    this.socket = socket;
    this.flushed = flushed;
  }

  /** Bytes that the socket has not taken. */
  get unsentBytes(): number {
    return this.fullBytes + this.end - this.start + this.socket.writableLength;
  }

  /** Writes a frame's head (RFC 9113, section 4.1); its payload follows. */
  head(type: number, flags: number, stream: number, length: number): void {
    const at = this.reserve(FRAME_HEAD_BYTES);
    const room = this.room!; // reserve made it
    room[at] = length >>> 16;
    room[at + 1] = length >>> 8;
    room[at + 2] = length;
    room[at + 3] = type;
    room[at + 4] = flags;
    room[at + 5] = stream >>> 24;
    room[at + 6] = stream >>> 16;
    room[at + 7] = stream >>> 8;
    room[at + 8] = stream;
  }

  octet(value: number): void {
    const at = this.reserve(1);
    this.room![at] = value; // reserve made it
  }

  uint16(value: number): void {
    this.octet(value >>> 8);
    this.octet(value);
  }

  uint32(value: number): void {
    this.uint16(value >>> 16);
    this.uint16(value);
  }

  /** Large payloads must not change until they are sent. */
  bytes(payload: Uint8Array): void {
    if (payload.length > COPY_BYTES_MAX) this.append(payload);
    else {
      const at = this.reserve(payload.length);
      this.room!.set(payload, at); // reserve made it
    }
  }

  /** A header block: HEADERS and as many CONTINUATION frames as it needs (section 6.10). `block` is copied. */
  headers(stream: number, block: Uint8Array, isLast: boolean): void {
    const endStream = isLast ? FLAG.END_STREAM : 0;
    if (block.length <= FRAME_BYTES_MAX) {
      this.head(FRAME.HEADERS, FLAG.END_HEADERS | endStream, stream, block.length);
      this.bytes(block.length > COPY_BYTES_MAX ? Buffer.from(block) : block);
      return;
    }
    for (let at = 0; at < block.length; at += FRAME_BYTES_MAX) {
      const piece = Buffer.from(block.subarray(at, at + FRAME_BYTES_MAX));
      const endHeaders = at + FRAME_BYTES_MAX >= block.length ? FLAG.END_HEADERS : 0;
      if (at === 0) this.head(FRAME.HEADERS, endHeaders | endStream, stream, piece.length);
      else this.head(FRAME.CONTINUATION, endHeaders, stream, piece.length);
      this.bytes(piece);
    }
  }

  /** Sends what was written, now. */
  flush(): void {
    this.isDue = false;
    this.closeRoom();
    const { full, fullBytes, socket } = this;
    if (fullBytes === 0) return;
    this.full = [];
    this.fullBytes = 0;
    this.wanted = Math.min(Math.max(2 * fullBytes, ROOM_BYTES_MIN), ROOM_BYTES_MAX);
    this.room = undefined;
    this.end = 0;
    this.start = 0;
    if (!socket.writable) return;
    let isTaken = true;
    if (full.length > 1) socket.cork();
    for (const piece of full) isTaken = socket.write(piece);
    if (full.length > 1) socket.uncork();
    this.flushed(isTaken);
  }

  /** The place of so many bytes in `room`. */
  private reserve(bytes: number): number {
    if (!this.isDue) {
      this.isDue = true;
      setImmediate(() => this.flush());
    }
    if (this.room === undefined || this.end + bytes > this.room.length) {
      this.closeRoom();
      this.room = Buffer.allocUnsafe(Math.max(this.wanted, bytes));
      this.start = 0;
      this.end = 0;
      this.wanted = Math.min(2 * this.wanted, ROOM_BYTES_MAX);
    }
    const at = this.end;
    this.end += bytes;
    return at;
  }

  private append(payload: Uint8Array): void {
    this.closeRoom();
    this.full.push(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength));
    this.fullBytes += payload.length;
  }

  private closeRoom(): void {
    if (this.room === undefined || this.end === this.start) return;
    this.full.push(this.room.subarray(this.start, this.end));
    this.fullBytes += this.end - this.start;
    this.start = this.end;
  }
}
