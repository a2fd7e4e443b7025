// A connection of raw HTTP/2 frames, for tests: it sends any bytes and reads the frames that come back.
import { connect, type Socket } from 'node:net';
import { FLAG, FRAME, FRAME_HEAD_BYTES, PREFACE } from '../frames.ts';
import { HpackEncoder } from '../hpack/encoder.ts';

export interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Builds a frame. */
export function h2(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A header block that needs no table: names and values in turn. */
export function blockOf(list: readonly string[]): Buffer {
  const encoder = new HpackEncoder();
  encoder.begin();
  encoder.literal(list);
  return Buffer.from(encoder.view());
}

/** Headers of a call. */
export const CALL: readonly string[] = [
  ...[':method', 'POST', ':scheme', 'http', ':path', '/memory.v1.MemoryService/Add', ':authority', 'x'],
  ...['content-type', 'application/grpc', 'te', 'trailers'],
];

/** A call without its request. */
export function callOn(stream: number, list = CALL, flags: number = FLAG.END_HEADERS): Buffer {
  return h2(FRAME.HEADERS, flags, stream, blockOf(list));
}

export class RawConnection {
  readonly frames: RawFrame[] = [];
  readonly closed: Promise<void>;
  isClosed = false;
  private readonly socket: Socket;
  private rest: Buffer = Buffer.alloc(0);
  private wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true;
        this.wake();
        resolve();
      });
    });
  }

  /** Connects, and sends the preface and these settings: numbers and values in turn. */
  static async open(port: number, settings: readonly number[] = []): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const connection = new RawConnection(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    const entries: Buffer[] = [];
    for (let at = 0; at < settings.length; at += 2)
      entries.push(Buffer.concat([Buffer.of(0, settings[at]!), uint32(settings[at + 1]!)]));
    connection.send(PREFACE, h2(FRAME.SETTINGS, 0, 0, Buffer.concat(entries)));
    return connection;
  }

  send(...bytes: Uint8Array[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(bytes));
  }

  /** Sends again and again, while the peer reads, until the connection ends. Returns how often. */
  async flood(bytesOf: (round: number) => Uint8Array, rounds: number): Promise<number> {
    for (let round = 0; round < rounds; round++) {
      if (this.isClosed) return round;
      this.send(bytesOf(round));
      await new Promise((resolve) => setImmediate(resolve));
    }
    return rounds;
  }

  /** The first frame that is so; undefined when the connection ends first. */
  async frame(isIt: (frame: RawFrame) => boolean): Promise<RawFrame | undefined> {
    for (;;) {
      const found = this.frames.find(isIt);
      if (found !== undefined || this.isClosed) return found;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** The code of the last GOAWAY; undefined when there was none. */
  get goneWith(): number | undefined {
    return this.frames.findLast(({ type }) => type === FRAME.GOAWAY)?.payload.readUInt32BE(4);
  }

  /** Reads nothing until `resume`. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(): void {
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.rest = Buffer.concat([this.rest, chunk]);
    while (this.rest.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + this.rest.readUIntBE(0, 3);
      if (this.rest.length < end) break;
      const { rest } = this;
      const payload = rest.subarray(FRAME_HEAD_BYTES, end);
      this.frames.push({ type: rest[3]!, flags: rest[4]!, stream: rest.readUInt32BE(5), payload });
      this.rest = rest.subarray(end);
    }
    this.wake();
  }
}
