// A streamed response on uWebSockets.js, at the peer's pace.
//
// The library buffers whatever the socket does not take, without a limit, and a write reports that only when it is too
// long for the library's cork. So long writes go out in pieces that exceed the cork, and after an incomplete one, at
// most one more follows each time the socket becomes writable. Short writes (events) go out at once and unchecked, but
// only a bounded number of bytes per second; beyond that they gather until they are long. The library closes a peer
// that reads nothing after about half a minute, which bounds the unchecked bytes too.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import { assert } from '../../engine/base/assert.ts';
import { RESPONSE_PIECE_BYTES } from '../../engine/base/limits.ts';
import { RequestAborted, type ResponseStream } from './listener.ts';

/** Bytes that the library's cork takes without reporting on the socket. */
const CORK_BYTES = 16_384;
const BLIND_BYTES_PER_SECOND = 65_536;
/** How long short writes gather. */
const GATHER_MS = 100;

const NOTHING = new Uint8Array(0);
const SENT = Promise.resolve();

export interface StreamOwner {
  /** True when the response has no body (HEAD): writes are dropped. */
  readonly bodiless: boolean;
  /** The response is complete; `held` when the library may still buffer part of it. */
  ended(held: boolean): void;
}

export class UwsStream implements ResponseStream {
  readonly unreportedBytes = CORK_BYTES;
  private readonly response: NativeResponse;
  private readonly owner: StreamOwner;
  private over = false;
  private gone = false;
  /** Remainder of the current write. */
  private rest: Uint8Array = NOTHING;
  /** The last long piece was not taken completely. */
  private held = false;
  /** A callback for the writable event is registered. */
  private listening = false;
  private resolve: (() => void) | undefined;
  private reject: ((reason: Error) => void) | undefined;
  private gathered: Uint8Array[] = [];
  private gatheredBytes = 0;
  private gathering: NodeJS.Timeout | undefined;
  private secondStartedMs = 0;
  private blindBytes = 0;

  constructor(response: NativeResponse, owner: StreamOwner) {
    this.response = response;
    this.owner = owner;
  }

  write(chunk: string | Uint8Array): Promise<void> {
    if (this.gone) return Promise.reject(new RequestAborted());
    assert(!this.over && this.resolve === undefined, 'a stream is written one chunk after the other, until its end');
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (this.owner.bodiless || bytes.byteLength === 0) return SENT;
    if (this.gatheredBytes + bytes.byteLength <= CORK_BYTES) {
      this.writeShort(bytes);
      return SENT;
    }
    this.rest = this.takeGathered(bytes);
    if (this.pump()) return SENT;
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  end(): void {
    if (this.gone) return;
    assert(!this.over && this.resolve === undefined, 'a stream ends once, after its last write');
    this.over = true;
    this.response.cork(() => {
      if (this.gatheredBytes > 0) this.response.write(this.takeGathered(NOTHING));
      // Never with `closeConnection`: the library would write a header into the body.
      if (this.owner.bodiless) this.response.endWithoutBody();
      else this.response.end();
    });
    this.owner.ended(this.held);
  }

  /** The peer has disconnected. */
  abort(): void {
    this.gone = true;
    this.rest = NOTHING;
    this.takeGathered(NOTHING);
    this.reject?.(new RequestAborted());
  }

  private writeShort(bytes: Uint8Array): void {
    if (this.gatheredBytes === 0 && this.mayBeBlind(bytes.byteLength)) {
      this.response.cork(() => void this.response.write(bytes));
      return;
    }
    // A copy: the caller may reuse its bytes.
    this.gathered.push(Uint8Array.from(bytes));
    this.gatheredBytes += bytes.byteLength;
    this.gathering ??= setTimeout(() => {
      this.response.cork(() => void this.response.write(this.takeGathered(NOTHING)));
    }, GATHER_MS);
  }

  private mayBeBlind(bytes: number): boolean {
    const nowMs = performance.now();
    if (nowMs - this.secondStartedMs >= 1_000) {
      this.secondStartedMs = nowMs;
      this.blindBytes = 0;
    }
    this.blindBytes += bytes;
    return this.blindBytes <= BLIND_BYTES_PER_SECOND;
  }

  /** The gathered short writes followed by `bytes`. */
  private takeGathered(bytes: Uint8Array): Uint8Array {
    if (this.gatheredBytes === 0) return bytes;
    clearTimeout(this.gathering);
    this.gathering = undefined;
    const all = Buffer.concat([...this.gathered, bytes]);
    this.gathered = [];
    this.gatheredBytes = 0;
    return all;
  }

  /** Writes as much of `rest` as the socket takes; true when that is all. */
  private pump(): boolean {
    while (this.rest.byteLength > 0) {
      const piece = this.rest.subarray(0, this.pieceBytes());
      this.rest = this.rest.subarray(piece.byteLength);
      let taken = false;
      this.response.cork(() => {
        taken = this.response.write(piece);
      });
      this.held = !taken;
      if (taken) continue;
      if (!this.listening) this.response.onWritable(() => this.writable());
      this.listening = true;
      return false;
    }
    return true;
  }

  /** Maximum size of a piece such that neither it nor the remainder fits the cork. */
  private pieceBytes(): number {
    const { byteLength } = this.rest;
    const piece = this.held ? CORK_BYTES + 1 : RESPONSE_PIECE_BYTES;
    if (byteLength <= piece) return byteLength;
    if (byteLength - piece > CORK_BYTES) return piece;
    return this.held ? byteLength : byteLength - CORK_BYTES - 1;
  }

  private writable(): boolean {
    // An empty cork makes the library send its buffer; otherwise it would wait for a write.
    this.response.cork(() => {});
    if (this.rest.byteLength > 0 && !this.pump()) return true;
    const { resolve } = this;
    this.resolve = undefined;
    this.reject = undefined;
    resolve?.();
    return true;
  }
}
