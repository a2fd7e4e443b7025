// Sends the frames of a connection, within the connection's window and as fast as its socket takes them.
import type { Socket } from 'node:net';
import { EngineError } from '../../../engine/base/errors.ts';
import {
  GRPC_CONNECTION_WINDOW_BYTES,
  GRPC_SOCKET_BYTES_MAX,
  GRPC_UNREAD_BYTES_MAX,
} from '../../../engine/base/limits.ts';
import type { ByteBudget, Share } from '../../byte-budget.ts';
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

export interface SenderOptions {
  readonly limits: PeerLimits;
  /** Of what connections could not send, other than the data of long answers. */
  readonly unread: ByteBudget;
  /** Called when the socket has taken everything. */
  readonly taken: () => void;
}

export class Sender {
  private readonly socket: Socket;
  private readonly output: Output;
  private readonly limits: PeerLimits;
  private readonly budget: ByteBudget;
  private readonly taken: () => void;
  /** Ends of calls and short messages that were written since the socket last took everything. */
  private endBytes = 0;
  private share: Share | undefined;
  private readonly replies = new ReplyHeaders();
  private window = WINDOW_BYTES_DEFAULT;
  /** In turns. */
  private readonly waiting = new Set<WaitingStream>();

  constructor(socket: Socket, { limits, unread, taken }: SenderOptions) {
    this.socket = socket;
    this.limits = limits;
    this.budget = unread;
    this.taken = taken;
    this.output = new Output(socket, (isTaken) => this.flushed(isTaken));
    socket.on('drain', () => this.flushed(true));
  }

  /** Bytes of data that may be sent now, on any stream. */
  get sendBytes(): number {
    return this.output.unsentBytes >= GRPC_SOCKET_BYTES_MAX ? 0 : this.window;
  }

  /** True while the peer has to read before more of its requests are. */
  get isFull(): boolean {
    return this.output.unsentBytes >= GRPC_UNREAD_BYTES_MAX;
  }

  /** The connection has ended. */
  close(): void {
    this.endBytes = 0;
    this.share?.release();
    this.share = undefined;
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
    this.endBytes += bytes;
    this.limits.earn();
    output.head(FRAME.DATA, 0, id, bytes);
    output.octet(0);
    output.uint32(message.length);
    output.bytes(message);
  }

  /** Headers that end a stream. */
  headers(id: number, headers: HeaderBlock): void {
    const block = this.replies.block(headers);
    this.endBytes += block.length;
    this.output.headers(id, block, true);
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
    if (!isTaken) {
      this.count();
      return;
    }
    this.close();
    this.limits.read();
    this.pump();
    this.taken();
  }

  /** Counts what the socket has not taken. A peer that reads nothing is disconnected when the memory is short. */
  private count(): void {
    const { socket } = this;
    this.share ??= this.budget.share(() => socket.destroy());
    try {
      this.share.hold(Math.min(this.endBytes, socket.writableLength));
    } catch (caught) {
      if (!(caught instanceof EngineError)) throw caught;
      socket.destroy();
    }
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
