// A call's stream (RFC 9113, sections 5.1 and 5.2): its windows, and what waits for them.
import { GRPC_STREAM_WINDOW_BYTES } from '../../../engine/base/limits.ts';
import { RequestAborted } from '../../http/listener.ts';
import type { CallStream, HeaderBlock, ServedCall } from '../call-stream.ts';
import { framed } from '../message-reader.ts';
import { CODE, type Code, FRAME_BYTES_MAX } from './frames.ts';
import type { RequestHead } from './request-head.ts';
import type { Sender, WaitingStream } from './sender.ts';

/** The parts of a connection that a stream needs. */
export interface StreamCarrier {
  readonly sender: Sender;
  reset(id: number, code: Code): void;
  /** Request bytes have left the connection. */
  consumed(bytes: number): void;
  /** The stream is closed. */
  over(stream: NativeStream): void;
}

const PREFIX_BYTES = 5;
/** Window updates are sent for at least this much, not for each frame. */
const GROW_BYTES_MIN = GRPC_STREAM_WINDOW_BYTES / 2;
/** Waiting bytes from which an answer's sender should wait. */
const FULL_BYTES = 16_384;

/** Data of a request that wait while the call reads no further. */
interface Held {
  readonly piece: Buffer;
  /** The frame's payload with its padding: what it takes of the windows. */
  readonly windowBytes: number;
}

export class NativeStream implements CallStream, WaitingStream {
  readonly id: number;
  readonly head: RequestHead;
  private readonly carrier: StreamCarrier;
  private readonly sender: Sender;
  private call: ServedCall | undefined;
  private isClosed = false;

  /** The request has ended. */
  private hasAll = false;
  /** The call knows it. */
  private isFinished = false;
  private receivedBytes = 0;
  /** The bytes that the peer may still send. */
  private receiveWindow = GRPC_STREAM_WINDOW_BYTES;
  private consumedBytes = 0;
  private isPaused = false;
  /** Bounded by the window. */
  private held: Held[] = [];

  private hasBegun = false;
  private sendWindow: number;
  private readonly queue: Uint8Array[] = [];
  private queuedBytes = 0;
  /** Sent after the queue. */
  private trailers: HeaderBlock | undefined;
  private readonly wakers: { readonly resolve: () => void; readonly reject: (reason: Error) => void }[] = [];

  constructor(id: number, head: RequestHead, carrier: StreamCarrier, sendWindow: number) {
    this.id = id;
    this.head = head;
    this.carrier = carrier;
    this.sender = carrier.sender;
    this.sendWindow = sendWindow;
  }

  get isGone(): boolean {
    return this.isClosed;
  }

  get isFull(): boolean {
    return this.queuedBytes > FULL_BYTES;
  }

  /** The peer has ended its side: more data or headers are an error. */
  get isHalfClosed(): boolean {
    return this.hasAll;
  }

  serve(call: ServedCall): void {
    this.call = call;
  }

  send(message: Uint8Array): void {
    if (this.isClosed) return;
    this.begin();
    const bytes = PREFIX_BYTES + message.length;
    if (bytes <= FRAME_BYTES_MAX && this.queuedBytes === 0 && bytes <= this.sendableBytes) {
      this.sendWindow -= bytes;
      this.sender.message(this.id, message);
      return;
    }
    for (const piece of framed(message)) {
      this.queue.push(piece);
      this.queuedBytes += piece.length;
    }
    this.pump();
  }

  end(trailers: HeaderBlock, message?: Uint8Array): void {
    if (this.isClosed) return;
    if (message === undefined) this.begin();
    else this.send(message);
    this.trailers = trailers;
    if (this.queuedBytes === 0) this.finish();
  }

  refuse(headers: HeaderBlock): void {
    if (this.isClosed) return;
    this.hasBegun = true;
    this.trailers = headers;
    this.finish();
  }

  cancel(): void {
    this.reset(CODE.CANCEL);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    for (let next = this.held.shift(); next !== undefined; next = this.held.shift()) {
      this.deliver(next.piece, next.windowBytes);
      if (this.isPaused) return;
    }
    if (this.hasAll) this.finishRequest();
  }

  drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) reject(new RequestAborted());
      else if (this.isFull) this.wakers.push({ resolve, reject });
      else resolve();
    });
  }

  /** Ends the stream with a code, at once. */
  reset(code: Code): void {
    if (this.isClosed) return;
    this.carrier.reset(this.id, code);
    this.close();
  }

  /**
   * Takes data of the request: `windowBytes` with padding. Returns the code of the error that ends the stream, if the
   * peer may not send so much.
   */
  received(piece: Buffer, windowBytes: number): Code | undefined {
    this.receiveWindow -= windowBytes;
    this.receivedBytes += piece.length;
    const error = this.receiveWindow < 0 ? CODE.FLOW_CONTROL_ERROR : this.isTooLong ? CODE.PROTOCOL_ERROR : undefined;
    if (error !== undefined) {
      // Nobody takes these bytes, and the connection's window is for all streams.
      this.carrier.consumed(windowBytes);
      return error;
    }
    if (this.isPaused) this.held.push({ piece, windowBytes });
    else this.deliver(piece, windowBytes);
    return undefined;
  }

  /** The request has ended. Returns the code of the error that ends the stream, if it is not as long as it said. */
  receivedAll(): Code | undefined {
    this.hasAll = true;
    const { contentLength } = this.head;
    if (contentLength !== undefined && this.receivedBytes !== contentLength) return CODE.PROTOCOL_ERROR;
    if (!this.isPaused) this.finishRequest();
    return undefined;
  }

  /** The peer lets the stream send more, or fewer when its settings changed. False when the window is too large. */
  widen(bytes: number, bytesMax: number): boolean {
    this.sendWindow += bytes;
    return this.sendWindow <= bytesMax;
  }

  /** Sends what the windows allow. */
  pump(): void {
    while (this.pumpFrame());
  }

  /** Sends at most one frame of data. False when nothing more can be sent now. */
  pumpFrame(): boolean {
    if (this.isClosed) return false;
    const piece = this.queue[0];
    if (piece === undefined) return false;
    const bytes = Math.min(piece.length, FRAME_BYTES_MAX, this.sendableBytes);
    if (bytes <= 0) {
      if (this.sendWindow > 0) this.sender.waits(this);
      return false;
    }
    if (bytes === piece.length) this.queue.shift();
    else this.queue[0] = piece.subarray(bytes);
    this.queuedBytes -= bytes;
    this.sendWindow -= bytes;
    this.sender.data(this.id, piece.subarray(0, bytes), bytes === piece.length || bytes === FRAME_BYTES_MAX);
    if (!this.isFull) for (const { resolve } of this.wakers.splice(0)) resolve();
    if (this.queuedBytes === 0 && this.trailers !== undefined) this.finish();
    return this.queuedBytes > 0;
  }

  /** The stream has ended, for any reason. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    // Buffered bytes count as consumed: the connection's window is for all streams.
    for (const { windowBytes } of this.held.splice(0)) this.carrier.consumed(windowBytes);
    this.queue.length = 0;
    this.queuedBytes = 0;
    this.carrier.over(this);
    for (const { reject } of this.wakers.splice(0)) reject(new RequestAborted());
    this.call?.closed();
    this.call = undefined;
  }

  private get isTooLong(): boolean {
    const { contentLength } = this.head;
    return contentLength !== undefined && this.receivedBytes > contentLength;
  }

  private finishRequest(): void {
    if (this.isFinished || this.isClosed) return;
    this.isFinished = true;
    this.call?.finish();
  }

  private get sendableBytes(): number {
    return Math.min(this.sendWindow, this.sender.sendBytes);
  }

  private begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.sender.begin(this.id);
  }

  /** Section 8.1: an answer may end before its request; the reset tells the peer to stop sending. */
  private finish(): void {
    this.sender.headers(this.id, this.trailers ?? {});
    if (!this.hasAll) this.carrier.reset(this.id, CODE.NO_ERROR);
    this.close();
  }

  private deliver(piece: Buffer, windowBytes: number): void {
    this.carrier.consumed(windowBytes);
    this.consumedBytes += windowBytes;
    if (this.consumedBytes >= GROW_BYTES_MIN && !this.hasAll) {
      this.sender.grow(this.id, this.consumedBytes);
      this.receiveWindow += this.consumedBytes;
      this.consumedBytes = 0;
    }
    this.call?.take(piece);
  }
}
