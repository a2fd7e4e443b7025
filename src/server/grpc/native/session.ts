// One HTTP/2 connection of the server's side (RFC 9113): its streams, its windows and its settings.
import type { Socket } from 'node:net';
import { GRPC_CONNECTION_WINDOW_BYTES, GRPC_GOODBYE_MS, GRPC_STREAMS_MAX } from '../../../engine/base/limits.ts';
import type { ByteBudget } from '../../byte-budget.ts';
import type { Link } from '../connection.ts';
import { CLOSED, ClosedStreams } from './closed-streams.ts';
import { FrameReader } from './frame-reader.ts';
import { CODE, type Code, ConnectionError, FLAG, FRAME, WINDOW_BYTES_DEFAULT, WINDOW_BYTES_MAX } from './frames.ts';
import { HeadReader } from './head-reader.ts';
import { HeaderGathering } from './header-gathering.ts';
import { HpackError } from './hpack/hpack-error.ts';
import { PeerLimits } from './peer-limits.ts';
import { peerSettingsIn } from './peer-settings.ts';
import type { RequestHead } from './request-head.ts';
import { Sender } from './sender.ts';
import { NativeStream, type StreamCarrier } from './stream.ts';

/** Window updates of the connection are sent for at least this much. */
const GROW_BYTES_MIN = GRPC_CONNECTION_WINDOW_BYTES / 2;
/** Section 6.3. */
const PRIORITY_BYTES = 5;

export class NativeSession implements Link, StreamCarrier {
  readonly remoteAddress: string;
  isHeard = false;
  readonly sender: Sender;
  private readonly socket: Socket;
  private readonly accept: (stream: NativeStream) => void;
  private readonly reader = new FrameReader((type, flags, stream, bytes, start, end) =>
    this.frame(type, flags, stream, bytes, start, end),
  );
  private readonly limits = new PeerLimits();

  private readonly streams = new Map<number, NativeStream>();
  private readonly closedStreams = new ClosedStreams();
  private lastStream = 0;
  /** The last one that was not refused because the connection ends. */
  private lastAccepted = 0;
  /** No more streams are accepted. */
  private isEnding = false;
  /** Nothing more is read or written. */
  private isOver = false;
  /** Requests wait in the socket until the peer reads. */
  private isPaused = false;

  private readonly heads = new HeadReader();
  private gathering: HeaderGathering | undefined;

  private receiveWindow = GRPC_CONNECTION_WINDOW_BYTES;
  private consumedBytes = 0;
  /** The peer's window of a new stream. */
  private initialWindow = WINDOW_BYTES_DEFAULT;
  private pings = 0;
  private readonly pingsAnswered: (() => void)[] = [];

  /** `accept` gets new streams, and must serve or refuse each at once. `unread` counts what the peer has not read. */
  constructor(socket: Socket, accept: (stream: NativeStream) => void, unread: ByteBudget) {
    this.socket = socket;
    this.accept = accept;
    this.remoteAddress = socket.remoteAddress ?? '';
    this.sender = new Sender(socket, { limits: this.limits, unread, taken: () => this.resume() });
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    // Every error is followed by `close`, which handles it.
    socket.on('error', () => undefined);
    // A client that sends no more takes no more either.
    socket.on('end', () => this.stop());
    socket.on('close', () => this.stop());
    this.sender.greet();
  }

  /** Section 6.8: accepts no more streams, tells the peer the last one, and closes when the running ones end. */
  close(): void {
    if (this.isEnding || this.isOver) return;
    this.isEnding = true;
    this.sender.goAway(this.lastAccepted, CODE.NO_ERROR);
    if (this.streams.size === 0) this.hangUp();
  }

  destroy(): void {
    this.socket.destroy();
  }

  ping(answered: () => void): void {
    if (this.isOver) return;
    this.pings += 1;
    this.pingsAnswered.push(answered);
    this.sender.ping(this.pings);
  }

  // Called by streams.

  reset(id: number, code: Code): void {
    this.closedStreams.note(id, CLOSED.RESET_HERE);
    this.sender.reset(id, code);
  }

  consumed(bytes: number): void {
    this.consumedBytes += bytes;
    if (this.consumedBytes < GROW_BYTES_MIN || this.isOver) return;
    this.sender.grow(0, this.consumedBytes);
    this.receiveWindow += this.consumedBytes;
    this.consumedBytes = 0;
  }

  over(stream: NativeStream): void {
    this.streams.delete(stream.id);
    this.sender.over(stream);
    if (this.closedStreams.latest !== stream.id) this.closedStreams.note(stream.id, CLOSED.ENDED);
    if (this.isEnding && this.streams.size === 0) this.hangUp();
    // Ends of calls are under no window: a peer that makes calls and reads nothing would fill the memory with them.
    else if (this.sender.isFull) this.pause();
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.reader.pause();
    this.socket.pause();
  }

  private resume(): void {
    if (!this.isPaused || this.isOver || this.sender.isFull) return;
    this.isPaused = false;
    this.socket.resume();
    this.read(undefined);
  }

  // Called with bytes and frames of the peer.

  /** Takes a chunk, or what was kept of one. */
  private read(chunk: Buffer | undefined): void {
    if (this.isOver) return;
    try {
      if (chunk === undefined) this.reader.resume();
      else this.reader.push(chunk);
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
        this.limits.idle();
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
    if (start === end && !endsStream) this.limits.idle();
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
      const areLast = this.heads.trailers(bytes, start, end) && endsStream && !stream.isHalfClosed;
      const error = areLast ? stream.receivedAll() : stream.isHalfClosed ? CODE.STREAM_CLOSED : CODE.PROTOCOL_ERROR;
      if (error !== undefined) this.endStream(id, error);
      return;
    }
    if (!this.isIdle(id)) {
      this.heads.trailers(bytes, start, end);
      this.takeLateHeaders(id);
      return;
    }
    if (id % 2 === 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a client has odd streams');
    this.lastStream = id;
    if (!this.isEnding) this.lastAccepted = id;
    const head = this.heads.head(bytes, start, end);
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

  /** Section 6.4. */
  private takeReset(id: number, length: number): void {
    if (id === 0 || this.isIdle(id)) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a reset of no stream');
    if (length !== 4) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'RST_STREAM is not of four bytes');
    this.limits.reset();
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
    if (tableBytesMax !== undefined) this.sender.resizeTable(tableBytesMax);
    this.limits.answer();
    this.sender.acknowledgeSettings();
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
    this.limits.answer();
    this.sender.pong(bytes.subarray(start, end));
  }

  /** Section 6.9. */
  private takeWindowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw new ConnectionError(CODE.FRAME_SIZE_ERROR, 'WINDOW_UPDATE is not of four bytes');
    const byBytes = bytes.readUInt32BE(start) & 0x7fff_ffff;
    if (id === 0) {
      if (byBytes === 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, 'a window that grows by nothing');
      if (!this.sender.widen(byBytes)) throw new ConnectionError(CODE.FLOW_CONTROL_ERROR, 'the window is too large');
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
    this.limits.reset();
    this.limits.answer();
    const stream = this.streams.get(id);
    if (stream === undefined) this.reset(id, code);
    else stream.reset(code);
  }

  /** Section 5.4.1: ends the connection for the peer's error. */
  private fail(code: Code): void {
    this.sender.goAway(this.lastAccepted, code);
    this.hangUp();
  }

  /** Sends what is left and closes the connection. */
  private hangUp(): void {
    if (this.isOver) return;
    this.reader.stop();
    this.sender.flush();
    this.stop();
    this.socket.end();
    setTimeout(() => this.socket.destroy(), GRPC_GOODBYE_MS).unref();
  }

  private stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.reader.stop();
    for (const stream of [...this.streams.values()]) stream.close();
    this.sender.close();
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
