// Random HTTP/2 connections against a session, without sockets. A model of the peer checks what the session sends.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Random } from '../../../../../test/support/random.ts';
import {
  GRPC_CONNECTION_WINDOW_BYTES,
  GRPC_STREAM_WINDOW_BYTES,
  GRPC_STREAMS_MAX,
} from '../../../../engine/base/limits.ts';
import { unreadBudget } from '../../../byte-budget.ts';
import type { ServedCall } from '../../call-stream.ts';
import { FLAG, FRAME, FRAME_BYTES_MAX, FRAME_HEAD_BYTES, PREFACE, SETTING, WINDOW_BYTES_DEFAULT } from '../frames.ts';
import { HpackDecoder } from '../hpack/decoder.ts';
import { HpackEncoder } from '../hpack/encoder.ts';
import { NativeSession } from '../session.ts';
import type { NativeStream } from '../stream.ts';
import { CALL, h2, uint32 } from './raw-connection.ts';

export interface FuzzReport {
  readonly frames: number;
  readonly connections: number;
  /** Streams that a session accepted. */
  readonly calls: number;
  /** Connections that the session ended, by code. */
  readonly ended: Readonly<Record<number, number>>;
}

/** Sends that many frames. Throws the first violation, with the seed of its connection. */
export async function fuzz(seed: number, frames: number): Promise<FuzzReport> {
  const random = new Random(seed);
  const report = { frames: 0, connections: 0, calls: 0, ended: {} as Record<number, number> };
  while (report.frames < frames) {
    const own = random.u32();
    const connection = new FuzzedConnection(own);
    try {
      await connection.run();
    } catch (error) {
      throw new Error(`the connection of seed ${own}`, { cause: error });
    }
    report.frames += connection.sentFrames;
    report.connections += 1;
    report.calls += connection.calls;
    if (connection.endedWith !== undefined)
      report.ended[connection.endedWith] = (report.ended[connection.endedWith] ?? 0) + 1;
  }
  return report;
}

const HEADERS: readonly (readonly string[])[] = [
  CALL,
  [...CALL, 'grpc-timeout', '10S', 'authorization', `Bearer ${'x'.repeat(60)}`],
  [...CALL, 'x-large', 'y'.repeat(5_000)],
  [...CALL, 'content-length', '10'],
  [...CALL, 'connection', 'close'],
  [':method', 'GET', ':scheme', 'http', ':path', '/', 'X-Upper', '1'],
  ['grpc-status', '0'],
  [],
];

/** A socket as a session uses it. It takes everything, or nothing while `isFull`. */
class FakeSocket {
  readonly remoteAddress = '127.0.0.1';
  readonly written: Buffer[] = [];
  writable = true;
  isFull = false;
  writableLength = 0;
  private readonly listeners = new Map<string, (given?: unknown) => void>();

  on(event: string, listener: (given?: unknown) => void): this {
    this.listeners.set(event, listener);
    return this;
  }

  emit(event: string, given?: unknown): void {
    this.listeners.get(event)?.(given);
  }

  write(bytes: Buffer): boolean {
    assert.ok(this.writable, 'nothing is written after the end');
    this.written.push(bytes);
    if (this.isFull) this.writableLength += bytes.length;
    return !this.isFull;
  }

  drain(): void {
    if (!this.isFull) return;
    this.isFull = false;
    this.writableLength = 0;
    this.emit('drain');
  }

  cork(): void {}
  uncork(): void {}
  pause(): void {}
  resume(): void {}

  end(): void {
    this.writable = false;
  }

  destroy(): void {
    this.writable = false;
    this.emit('close');
  }
}

class FuzzedConnection {
  sentFrames = 0;
  calls = 0;
  endedWith: number | undefined;
  private readonly random: Random;
  private readonly socket = new FakeSocket();
  private readonly peer = new PeerModel();
  private readonly encoder = new HpackEncoder();
  private readonly open = new Set<FuzzedCall>();
  private nextStream = 1;
  /** Some of its frames are not as they should be. */
  private readonly isWild: boolean;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.isWild = this.random.chance(0.5);
  }

  async run(): Promise<void> {
    const { random, socket } = this;
    const unread = unreadBudget(1);
    const session = new NativeSession(socket as unknown as Socket, (stream) => this.accept(stream), unread); // all that it uses
    const chunks: Buffer[] = [PREFACE, h2(FRAME.SETTINGS, 0, 0)];
    const frames = random.between(1, 200);
    for (let at = 0; at < frames && socket.writable; at++) {
      chunks.push(this.frame());
      this.sentFrames += 1;
      if (random.chance(0.7)) continue;
      this.deliver(Buffer.concat(chunks.splice(0)));
      for (const call of [...this.open]) if (random.chance(0.3)) call.act();
      if (random.chance(0.05)) socket.isFull = true;
      else if (random.chance(0.3)) socket.drain();
      await flushed();
      this.check();
    }
    if (random.chance(0.3)) session.close();
    socket.drain();
    await flushed();
    this.check();
    socket.destroy();
    assert.equal(this.open.size, 0, 'every call was closed');
    assert.equal(unread.heldBytes, 0, 'nothing counts of a connection that has closed');
    this.endedWith = this.peer.goneWith;
  }

  private deliver(bytes: Buffer): void {
    const { random } = this;
    let at = 0;
    while (at < bytes.length) {
      const end = random.chance(0.6) ? bytes.length : at + random.between(1, bytes.length - at);
      this.socket.emit('data', bytes.subarray(at, end));
      at = end;
    }
    assert.ok(this.open.size <= GRPC_STREAMS_MAX, 'the number of streams is bounded');
  }

  private check(): void {
    this.peer.read(Buffer.concat(this.socket.written.splice(0)));
  }

  private accept(stream: NativeStream): void {
    this.calls += 1;
    if (this.random.chance(0.1)) {
      stream.refuse({ ':status': '415' });
      return;
    }
    const call = new FuzzedCall(stream, this.random, () => this.open.delete(call));
    this.open.add(call);
    stream.serve(call);
  }

  private frame(): Buffer {
    const { random } = this;
    if (this.nextStream === 1) return this.call(true);
    const bytes = random.weighted<() => Buffer>([
      [60, () => this.call(true)],
      [60, () => this.data()],
      [12, () => h2(FRAME.RST_STREAM, 0, this.stream(), uint32(random.int(14)))],
      [12, () => h2(FRAME.PING, random.int(2), 0, Buffer.alloc(8))],
      [12, () => this.settings()],
      [20, () => this.windowUpdate()],
      [4, () => h2(FRAME.PRIORITY, 0, this.stream(), Buffer.concat([uint32(2 * random.int(9)), Buffer.of(1)]))],
      [4, () => h2(FRAME.GOAWAY, 0, 0, Buffer.alloc(8))],
      [4, () => h2(random.between(10, 255), random.int(256), this.stream(), this.octets(50))],
      [this.isWild ? 30 : 0, () => this.wild()],
    ])();
    if (!this.isWild || random.chance(0.99)) return bytes;
    // From here on, nobody knows what the session reads.
    this.peer.knowsWindows = false;
    bytes[random.int(bytes.length)] = random.int(256);
    return random.chance(0.2) ? bytes.subarray(0, random.int(bytes.length)) : bytes;
  }

  /** A frame that is likely to end its stream or the connection. */
  private wild(): Buffer {
    const { random } = this;
    return random.weighted<() => Buffer>([
      [4, () => this.call(false)],
      [1, () => h2(FRAME.CONTINUATION, random.int(256), this.stream(), this.octets(20))],
      [1, () => h2(FRAME.PUSH_PROMISE, random.int(256), this.stream(), this.octets(20))],
      [1, () => h2(FRAME.HEADERS, FLAG.END_HEADERS, this.nextStream, this.octets(40))],
      [2, () => h2(FRAME.DATA, FLAG.PADDED, this.stream(), this.octets(60))],
      [1, () => h2(FRAME.DATA, 0, random.int(2 * this.nextStream + 2), this.octets(60))],
      [1, () => this.grow(this.stream(), 0)],
      [1, () => this.grow(random.chance(0.5) ? 0 : this.stream(), 2 ** 31 - 1)],
      [2, () => this.anything()],
    ])();
  }

  private anything(): Buffer {
    this.peer.knowsWindows = false;
    return h2(this.random.int(10), this.random.int(256), this.stream(), this.octets(30));
  }

  private call(isNew: boolean): Buffer {
    const { random, encoder } = this;
    const list = random.chance(0.8) ? HEADERS[random.int(2)]! : random.pick(HEADERS);
    encoder.begin();
    if (random.chance(0.5)) encoder.indexed(list);
    else encoder.literal(list);
    const block = Buffer.from(encoder.view());
    const stream = isNew ? this.nextStream : this.stream();
    if (isNew) this.nextStream += 2;
    const ends = random.chance(isNew ? 0.1 : 0.9) ? FLAG.END_STREAM : 0;
    if (random.chance(0.9)) return h2(FRAME.HEADERS, FLAG.END_HEADERS | ends, stream, block);
    const cut = random.int(block.length + 1);
    const [first, rest] = [block.subarray(0, cut), block.subarray(cut)];
    const padding = random.int(10);
    const padded = Buffer.concat([Buffer.of(padding), first, Buffer.alloc(padding)]);
    return Buffer.concat([
      h2(FRAME.HEADERS, FLAG.PADDED | ends, stream, padded),
      h2(FRAME.CONTINUATION, FLAG.END_HEADERS, stream, rest),
    ]);
  }

  private data(): Buffer {
    const { random } = this;
    const ends = random.chance(0.4) ? FLAG.END_STREAM : 0;
    const payload = random.chance(0.02) ? Buffer.alloc(FRAME_BYTES_MAX) : this.octets(60);
    if (random.chance(0.9)) return h2(FRAME.DATA, ends, this.stream(), payload);
    const padding = random.int(20);
    const padded = Buffer.concat([Buffer.of(padding), payload.subarray(0, 1_000), Buffer.alloc(padding)]);
    return h2(FRAME.DATA, ends | FLAG.PADDED, this.stream(), padded);
  }

  private settings(): Buffer {
    const { random, peer } = this;
    if (random.chance(0.3)) return h2(FRAME.SETTINGS, FLAG.ACK, 0);
    const entries = Array.from({ length: random.int(4) }, () => {
      const number = random.pick([SETTING.HEADER_TABLE_SIZE, SETTING.INITIAL_WINDOW_SIZE, SETTING.MAX_FRAME_SIZE, 99]);
      const values = [0, 1, 100, 4_096, 65_535, 100_000];
      const value = number === SETTING.MAX_FRAME_SIZE ? random.between(16_384, 2 ** 24 - 1) : random.pick(values);
      peer.announce(number, value);
      return Buffer.concat([Buffer.of(0, number), uint32(value)]);
    });
    return h2(FRAME.SETTINGS, 0, 0, Buffer.concat(entries));
  }

  private windowUpdate(): Buffer {
    return this.grow(this.random.chance(0.5) ? 0 : this.stream(), this.random.between(1, 50_000));
  }

  private grow(stream: number, bytes: number): Buffer {
    this.peer.grant(stream, bytes);
    return h2(FRAME.WINDOW_UPDATE, 0, stream, uint32(bytes));
  }

  /** Mostly a stream that was opened lately. */
  private stream(): number {
    const { random } = this;
    return Math.max(1, this.nextStream - 2 * random.between(1, random.chance(0.8) ? 3 : 20));
  }

  private octets(most: number): Buffer {
    return Buffer.from(Array.from({ length: this.random.int(most) }, () => this.random.int(256)));
  }
}

const MESSAGES = [Buffer.alloc(0), Buffer.alloc(100), Buffer.alloc(20_000), Buffer.alloc(200_000)];

/** A call that does anything at any time. */
class FuzzedCall implements ServedCall {
  private readonly stream: NativeStream;
  private readonly random: Random;
  private readonly gone: () => void;
  private isFinished = false;
  private isClosed = false;

  constructor(stream: NativeStream, random: Random, gone: () => void) {
    this.stream = stream;
    this.random = random;
    this.gone = gone;
  }

  take(): void {
    assert.ok(!this.isFinished && !this.isClosed, 'no bytes after the end');
    if (this.random.chance(0.1)) this.stream.pause();
  }

  finish(): void {
    assert.ok(!this.isFinished && !this.isClosed, 'a request ends once');
    this.isFinished = true;
    if (this.random.chance(0.7)) this.answer();
  }

  closed(): void {
    assert.ok(!this.isClosed, 'a stream closes once');
    this.isClosed = true;
    this.gone();
  }

  act(): void {
    const { random, stream } = this;
    random.weighted<() => void>([
      [5, () => this.answer()],
      [2, () => stream.pause()],
      [4, () => stream.resume()],
      [3, () => stream.send(random.pick(MESSAGES))],
      [1, () => stream.cancel()],
      [1, () => void stream.drained().catch(() => undefined)],
    ])();
  }

  private answer(): void {
    const trailers = { 'grpc-status': '0', 'grpc-message': 'OK', 'x-request-id': `req_${this.random.int(1_000)}` };
    if (this.random.chance(0.2)) this.stream.end(trailers);
    else this.stream.end(trailers, this.random.pick(MESSAGES));
  }
}

/** The state that a peer keeps: its windows at their widest, and how far each stream of the session has come. */
class PeerModel {
  goneWith: number | undefined;
  /** False once frames were sent that the model does not follow. */
  knowsWindows = true;
  private readonly decoder = new HpackDecoder({ tableBytesMax: 4_096, listBytesMax: 100_000, headersMax: 1_000 });
  private rest: Buffer = Buffer.alloc(0);
  private readonly ended = new Set<number>();
  private readonly sent = new Map<number, number>();
  private readonly granted = new Map<number, number>();
  private widestWindow = WINDOW_BYTES_DEFAULT;
  private sentBytes = 0;

  /** Settings are taken at their widest: the session may not have read them yet. */
  announce(setting: number, value: number): void {
    if (setting === SETTING.INITIAL_WINDOW_SIZE) this.widestWindow = Math.max(this.widestWindow, value);
  }

  grant(stream: number, bytes: number): void {
    this.granted.set(stream, (this.granted.get(stream) ?? 0) + bytes);
  }

  read(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    let at = 0;
    while (this.rest.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + this.rest.readUIntBE(at, 3);
      if (end > this.rest.length) break;
      const payload = this.rest.subarray(at + FRAME_HEAD_BYTES, end);
      this.frame(this.rest[at + 3]!, this.rest[at + 4]!, this.rest.readUInt32BE(at + 5), payload);
      at = end;
    }
    this.rest = this.rest.subarray(at);
  }

  private frame(type: number, flags: number, stream: number, payload: Buffer): void {
    assert.ok(payload.length <= FRAME_BYTES_MAX, 'a frame is not too large');
    switch (type) {
      case FRAME.DATA:
        this.data(stream, payload.length);
        return;
      case FRAME.HEADERS:
        assert.ok(!this.ended.has(stream), 'no headers after the end');
        assert.equal(flags & FLAG.END_HEADERS, FLAG.END_HEADERS);
        assert.ok(this.decoder.decode(payload) !== undefined);
        if ((flags & FLAG.END_STREAM) !== 0) this.ended.add(stream);
        return;
      case FRAME.RST_STREAM:
        assert.equal(payload.length, 4);
        this.ended.add(stream);
        return;
      case FRAME.WINDOW_UPDATE: {
        const most = stream === 0 ? GRPC_CONNECTION_WINDOW_BYTES : GRPC_STREAM_WINDOW_BYTES;
        const bytes = payload.readUInt32BE(0);
        assert.ok(bytes > 0 && bytes <= most, 'a window grows by what was taken');
        return;
      }
      case FRAME.GOAWAY:
        this.goneWith = payload.readUInt32BE(4);
        return;
      case FRAME.SETTINGS:
      case FRAME.PING:
        assert.equal(stream, 0);
        return;
      default:
        assert.fail(`a frame of type ${type}`);
    }
  }

  private data(stream: number, bytes: number): void {
    assert.ok(!this.ended.has(stream), 'no data after the end');
    if (!this.knowsWindows) return;
    const sent = (this.sent.get(stream) ?? 0) + bytes;
    this.sent.set(stream, sent);
    this.sentBytes += bytes;
    assert.ok(sent <= this.widestWindow + (this.granted.get(stream) ?? 0), 'no data beyond the window of the stream');
    const all = WINDOW_BYTES_DEFAULT + (this.granted.get(0) ?? 0);
    assert.ok(this.sentBytes <= all, 'no data beyond the window of the connection');
  }
}

/** The session writes once a turn of the event loop. */
function flushed(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
