// A streamed response on uWebSockets.js, with the peer's pace.
//
// The library buffers whatever the socket does not take and does not say how much that is; once a writable handler is
// set it sends nothing of it until the next write. So: a write that was not taken whole is followed by single bytes, one
// each time the socket becomes writable, until one is taken, which says that the buffer is empty. At most one piece and
// those bytes are ever held.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { assert } from '../../engine/assert.ts';
import { RESPONSE_PIECE_BYTES } from '../../engine/limits.ts';
import { RequestAborted, type ResponseStream } from './listener.ts';

/** Below this the library's cork swallows a write and says nothing about the socket. */
const CORK_BYTES = 16_384;

const SENT = Promise.resolve();

export interface StreamOwner {
  /** True when the response has no body (HEAD): what is written is dropped. */
  readonly bodiless: boolean;
  /** The response is complete; `held` when the library may still hold some of it. */
  ended(held: boolean): void;
  /** True when the connection is to be closed behind the response. */
  closing(): boolean;
}

export class UwsStream implements ResponseStream {
  private readonly response: NativeResponse;
  private readonly owner: StreamOwner;
  private over = false;
  private gone = false;
  /** What the current write has still to hand over. */
  private rest: Uint8Array = new Uint8Array(0);
  /** The library may hold bytes that the socket did not take. */
  private held = false;
  /** The library knows whom to call when the socket becomes writable. */
  private waiting = false;
  /** Bytes written since the socket was last seen to take everything. */
  private unseen = 0;
  private resolve: (() => void) | undefined;
  private reject: ((reason: Error) => void) | undefined;

  constructor(response: NativeResponse, owner: StreamOwner) {
    this.response = response;
    this.owner = owner;
  }

  write(chunk: string | Uint8Array): Promise<void> {
    if (this.gone) return Promise.reject(new RequestAborted());
    assert(!this.over && this.rest.byteLength === 0, 'a stream is written one chunk after the other, until its end');
    if (this.owner.bodiless) return SENT;
    this.rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (this.pump()) return SENT;
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  end(): void {
    if (this.gone) return;
    assert(!this.over && this.rest.byteLength === 0, 'a stream ends once, after its last write');
    this.over = true;
    const close = this.owner.closing();
    this.response.cork(() => {
      if (this.owner.bodiless) this.response.endWithoutBody(undefined, close);
      else this.response.end(undefined, close);
    });
    this.owner.ended(this.held);
  }

  /** The peer has gone. */
  abort(): void {
    this.gone = true;
    this.rest = new Uint8Array(0);
    this.reject?.(new RequestAborted());
  }

  /** Hands over what the socket takes; true when nothing is left and the library holds nothing. */
  private pump(): boolean {
    while (this.rest.byteLength > 0) {
      const piece = this.rest.subarray(0, this.held ? 1 : RESPONSE_PIECE_BYTES);
      this.rest = this.rest.subarray(piece.byteLength);
      if (!this.hand(piece)) {
        if (!this.waiting) this.response.onWritable(() => this.writable());
        this.waiting = true;
        this.held = true;
        return false;
      }
      this.held = false;
    }
    return true;
  }

  /** False when the library had to hold some of it. */
  private hand(piece: Uint8Array): boolean {
    const { response } = this;
    this.unseen += piece.byteLength;
    const short = piece.byteLength <= CORK_BYTES;
    // A short piece goes through the cork, which cannot tell, until there were too many of them to trust.
    const blind = short && !this.held && this.unseen <= RESPONSE_PIECE_BYTES;
    let taken = true;
    if (short && !blind) {
      taken = response.write(piece);
    } else {
      response.cork(() => {
        taken = response.write(piece);
      });
    }
    if (!blind) this.unseen = 0;
    return blind || taken;
  }

  private writable(): boolean {
    // With nothing left to write, an empty cork makes the library send what it holds.
    if (this.rest.byteLength === 0) this.response.cork(() => {});
    else if (!this.pump()) return true;
    this.resolve?.();
    this.resolve = undefined;
    this.reject = undefined;
    return true;
  }
}
