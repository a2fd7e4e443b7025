// Sends the frames of a connection, within the connection's window and as fast as its socket takes them.
import type { Socket } from 'node:net';
import { GRPC_CONNECTION_WINDOW_BYTES, GRPC_SOCKET_BYTES_MAX } from '../../../engine/base/limits.ts';
import type { HeaderBlock } from '../call-stream.ts';
import { type Code, FLAG, FRAME, WINDOW_BYTES_DEFAULT, WINDOW_BYTES_MAX } from './frames.ts';
import { Output } from './output.ts';
import type { PeerLimits } from './peer-limits.ts';
import { OWN_SETTINGS } from './peer-settings.ts';
import { ReplyHeaders } from './reply-headers.ts';

const PREFIX_BYTES = 5;

/** A stream with data that its connection did not let it send. */
export interface WaitingStream {
  /** Sends at most one frame of data. False when nothing more can be sent now. */
  pumpFrame(): boolean;
}

export class Sender {
  private readonly output: Output;
  private readonly limits: PeerLimits;
  private readonly replies = new ReplyHeaders();
  private window = WINDOW_BYTES_DEFAULT;
  /** In turns. */
  private readonly waiting = new Set<WaitingStream>();

  constructor(socket: Socket, limits: PeerLimits) {
    this.limits = limits;
    this.output = new Output(socket, (isTaken) => this.flushed(isTaken));
    socket.on('drain', () => this.flushed(true));
  }

  /** Bytes of data that may be sent now, on any stream. */
  get sendBytes(): number {
    return this.output.unsentBytes >= GRPC_SOCKET_BYTES_MAX ? 0 : this.window;
  }

  /** The peer lets the connection send more. False when the window is too large. */
  widen(bytes: number): boolean {
    this.window += bytes;
    if (this.window > WINDOW_BYTES_MAX) return false;
    this.pump();
    return true;
  }

  /** The peer's table of headers has another size. */
  resizeTable(bytesMax: number): void {
    this.replies.resize(bytesMax);
  }

  waits(stream: WaitingStream): void {
    this.waiting.add(stream);
  }

  over(stream: WaitingStream): void {
    this.waiting.delete(stream);
  }

  /** The settings of this server, and the window of its connections. */
  greet(): void {
    const { output } = this;
    output.head(FRAME.SETTINGS, 0, 0, OWN_SETTINGS.length * 3);
    for (let at = 0; at < OWN_SETTINGS.length; at += 2) {
      output.uint16(OWN_SETTINGS[at]!);
      output.uint32(OWN_SETTINGS[at + 1]!);
    }
    this.grow(0, GRPC_CONNECTION_WINDOW_BYTES - WINDOW_BYTES_DEFAULT);
  }

  acknowledgeSettings(): void {
    this.output.head(FRAME.SETTINGS, FLAG.ACK, 0, 0);
  }

  /** Headers before the first message. */
  begin(id: number): void {
    this.output.headers(id, this.replies.begin(), false);
  }

  /** `isWhole`: the peer's window did not cut the piece. */
  data(id: number, piece: Uint8Array, isWhole: boolean): void {
    this.window -= piece.length;
    if (isWhole) this.limits.earn();
    this.output.head(FRAME.DATA, 0, id, piece.length);
    this.output.bytes(piece);
  }

  /** A message with its prefix, in one frame. */
  message(id: number, message: Uint8Array): void {
    const { output } = this;
    const bytes = PREFIX_BYTES + message.length;
    this.window -= bytes;
    this.limits.earn();
    output.head(FRAME.DATA, 0, id, bytes);
    output.octet(0);
    output.uint32(message.length);
    output.bytes(message);
  }

  /** Headers that end a stream. */
  headers(id: number, headers: HeaderBlock): void {
    this.output.headers(id, this.replies.block(headers), true);
  }

  reset(id: number, code: Code): void {
    this.output.head(FRAME.RST_STREAM, 0, id, 4);
    this.output.uint32(code);
  }

  /** Announces that the peer may send more, on a stream or (0) on the connection. */
  grow(id: number, bytes: number): void {
    this.output.head(FRAME.WINDOW_UPDATE, 0, id, 4);
    this.output.uint32(bytes);
  }

  ping(number: number): void {
    this.output.head(FRAME.PING, 0, 0, 8);
    this.output.uint32(0);
    this.output.uint32(number);
  }

  pong(payload: Uint8Array): void {
    this.output.head(FRAME.PING, FLAG.ACK, 0, 8);
    this.output.bytes(payload);
  }

  goAway(lastStream: number, code: Code): void {
    this.output.head(FRAME.GOAWAY, 0, 0, 8);
    this.output.uint32(lastStream);
    this.output.uint32(code);
  }

  /** Sends what was written, now. */
  flush(): void {
    this.output.flush();
  }

  private flushed(isTaken: boolean): void {
    if (!isTaken) return;
    this.limits.read();
    this.pump();
  }

  /** Sends what waits for the connection: a frame of each stream in turn. */
  private pump(): void {
    while (this.waiting.size > 0 && this.sendBytes > 0) {
      for (const stream of [...this.waiting]) {
        if (this.sendBytes <= 0) return;
        if (!stream.pumpFrame()) this.waiting.delete(stream);
      }
    }
  }
}
