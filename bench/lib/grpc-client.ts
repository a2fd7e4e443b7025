// A minimal gRPC client: unary calls as HTTP/2 frames over a plain socket, with prepared bodies. grpc-js spends many
// times as much on a call and would measure itself. A reply with a message is a success; an error has only trailers,
// which are not decoded.
import { connect, type Socket } from 'node:net';

const FRAME_HEAD_BYTES = 9;
const FRAME_BYTES_MAX = 16_384;
const WINDOW_MAX = 2 ** 31 - 1;
const WINDOW_DEFAULT = 65_535;
/** Received bytes after which the connection's window is refilled. */
const WINDOW_REFILL = 2 ** 29;

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const SETTING_CONCURRENT_STREAMS = 3;
const SETTING_INITIAL_WINDOW = 4;

/** The message of the reply, or undefined when the call failed. */
export type Answered = (message: Buffer | undefined) => void;

interface Call {
  readonly answered: Answered;
  /** Remainder of the request. */
  rest: Buffer;
  window: number;
  reply: Buffer[];
}

/** Prepares the head of a call for many calls: method path and metadata. */
export function callHead(path: string, metadata: Readonly<Record<string, string>>): Buffer {
  const literal = (text: string): Buffer => {
    const bytes = Buffer.from(text);
    if (bytes.length > 126) throw new Error('the client writes short headers only');
    return Buffer.concat([Buffer.of(bytes.length), bytes]);
  };
  return Buffer.concat([
    // HPACK: method POST and scheme http from the static table; nothing enters the dynamic one.
    Buffer.of(0x83, 0x86),
    Buffer.concat([Buffer.of(0x04), literal(path)]),
    Buffer.concat([Buffer.of(0x01), literal('localhost')]),
    ...Object.entries({ te: 'trailers', 'content-type': 'application/grpc', ...metadata }).map(([name, value]) =>
      Buffer.concat([Buffer.of(0x00), literal(name), literal(value)]),
    ),
  ]);
}

/** Frames a request's message. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(5 + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
}

export class GrpcConnection {
  readonly #socket: Socket;
  readonly #calls = new Map<number, Call>();
  /** Calls with unsent request bytes, in order. */
  #sending: [number, Call][] = [];
  /** Calls above the server's limit on concurrent streams; sending them would end the connection. */
  #waiting: [head: Buffer, message: Buffer, answered: Answered][] = [];
  #streamsMax = Number.POSITIVE_INFINITY;
  #out: Buffer[] = [];
  #scheduled = false;
  #nextStream = 1;
  #window = WINDOW_DEFAULT;
  #streamWindow = WINDOW_DEFAULT;
  #received = 0;
  #rest: Buffer = Buffer.alloc(0);
  #ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('close', () => this.#end());
    socket.on('error', () => this.#end());
    this.#out.push(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'));
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(SETTING_INITIAL_WINDOW);
    settings.writeUInt32BE(WINDOW_MAX, 2);
    this.#frame(SETTINGS, 0, 0, settings);
    this.#frame(WINDOW_UPDATE, 0, 0, uint32(WINDOW_MAX - WINDOW_DEFAULT));
    this.#schedule();
  }

  static open(port: number): Promise<GrpcConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => resolve(new GrpcConnection(socket)));
      socket.once('error', reject);
    });
  }

  /** Calls with a head of `callHead` and a message of `framed`; `answered` is called once. */
  call(head: Buffer, message: Buffer, answered: Answered): void {
    if (this.#ended) {
      answered(undefined);
      return;
    }
    if (this.#calls.size >= this.#streamsMax) {
      this.#waiting.push([head, message, answered]);
      return;
    }
    const stream = this.#nextStream;
    this.#nextStream += 2;
    const call: Call = { answered, rest: message, window: this.#streamWindow, reply: [] };
    this.#calls.set(stream, call);
    this.#frame(HEADERS, END_HEADERS, stream, head);
    this.#sending.push([stream, call]);
    this.#send();
    this.#schedule();
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(): void {
    const waiting: [number, Call][] = [];
    for (const [stream, call] of this.#sending) {
      while (call.rest.length > 0) {
        const bytes = Math.min(call.rest.length, this.#window, call.window, FRAME_BYTES_MAX);
        if (bytes <= 0) break;
        this.#frame(DATA, bytes === call.rest.length ? END_STREAM : 0, stream, call.rest.subarray(0, bytes));
        call.rest = call.rest.subarray(bytes);
        call.window -= bytes;
        this.#window -= bytes;
      }
      if (call.rest.length > 0) waiting.push([stream, call]);
    }
    this.#sending = waiting;
  }

  #frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    this.#out.push(head, payload as Buffer);
  }

  /** Everything from one turn of the event loop leaves in one write. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#out.length > 0 && !this.#ended) this.#socket.write(Buffer.concat(this.#out));
      this.#out = [];
    });
  }

  #read(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (all.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + all.readUIntBE(at, 3);
      if (end > all.length) break;
      this.#take(all[at + 3]!, all[at + 4]!, all.readUInt32BE(at + 5), all.subarray(at + FRAME_HEAD_BYTES, end));
      at = end;
    }
    this.#rest = all.subarray(at);
    if (this.#out.length > 0) this.#schedule();
  }

  #take(type: number, flags: number, stream: number, payload: Buffer): void {
    switch (type) {
      case DATA:
        this.#received += payload.length;
        if (this.#received > WINDOW_REFILL) {
          this.#frame(WINDOW_UPDATE, 0, 0, uint32(this.#received));
          this.#received = 0;
        }
        this.#calls.get(stream)?.reply.push(payload);
        if ((flags & END_STREAM) !== 0) this.#answer(stream);
        return;
      case HEADERS:
        if ((flags & END_STREAM) !== 0) this.#answer(stream);
        return;
      case RST_STREAM:
        this.#answer(stream, true);
        return;
      case SETTINGS:
        if ((flags & ACK) === 0) this.#configure(payload);
        return;
      case PING:
        if ((flags & ACK) === 0) this.#frame(PING, ACK, 0, Buffer.from(payload));
        return;
      case GOAWAY:
        this.#end();
        return;
      case WINDOW_UPDATE: {
        const more = payload.readUInt32BE(0);
        const call = this.#calls.get(stream);
        if (stream === 0) this.#window += more;
        else if (call !== undefined) call.window += more;
        this.#send();
        return;
      }
      default: // frames that the protocol allows a client to ignore
    }
  }

  #configure(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const setting = payload.readUInt16BE(at);
      if (setting === SETTING_CONCURRENT_STREAMS) this.#streamsMax = payload.readUInt32BE(at + 2);
      if (setting !== SETTING_INITIAL_WINDOW) continue;
      const window = payload.readUInt32BE(at + 2);
      for (const call of this.#calls.values()) call.window += window - this.#streamWindow;
      this.#streamWindow = window;
    }
    this.#frame(SETTINGS, ACK, 0, Buffer.alloc(0));
    this.#send();
  }

  #answer(stream: number, failed = false): void {
    const call = this.#calls.get(stream);
    if (call === undefined) return;
    this.#calls.delete(stream);
    if (call.rest.length > 0) this.#sending = this.#sending.filter(([id]) => id !== stream);
    const reply = call.reply.length === 1 ? call.reply[0]! : Buffer.concat(call.reply);
    call.answered(failed || reply.length < 5 ? undefined : reply.subarray(5));
    const next = this.#calls.size < this.#streamsMax ? this.#waiting.shift() : undefined;
    if (next !== undefined) this.call(...next);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.destroy();
    for (const call of this.#calls.values()) call.answered(undefined);
    this.#calls.clear();
    for (const [, , answered] of this.#waiting.splice(0)) answered(undefined);
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
