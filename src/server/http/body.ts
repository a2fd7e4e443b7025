// Buffers a request's body: a little until it is requested, then up to the requested limit. Its bytes count in the
// request budget until the request was handled.
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  BODY_DROPPED_BYTES_MAX,
  BODY_PIECE_BYTES_MIN,
  BODY_PIECES_MAX,
  BODY_UNASKED_BYTES_MAX,
} from '../../engine/base/limits.ts';
import type { ByteBudget, Share } from '../byte-budget.ts';
import { RequestAborted } from './listener.ts';

const EMPTY = new Uint8Array(0);
/** Smaller pieces are copied together: an object for each would cost more than its bytes. */
const SMALL_BYTES = 16_384;
const GATHERED_BYTES_MIN = 1_024;
/**
 * From here on, a body of an announced length is collected in one buffer: joining 50 MB at the end would take 25 ms at once.
 * Memory that is not touched yet costs nothing.
 */
const WHOLE_BYTES_MIN = 1_048_576;

/** Pauses and resumes the socket. */
export interface Flow {
  pause(): void;
  resume(): void;
  /** Answers 400 and closes the connection. */
  refuse(status: 400): void;
  /** Reads no more: the peer sends too much after it was refused. */
  overrun(): void;
}

export class Body {
  private readonly flow: Flow;
  /** From Content-Length; -1 when the body is chunked. */
  private readonly declaredBytes: number;
  private readonly share: Share;
  private chunks: Uint8Array[] = [];
  private bytes = 0;
  private pieces = 0;
  /** The last chunk, if allocated here, and its used length. */
  private gathered: Uint8Array | undefined;
  private gatheredBytes = 0;
  /** Takes all bytes, once there are many. */
  private whole: Uint8Array | undefined;
  /** Allocated bytes of the chunks; of `whole`, those that are used. */
  private heldBytes = 0;
  private complete = false;
  /** As `complete`, also for a body that has failed. */
  private ended = false;
  private paused = false;
  private failure: Error | undefined;
  /** Bytes that arrived after the failure. */
  private dropped = 0;
  /** -1 until the body is requested. */
  private bytesMax = -1;
  private resolve: ((body: Uint8Array) => void) | undefined;
  private reject: ((reason: Error) => void) | undefined;

  constructor(declaredBytes: number, flow: Flow, requests: ByteBudget) {
    this.declaredBytes = declaredBytes;
    this.flow = flow;
    this.share = requests.share((reason) => this.fail(reason));
  }

  /** See `HttpRequest.body`. */
  ask(bytesMax: number): Promise<Uint8Array> {
    assert(this.bytesMax === -1, 'a body is requested once');
    this.bytesMax = bytesMax;
    if (this.declaredBytes > bytesMax || this.bytes > bytesMax) this.fail(tooLarge(bytesMax));
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.complete) return Promise.resolve(this.join());
    if (this.paused) {
      this.paused = false;
      this.flow.resume();
    }
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Takes the next bytes. The body owns them, unless they are `lent`: those are valid only during the call. */
  push(chunk: Uint8Array, lent = false): void {
    if (this.failure !== undefined) {
      this.drop(chunk.byteLength);
      return;
    }
    this.bytes += chunk.byteLength;
    this.pieces += 1;
    if (this.pieces > BODY_PIECES_MAX && this.bytes < this.pieces * BODY_PIECE_BYTES_MIN) {
      this.flow.refuse(400);
      return;
    }
    if (this.bytesMax >= 0 && this.bytes > this.bytesMax) {
      this.fail(tooLarge(this.bytesMax));
      return;
    }
    // The libraries should see to that. The buffer of a long body has the announced length.
    if (this.declaredBytes >= 0 && this.bytes > this.declaredBytes) {
      this.flow.refuse(400);
      return;
    }
    this.store(chunk, lent);
    try {
      this.share.hold(this.heldBytes);
    } catch (error) {
      this.fail(error as Error); // it throws only errors
    }
    // Holding more may have dropped this body, and a paused flow would never be resumed.
    if (this.hasFailed) return;
    if (this.bytesMax < 0 && this.bytes > BODY_UNASKED_BYTES_MAX && !this.paused) {
      this.paused = true;
      this.flow.pause();
    }
  }

  private drop(bytes: number): void {
    const before = this.dropped;
    this.dropped += bytes;
    if (before <= BODY_DROPPED_BYTES_MAX && this.dropped > BODY_DROPPED_BYTES_MAX) this.flow.overrun();
  }

  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** True when all its bytes have arrived, wanted or not. */
  get isComplete(): boolean {
    return this.ended;
  }

  /** The body is complete. */
  finish(): void {
    this.ended = true;
    if (this.failure !== undefined) return;
    this.complete = true;
    this.share.settle();
    this.resolve?.(this.join());
  }

  /** Drops the collected bytes; readers get `reason`. Later bytes are dropped, up to a limit. */
  fail(reason: Error): void {
    if (this.complete || this.failure !== undefined) return;
    this.failure = reason;
    this.letGo();
    this.share.release();
    this.reject?.(reason);
    if (this.paused) {
      this.paused = false;
      this.flow.resume();
    }
  }

  /** The body is not needed any more. */
  discard(): void {
    // An error with its stack costs more than the rest of a short request.
    if (!this.complete) this.fail(new RequestAborted());
  }

  /** The request was handled: its bytes are no longer needed. */
  release(): void {
    this.discard();
    this.share.release();
  }

  private store(chunk: Uint8Array, lent: boolean): void {
    // Not before it is asked for: only then the announced length is known to be below a limit.
    if (this.bytesMax >= 0 && this.bytes >= WHOLE_BYTES_MIN && this.declaredBytes >= 0) {
      this.storeWhole(chunk);
      return;
    }
    const { gathered } = this;
    if (gathered !== undefined && chunk.length <= gathered.length - this.gatheredBytes) {
      gathered.set(chunk, this.gatheredBytes);
      this.gatheredBytes += chunk.length;
      return;
    }
    this.closeGathered();
    // Usually the first piece is the whole body.
    if (chunk.length >= SMALL_BYTES || this.chunks.length === 0) this.chunks.push(lent ? Buffer.from(chunk) : chunk);
    else {
      const room = Math.max(GATHERED_BYTES_MIN, Math.min(SMALL_BYTES, this.bytes));
      this.gathered = Buffer.allocUnsafeSlow(Math.max(room, chunk.length));
      this.gathered.set(chunk);
      this.gatheredBytes = chunk.length;
      this.chunks.push(this.gathered);
    }
    this.heldBytes += this.chunks.at(-1)?.length ?? 0;
  }

  private storeWhole(chunk: Uint8Array): void {
    if (this.whole === undefined) {
      this.whole = Buffer.allocUnsafeSlow(this.declaredBytes);
      this.closeGathered();
      let at = 0;
      for (const part of this.chunks) {
        this.whole.set(part, at);
        at += part.length;
      }
      this.chunks = [];
    }
    this.whole.set(chunk, this.bytes - chunk.length);
    this.heldBytes = this.bytes;
  }

  private closeGathered(): void {
    if (this.gathered !== undefined)
      this.chunks[this.chunks.length - 1] = this.gathered.subarray(0, this.gatheredBytes);
    this.gathered = undefined;
  }

  private join(): Uint8Array {
    const { whole } = this;
    if (whole !== undefined) {
      this.whole = undefined;
      return whole.subarray(0, this.bytes);
    }
    this.closeGathered();
    const { chunks } = this;
    this.chunks = [];
    return chunks.length === 1 ? chunks[0]! : chunks.length === 0 ? EMPTY : Buffer.concat(chunks, this.bytes);
  }

  private letGo(): void {
    this.chunks = [];
    this.gathered = undefined;
    this.whole = undefined;
  }
}

function tooLarge(bytesMax: number): EngineError {
  return new EngineError('LIM-E003', `the body is larger than the limit of ${bytesMax} bytes`);
}
