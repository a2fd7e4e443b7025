// A call as the handler sees it, over grpc-js's. What costs and is seldom asked for is made when it is asked for.
import type { ServerUnaryCall } from '@grpc/grpc-js';
import { RequestAborted } from '../http/listener.ts';
import type { GrpcCall } from './front.ts';

export type NativeCall = ServerUnaryCall<Buffer, Uint8Array>;

export class UnaryCall implements GrpcCall {
  readonly service: string;
  readonly method: string;
  private readonly native: NativeCall;
  private controller: AbortController | undefined;

  constructor(service: string, method: string, native: NativeCall) {
    this.service = service;
    this.method = method;
    this.native = native;
  }

  get bytes(): Buffer {
    return this.native.request;
  }

  get deadlineMs(): number | undefined {
    const deadline = this.native.getDeadline();
    const ms = typeof deadline === 'number' ? deadline : deadline.getTime();
    return Number.isFinite(ms) ? ms : undefined;
  }

  get remoteAddress(): string {
    return peerOf(this.native);
  }

  get aborted(): AbortSignal {
    if (this.controller === undefined) {
      const controller = new AbortController();
      this.controller = controller;
      if (this.native.cancelled) controller.abort(new RequestAborted());
      else this.native.on('cancelled', () => controller.abort(new RequestAborted()));
    }
    return this.controller.signal;
  }

  header(name: string): string | undefined {
    const value = this.native.metadata.get(name)[0];
    return typeof value === 'string' ? value : undefined;
  }
}

/** grpc-js's peer is an address and a port, or 'unknown' without a connection. */
export function peerOf(native: { getPeer(): string }): string {
  const peer = native.getPeer();
  const colon = peer.lastIndexOf(':');
  return colon < 0 ? '' : peer.slice(0, colon);
}
