// A request's body while it arrives: holds a little until somebody asks, then collects up to what was asked for.
import { assert } from '../../engine/assert.ts';
import { EngineError } from '../../engine/errors.ts';
import { BODY_UNASKED_BYTES_MAX } from '../../engine/limits.ts';
import { RequestAborted } from './listener.ts';

const EMPTY = new Uint8Array(0);

/** Stops and restarts what the socket gives. */
export interface Flow {
  pause(): void;
  resume(): void;
}

export class Body {
  private readonly flow: Flow;
  /** From Content-Length; -1 when the body is chunked. */
  private readonly declaredBytes: number;
  private chunks: Uint8Array[] = [];
  private bytes = 0;
  private complete = false;
  private paused = false;
  private failure: Error | undefined;
  /** -1 until somebody asks. */
  private bytesMax = -1;
  private resolve: ((body: Uint8Array) => void) | undefined;
  private reject: ((reason: Error) => void) | undefined;

  constructor(declaredBytes: number, flow: Flow) {
    this.declaredBytes = declaredBytes;
    this.flow = flow;
  }

  /** See `HttpRequest.body`. */
  ask(bytesMax: number): Promise<Uint8Array> {
    assert(this.bytesMax === -1, 'a body is asked for once');
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

  /** The next bytes, which belong to the body from here on. */
  push(chunk: Uint8Array): void {
    if (this.failure !== undefined) return;
    this.bytes += chunk.byteLength;
    if (this.bytesMax >= 0 && this.bytes > this.bytesMax) {
      this.fail(tooLarge(this.bytesMax));
      return;
    }
    this.chunks.push(chunk);
    if (this.bytesMax < 0 && this.bytes > BODY_UNASKED_BYTES_MAX && !this.paused) {
      this.paused = true;
      this.flow.pause();
    }
  }

  /** No more comes. */
  finish(): void {
    if (this.failure !== undefined) return;
    this.complete = true;
    this.resolve?.(this.join());
  }

  /** What was collected is let go; whoever asks gets `reason`. Later bytes are dropped. */
  fail(reason: Error): void {
    if (this.complete || this.failure !== undefined) return;
    this.failure = reason;
    this.chunks = [];
    this.reject?.(reason);
    if (this.paused) {
      this.paused = false;
      this.flow.resume();
    }
  }

  /** Nobody will ask, or needs it any more. */
  discard(): void {
    // An error with its stack costs more than the rest of a short request.
    if (!this.complete) this.fail(new RequestAborted());
  }

  private join(): Uint8Array {
    const { chunks } = this;
    this.chunks = [];
    return chunks.length === 1 ? chunks[0]! : chunks.length === 0 ? EMPTY : Buffer.concat(chunks, this.bytes);
  }
}

function tooLarge(bytesMax: number): EngineError {
  return new EngineError('LIM-E003', `the body is larger than ${bytesMax} bytes`);
}
