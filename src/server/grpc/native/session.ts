// One HTTP/2 connection of the server's side (RFC 9113): its streams, its windows and its settings.
import type { Socket } from 'node:net';
import {
  GRPC_CONNECTION_WINDOW_BYTES,
  GRPC_CONTROL_UNREAD_MAX,
  GRPC_GOODBYE_MS,
  GRPC_HEADERS_MAX,
  GRPC_IDLE_FRAMES_AT_ONCE,
  GRPC_IDLE_FRAMES_PER_ANSWER_FRAME,
  GRPC_IDLE_FRAMES_PER_SECOND,
  GRPC_RESETS_AT_ONCE,
  GRPC_RESETS_PER_SECOND,
  GRPC_SOCKET_BYTES_MAX,
  GRPC_STREAMS_MAX,
  HEADER_BYTES_MAX,
} from '../../../engine/base/limits.ts';
import type { HeaderBlock } from '../call-stream.ts';
import type { Link } from '../connection.ts';
import { Allowance } from './allowance.ts';
import { CLOSED, ClosedStreams } from './closed-streams.ts';
import { FrameReader } from './frame-reader.ts';
import { CODE, type Code, ConnectionError, FLAG, FRAME, WINDOW_BYTES_DEFAULT, WINDOW_BYTES_MAX } from './frames.ts';
import { HeadMemo } from './head-memo.ts';
import { HeaderGathering } from './header-gathering.ts';
import { HpackDecoder } from './hpack/decoder.ts';
import { TABLE_BYTES_DEFAULT } from './hpack/encoder.ts';
import { HpackError } from './hpack/hpack-error.ts';
import { Output } from './output.ts';
import { OWN_SETTINGS, peerSettingsIn } from './peer-settings.ts';
import { ReplyHeaders } from './reply-headers.ts';
import { areTrailers, type RequestHead, requestHeadOf } from './request-head.ts';
import { NativeStream, type StreamCarrier } from './stream.ts';

/** Window updates of the connection are sent for at least this much. */
const GROW_BYTES_MIN = GRPC_CONNECTION_WINDOW_BYTES / 2;
/** Section 6.3. */
const PRIORITY_BYTES = 5;

export class NativeSession implements Link, StreamCarrier {
  readonly remoteAddress: string;
  isHeard = false;
  private readonly socket: Socket;
  private readonly accept: (stream: NativeStream) => void;
  private readonly reader = new FrameReader((type, flags, stream, bytes, start, end) =>
    this.frame(type, flags, stream, bytes, start, end),
  );
  private readonly output: Output;

  private readonly streams = new Map<number, NativeStream>();
  private readonly closedStreams = new ClosedStreams();
  private lastStream = 0;
  /** The last one that was not refused because the connection ends. */
  private lastAccepted = 0;
  /** No more streams are accepted. */
  private isEnding = false;
  /** Nothing more is read or written. */
  private isOver = false;

  private readonly decoder = new HpackDecoder({
    tableBytesMax: TABLE_BYTES_DEFAULT,
    listBytesMax: HEADER_BYTES_MAX,
    headersMax: GRPC_HEADERS_MAX,
  });
  private readonly memo = new HeadMemo();
  private gathering: HeaderGathering | undefined;
  private readonly replies = new ReplyHeaders();

  private receiveWindow = GRPC_CONNECTION_WINDOW_BYTES;
  private consumedBytes = 0;
  private sendWindow = WINDOW_BYTES_DEFAULT;
  /** The peer's window of a new stream. */
  private initialWindow = WINDOW_BYTES_DEFAULT;
  /** Streams with data that the connection's window or its socket does not take now, in turns. */
  private readonly waiting = new Set<NativeStream>();

  private readonly resets = new Allowance(GRPC_RESETS_AT_ONCE, GRPC_RESETS_PER_SECOND);
  private readonly idleFrames = new Allowance(GRPC_IDLE_FRAMES_AT_ONCE, GRPC_IDLE_FRAMES_PER_SECOND);
  private unreadControl = 0;
  private pings = 0;
  private readonly pingsAnswered: (() => void)[] = [];

  /** `accept` gets new streams, and must serve or refuse each at once. */
  constructor(socket: Socket, accept: (stream: NativeStream) => void) {
    this.socket = socket;
    this.accept = accept;
    this.remoteAddress = socket.remoteAddress ?? '';
    this.output = new Output(socket, (isTaken) => this.flushed(isTaken));
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('drain', () => this.flushed(true));
    // Every error is followed by `close`, which handles it.
    socket.on('error', () => undefined);
    // A client that sends no more takes no more either.
    socket.on('end', () => this.stop());
    socket.on('close', () => this.stop());
    this.greet();
  }

  /** Section 6.8: accepts no more streams, tells the peer the last one, and closes when the running ones end. */
  close(): void {
    if (this.isEnding || this.isOver) return;
    this.isEnding = true;
    this.goAway(CODE.NO_ERROR);
    if (this.streams.size === 0) this.hangUp();
  }

  destroy(): void {
    this.socket.destroy();
  }

  ping(answered: () => void): void {
    if (this.isOver) return;
    this.pings += 1;
    this.pingsAnswered.push(answered);
    this.output.head(FRAME.PING, 0, 0, 8);
    this.output.uint32(0);
    this.output.uint32(this.pings);
  }

  // What streams ask for.

  get sendBytes(): number {
    return this.output.unsentBytes >= GRPC_SOCKET_BYTES_MAX ? 0 : this.sendWindow;
  }

  begin(id: number): void {
    this.output.headers(id, this.replies.begin(), false);
  }

  data(id: number, piece: Uint8Array, isWhole: boolean): void {
    this.sendWindow -= piece.length;
    if (isWhole) this.idleFrames.earn(GRPC_IDLE_FRAMES_PER_ANSWER_FRAME);
    this.output.head(FRAME.DATA, 0, id, piece.length);
    this.output.bytes(piece);
  }

  message(id: number, message: Uint8Array): void {
    const { output } = this;
    const bytes = 5 + message.length;
    this.sendWindow -= bytes;
    this.idleFrames.earn(GRPC_IDLE_FRAMES_PER_ANSWER_FRAME);
    output.head(FRAME.DATA, 0, id, bytes);
    output.octet(0);
    output.uint32(message.length);
    output.bytes(message);
  }

  headers(id: number, headers: HeaderBlock): void {
    this.output.headers(id, this.replies.block(headers), true);
  }

  reset(id: number, code: Code): void {
    this.closedStreams.note(id, CLOSED.RESET_HERE);
    this.output.head(FRAME.RST_STREAM, 0, id, 4);
    this.output.uint32(code);
  }

  grow(id: number, bytes: number): void {
    this.output.head(FRAME.WINDOW_UPDATE, 0, id, 4);
    this.output.uint32(bytes);
  }

  consumed(bytes: number): void {
    this.consumedBytes += bytes;
    if (this.consumedBytes < GROW_BYTES_MIN || this.isOver) return;
    this.grow(0, this.consumedBytes);
    this.receiveWindow += this.consumedBytes;
    this.consumedBytes = 0;
  }

  waits(stream: NativeStream): void {
    this.waiting.add(stream);
  }

  over(stream: NativeStream): void {
    this.streams.delete(stream.id);
    this.waiting.delete(stream);
    if (this.closedStreams.latest !== stream.id) this.closedStreams.note(stream.id, CLOSED.ENDED);
    if (this.isEnding && this.streams.size === 0) this.hangUp();
  }

  // What the peer sends.

  private greet(): void {
    const { output } = this;
    output.head(FRAME.SETTINGS, 0, 0, OWN_SETTINGS.length * 3);
    for (let at = 0; at < OWN_SETTINGS.length; at += 2) {
      output.uint16(OWN_SETTINGS[at]!);
      output.uint32(OWN_SETTINGS[at + 1]!);
    }
    this.grow(0, GRPC_CONNECTION_WINDOW_BYTES - WINDOW_BYTES_DEFAULT);
  }

  private read(chunk: Buffer): void {
    if (this.isOver) return;
    try {
      this.reader.push(chunk);
    } catch (caught) {
      if (caught instanceof ConnectionError) this.fail(caught.code);
      else if (caught instanceof HpackError) this.fail(CODE.COMPRESSION_ERROR);
      else throw caught;
    }
  }

  private frame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const isBetween = this.gathering !== undefined && (type !== FRAME.CONTINUATION || id !== this.gathering.stream);
    if (isBetween) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'another frame within a header block');
    if (!this.isHeard && type !== FRAME.SETTINGS)
      throw new ConnectionError(CODE.PROTOCOL_ERROR, 'the first frame is not SETTINGS');
    switch (type) {
      case FRAME.DATA:
        this.takeData(flags, id, bytes, start, end);
        return;
      case FRAME.HEADERS:
        this.takeHeaders(flags, id, bytes, start, end);
        return;
      case FRAME.CONTINUATION:
        this.takeContinuation(flags, bytes, start, end);
        return;
      case FRAME.RST_STREAM:
        this.takeReset(id, end - start);
        return;
      case FRAME.PUSH_PROMISE:
        throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a client pushes nothing');
      default:
        this.spend(this.idleFrames);
        this.takeIdle(type, flags, id, bytes, start, end);
    }
  }

  /** Frames that advance no call. */
  private takeIdle(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    switch (type) {
      case FRAME.SETTINGS:
        this.takeSettings(flags, id, bytes, start, end);
        return;
      case FRAME.PING:
        this.takePing(flags, id, bytes, start, end);
        return;
      case FRAME.WINDOW_UPDATE:
        this.takeWindowUpdate(id, bytes, start, end);
        return;
      case FRAME.GOAWAY:
        if (id !== 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'GOAWAY on a stream');
        if (end - start < 8) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'GOAWAY is cut');
        return;
      case FRAME.PRIORITY:
        if (id === 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'PRIORITY of no stream');
        if (end - start !== PRIORITY_BYTES) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'PRIORITY is cut');
        checkPriority(id, bytes, start);
        return;
      default: // section 4.1: unknown frames are ignored
    }
  }

  /** Section 6.1. */
  private takeData(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (id === 0 || this.isIdle(id)) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'data of no stream');
    const windowBytes = to - from;
    this.receiveWindow -= windowBytes;
    if (this.receiveWindow < 0) throw new ConnectionError(CODE.FLOW_CONTROL_ERROR, 'data beyond the window');
    const [start, end] = unpadded(flags, bytes, from, to);
    const endsStream = (flags & FLAG.END_STREAM) !== 0;
    if (start === end && !endsStream) this.spend(this.idleFrames);
    const stream = this.streams.get(id);
    if (stream === undefined || stream.isHalfClosed) {
      this.consumed(windowBytes);
      this.late(id, stream);
      return;
    }
    // A view: calls copy what they keep.
    let error = stream.received(bytes.subarray(start, end), windowBytes);
    if (error === undefined && endsStream && !stream.isGone) error = stream.receivedAll();
    if (error !== undefined) this.endStream(id, error);
  }

  /** Data for a stream that takes none: what crossed a reset is ignored, anything else is an error. */
  private late(id: number, stream: NativeStream | undefined): void {
    if (stream === undefined && this.closedStreams.find(id) === CLOSED.RESET_HERE) return;
    this.endStream(id, CODE.STREAM_CLOSED);
  }

  /** Section 6.2. */
  private takeHeaders(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (id === 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'headers of no stream');
    const [padded, end] = unpadded(flags, bytes, from, to);
    const hasPriority = (flags & FLAG.PRIORITY) !== 0;
    const start = hasPriority ? padded + PRIORITY_BYTES : padded;
    if (start > end) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'HEADERS is cut');
    if (hasPriority) checkPriority(id, bytes, padded);
    const endsStream = (flags & FLAG.END_STREAM) !== 0;
    if ((flags & FLAG.END_HEADERS) !== 0) this.takeBlock(id, endsStream, bytes, start, end);
    else {
      this.gathering = new HeaderGathering(id, endsStream);
      this.gathering.add(bytes, start, end);
    }
  }

  private takeContinuation(flags: number, bytes: Buffer, start: number, end: number): void {
    const { gathering } = this;
    if (gathering === undefined) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a continuation of nothing');
    gathering.add(bytes, start, end);
    if ((flags & FLAG.END_HEADERS) === 0) return;
    this.gathering = undefined;
    const block = gathering.block();
    this.takeBlock(gathering.stream, gathering.endsStream, block, 0, block.length);
  }

  private takeBlock(id: number, endsStream: boolean, bytes: Buffer, start: number, end: number): void {
    const stream = this.streams.get(id);
    if (stream !== undefined) {
      const list = this.decoder.decode(bytes, start, end);
      const areLast = endsStream && !stream.isHalfClosed && list !== undefined && areTrailers(list);
      const error = areLast ? stream.receivedAll() : stream.isHalfClosed ? CODE.STREAM_CLOSED : CODE.PROTOCOL_ERROR;
      if (error !== undefined) this.endStream(id, error);
      return;
    }
    if (!this.isIdle(id)) {
      this.decoder.decode(bytes, start, end);
      this.takeLateHeaders(id);
      return;
    }
    if (id % 2 === 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a client has odd streams');
    this.lastStream = id;
    if (!this.isEnding) this.lastAccepted = id;
    const head = this.headOf(bytes, start, end);
    if (this.isEnding || this.streams.size >= GRPC_STREAMS_MAX) this.endStream(id, CODE.REFUSED_STREAM);
    else if (typeof head === 'number') this.endStream(id, head);
    else this.open(id, head, endsStream);
  }

  private open(id: number, head: RequestHead, endsStream: boolean): void {
    const stream = new NativeStream(id, head, this, this.initialWindow);
    this.streams.set(id, stream);
    this.accept(stream);
    if (!endsStream || stream.isGone) return;
    const error = stream.receivedAll();
    if (error !== undefined) this.endStream(id, error);
  }

  /** Section 5.1.1: a stream's number is not used again. */
  private takeLateHeaders(id: number): void {
    switch (this.closedStreams.find(id)) {
      case CLOSED.RESET_HERE:
        return;
      case CLOSED.UNKNOWN:
        throw new ConnectionError(CODE.PROTOCOL_ERROR, 'headers of an earlier stream');
      default:
        throw new ConnectionError(CODE.STREAM_CLOSED, 'headers of a closed stream');
    }
  }

  /** The request in a block, or the code to refuse it with. */
  private headOf(bytes: Buffer, start: number, end: number): RequestHead | Code {
    const { version } = this.decoder;
    const block = bytes.toString('latin1', start, end);
    const known = this.memo.find(block, version);
    if (known !== undefined) return known;
    const list = this.decoder.decode(bytes, start, end);
    if (list === undefined) return CODE.ENHANCE_YOUR_CALM;
    const head = requestHeadOf(list);
    if (head === undefined) return CODE.PROTOCOL_ERROR;
    if (this.decoder.version === version) this.memo.keep(block, version, head);
    return head;
  }

  /** Section 6.4. */
  private takeReset(id: number, length: number): void {
    if (id === 0 || this.isIdle(id)) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a reset of no stream');
    if (length !== 4) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'RST_STREAM is not of four bytes');
    this.spend(this.resets);
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    this.closedStreams.note(id, CLOSED.RESET_BY_PEER);
    stream.close();
  }

  /** Section 6.5. */
  private takeSettings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'SETTINGS on a stream');
    if ((flags & FLAG.ACK) !== 0) {
      if (start !== end) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'an acknowledgement with settings');
      if (!this.isHeard) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'the first frame acknowledges nothing');
      return;
    }
    const { tableBytesMax, initialWindowBytes } = peerSettingsIn(bytes, start, end);
    this.isHeard = true;
    if (tableBytesMax !== undefined) this.replies.resize(tableBytesMax);
    this.answer();
    this.output.head(FRAME.SETTINGS, FLAG.ACK, 0, 0);
    if (initialWindowBytes !== undefined) this.changeInitialWindow(initialWindowBytes);
  }

  /** Section 6.9.2: the change applies to all streams, whose windows it may make negative. */
  private changeInitialWindow(bytes: number): void {
    const byBytes = bytes - this.initialWindow;
    this.initialWindow = bytes;
    for (const stream of [...this.streams.values()]) {
      if (!stream.widen(byBytes, WINDOW_BYTES_MAX))
        throw new ConnectionError(CODE.FLOW_CONTROL_ERROR, 'the window of a stream is too large');
      stream.pump();
    }
  }

  /** Section 6.7. */
  private takePing(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'PING on a stream');
    if (end - start !== 8) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'PING is not of eight bytes');
    if ((flags & FLAG.ACK) !== 0) {
      const answered = bytes.readUInt32BE(start + 4) === this.pings - this.pingsAnswered.length + 1;
      if (answered) this.pingsAnswered.shift()?.();
      return;
    }
    this.answer();
    this.output.head(FRAME.PING, FLAG.ACK, 0, 8);
    this.output.bytes(bytes.subarray(start, end));
  }

  /** Section 6.9. */
  private takeWindowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'WINDOW_UPDATE is not of four bytes');
    const byBytes = bytes.readUInt32BE(start) & 0x7fff_ffff;
    if (id === 0) {
      this.sendWindow += byBytes;
      if (byBytes === 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a window that grows by nothing');
      if (this.sendWindow > WINDOW_BYTES_MAX)
        throw new ConnectionError(CODE.FLOW_CONTROL_ERROR, 'the window is too large');
      this.pump();
      return;
    }
    if (this.isIdle(id)) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'the window of no stream');
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    if (byBytes === 0) this.endStream(id, CODE.PROTOCOL_ERROR);
    else if (!stream.widen(byBytes, WINDOW_BYTES_MAX)) this.endStream(id, CODE.FLOW_CONTROL_ERROR);
    else stream.pump();
  }

  /** True for a stream that the peer has not opened yet. */
  private isIdle(id: number): boolean {
    return id > this.lastStream;
  }

  /** Section 5.4.2: ends a stream for the peer's error. Such resets count like the peer's own. */
  private endStream(id: number, code: Code): void {
    this.spend(this.resets);
    this.answer();
    const stream = this.streams.get(id);
    if (stream === undefined) this.reset(id, code);
    else stream.reset(code);
  }

  private spend(allowance: Allowance): void {
    if (!allowance.spend()) throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'too many frames that advance no call');
  }

  /** Counts a frame that the server sends for one of the peer's. */
  private answer(): void {
    this.unreadControl += 1;
    if (this.unreadControl > GRPC_CONTROL_UNREAD_MAX)
      throw new ConnectionError(CODE.ENHANCE_YOUR_CALM, 'the peer does not read');
  }

  /** What was written has left, or waits in the socket. */
  private flushed(isTaken: boolean): void {
    if (!isTaken) return;
    this.unreadControl = 0;
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

  private goAway(code: Code): void {
    this.output.head(FRAME.GOAWAY, 0, 0, 8);
    this.output.uint32(this.lastAccepted);
    this.output.uint32(code);
  }

  /** Section 5.4.1: ends the connection for the peer's error. */
  private fail(code: Code): void {
    this.goAway(code);
    this.hangUp();
  }

  /** Sends what is left and closes the connection. */
  private hangUp(): void {
    if (this.isOver) return;
    this.output.flush();
    this.stop();
    this.socket.end();
    setTimeout(() => this.socket.destroy(), GRPC_GOODBYE_MS).unref();
  }

  private stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.reader.stop();
    for (const stream of [...this.streams.values()]) stream.close();
  }
}

/** Section 5.3.2: priorities are ignored. RFC 7540, section 5.3.1: a stream cannot depend on itself. */
function checkPriority(id: number, bytes: Buffer, start: number): void {
  if ((bytes.readUInt32BE(start) & 0x7fff_ffff) === id)
    throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a stream depends on itself');
}

/** The payload without its padding (sections 6.1 and 6.2). */
function unpadded(flags: number, bytes: Buffer, start: number, end: number): readonly [start: number, end: number] {
  if ((flags & FLAG.PADDED) === 0) return [start, end];
  if (start === end) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'a padded frame is empty');
  const last = end - bytes[start]!;
  if (last < start + 1) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'padding is longer than its frame');
  return [start + 1, last];
}
