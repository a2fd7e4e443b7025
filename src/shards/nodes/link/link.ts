// An open connection between two nodes: sealed frames in both directions, many calls at once.
//
//   requests   f64 the sender's monotonic clock in ms, then a message of requests (../../transport/pack.ts)
//   replies    a message of replies
//   look       nothing: the owners of the shards have changed; or a notice (./notice.ts)
//   ping       nothing: sent by each side while it has nothing else to say
//   control    a message about the copy of the control log (channel.ts); since version 2 of the protocol
//   passed     a part of a request that is passed on, or of its answer (channel.ts); since version 2
import type { Socket } from 'node:net';
import { EngineError } from '../../../engine/base/errors.ts';
import {
  LINK_BUFFER_BYTES_MAX,
  LINK_FRAME_BYTES_MAX,
  LINK_PING_MS,
  LINK_SILENT_MS,
} from '../../../engine/base/limits.ts';
import { type FrameReader, framed } from './frames.ts';
import type { Greeted, LinkSelf } from './handshake.ts';
import { FrameOpener, FrameSealer, TAG_BYTES } from './sealed.ts';

export const LINK_KINDS = ['requests', 'replies', 'look', 'ping', 'control', 'passed'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

export interface LinkHandlers {
  /**
   * True on the called side: it takes no more requests while its answers are not read. The caller always reads. Otherwise each side
   * could wait for ever until the other one reads.
   */
  readonly isCalled: boolean;
  /** The bytes are the receiver's. An error that it throws ends the connection. */
  readonly receive: (kind: LinkKind, bytes: Buffer) => void;
  /** Called once, with the reason. */
  readonly ended: (reason: EngineError) => void;
}

export class Link {
  readonly peer: LinkSelf;
  readonly #socket: Socket;
  readonly #sealer: FrameSealer;
  readonly #opener: FrameOpener;
  readonly #handlers: LinkHandlers;
  readonly #ping: NodeJS.Timeout;
  #sentMs = performance.now();
  #heardMs = performance.now();
  #lookedMs = performance.now();
  #isPaused = false;
  #end: EngineError | undefined;

  /** `reader` has read the handshake; what follows it may be in it already. */
  constructor(socket: Socket, reader: FrameReader, greeted: Greeted, handlers: LinkHandlers) {
    this.peer = greeted.peer;
    this.#socket = socket;
    this.#sealer = new FrameSealer(greeted.sendKey);
    this.#opener = new FrameOpener(greeted.receiveKey);
    this.#handlers = handlers;
    const read = (bytes: Buffer): void => this.#read(reader, bytes);
    socket.on('data', read);
    socket.on('drain', () => this.#resume());
    socket.on('timeout', () => this.close(broken('the other node has stopped reading')));
    socket.on('error', (error) => this.close(broken(error.message)));
    socket.on('close', () => this.close(broken('the other node closed it')));
    this.#ping = setInterval(() => this.#keepAlive(), LINK_PING_MS);
    this.#ping.unref();
    // It proves the keys: the other side acts on nothing before.
    this.send('ping');
    // The handlers may ask for this link, so not before it is made.
    queueMicrotask(() => read(Buffer.alloc(0)));
  }

  /** Does nothing after the end of the connection. */
  send(kind: LinkKind, ...parts: readonly Uint8Array[]): void {
    if (this.#end !== undefined) return;
    this.#sentMs = performance.now();
    this.#socket.write(framed(...this.#sealer.seal(KIND_BYTES[LINK_KINDS.indexOf(kind)]!, ...parts)));
    // The other side reads too slowly: this one takes no more requests until it has.
    if (!this.#handlers.isCalled || this.#socket.writableLength <= LINK_BUFFER_BYTES_MAX || this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
    // Nothing is heard of it while this side does not read. Bytes that leave count too.
    this.#socket.setTimeout(LINK_SILENT_MS);
  }

  /** Ends the connection. `reason` is for those who wait for an answer. */
  close(reason: EngineError): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    clearInterval(this.#ping);
    this.#socket.destroy();
    this.#handlers.ended(reason);
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#heardMs = performance.now();
    this.#socket.setTimeout(0);
    this.#socket.resume();
  }

  #read(reader: FrameReader, bytes: Buffer): void {
    this.#heardMs = performance.now();
    try {
      reader.push(bytes, (frame) => {
        const plain = this.#opener.open(frame);
        // The other side has proved that it has the keys.
        reader.bytesMax = LINK_FRAME_BYTES_MAX;
        const kind = LINK_KINDS[plain[0] ?? LINK_KINDS.length];
        if (kind === undefined) throw new EngineError('VAL-E001', 'a frame between nodes has no known kind');
        if (kind !== 'ping') this.#handlers.receive(kind, plain.subarray(1));
        return this.#end === undefined;
      });
    } catch (error) {
      this.close(broken(error instanceof Error ? error.message : String(error)));
    }
  }

  #keepAlive(): void {
    const nowMs = performance.now();
    // This thread was busy, or its process stopped: what the other side sent meanwhile has not been read yet.
    const lateMs = Math.max(0, nowMs - this.#lookedMs - 2 * LINK_PING_MS);
    this.#heardMs = Math.min(nowMs, this.#heardMs + lateMs);
    this.#lookedMs = nowMs;
    if (!this.#isPaused && nowMs - this.#heardMs > LINK_SILENT_MS)
      this.close(broken('the other node sent nothing in time'));
    else if (nowMs - this.#sentMs >= LINK_PING_MS / 2) this.send('ping');
  }
}

const KIND_BYTES = LINK_KINDS.map((_, kind) => Buffer.of(kind));

/** The longest frame before the keys are proved: a ping. */
export const FIRST_FRAME_BYTES_MAX = 1 + TAG_BYTES;

function broken(why: string): EngineError {
  return new EngineError('STO-E002', `the connection between two nodes broke: ${why}`);
}
