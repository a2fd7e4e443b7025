// A call's stream on a call of grpc-js, which has messages where HTTP/2 has bytes.
import { isIPv6 } from 'node:net';
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { EngineError } from '../../../engine/base/errors.ts';
import { drained } from '../../http/drained.ts';
import type { CallHead, CallStream, HeaderBlock, ServedCall } from '../call-stream.ts';
import type { Link } from '../connection.ts';
import { framed } from '../message-reader.ts';

/** A call of grpc-js: it is read and written as messages. */
export type BareCall = ServerDuplexStream<Buffer, Buffer>;

/**
 * Metadata as grpc-js reads it. It joins a repeated entry as one text with commas, so those are not refused, and takes
 * some headers out, which are made again here.
 */
class BareHead implements CallHead {
  readonly identity = undefined;
  private readonly call: BareCall;

  constructor(call: BareCall) {
    this.call = call;
  }

  get list(): readonly string[] {
    const { metadata } = this.call;
    const sent = Object.keys(metadata.getMap()).flatMap((name) =>
      metadata.get(name).flatMap((value) => [name, String(value)]),
    );
    return [...OWN.flatMap((name) => this.values(name).flatMap((value) => [name, value])), ...sent];
  }

  first(name: string): string | undefined {
    return this.values(name)[0];
  }

  only(name: string): string | undefined {
    const [value, another] = this.values(name);
    if (another !== undefined) throw new EngineError('VAL-E001', `${name} was sent more than once: send it once`);
    return value;
  }

  joined(name: string): string | undefined {
    const values = this.values(name);
    return values.length === 0 ? undefined : values.join(', ');
  }

  private values(name: string): readonly string[] {
    const { call } = this;
    switch (name) {
      case ':method':
        return ['POST'];
      case ':path':
        return [call.getPath()];
      case ':authority':
        return [call.getHost()];
      case 'content-type':
        return ['application/grpc'];
      case 'grpc-timeout':
        return timeoutOf(call);
      default:
        return call.metadata.get(name).map(String);
    }
  }
}

const OWN = [':method', ':path', ':authority', 'content-type', 'grpc-timeout'];

/** The time left until the deadline. */
function timeoutOf(call: BareCall): readonly string[] {
  const atMs = Number(call.getDeadline());
  return Number.isFinite(atMs) ? [`${Math.max(0, Math.min(Math.ceil(atMs - Date.now()), 99_999_999))}m`] : [];
}

/** grpc-js hides its connections: each call counts as one, and grpc-js itself keeps the real ones alive. */
export class BareStream implements CallStream, Link {
  readonly head: CallHead;
  readonly isHeard = true;
  private readonly bare: BareCall;
  private call: ServedCall | undefined;
  private isOver = false;

  constructor(call: BareCall) {
    this.bare = call;
    this.head = new BareHead(call);
  }

  get remoteAddress(): string {
    const address = this.bare.getPeer().replace(/:\d+$/, '');
    const inner = address.replace(/^\[(.*)\]$/, '$1');
    return isIPv6(inner) ? inner : address;
  }

  get isGone(): boolean {
    return this.isOver || this.bare.cancelled || this.bare.destroyed;
  }

  get isFull(): boolean {
    return this.bare.writableNeedDrain;
  }

  serve(call: ServedCall): void {
    this.call = call;
    const { bare } = this;
    bare.on('data', (message: Buffer) => this.take(message));
    bare.on('end', () => {
      if (!this.isOver) this.call?.finish();
    });
    bare.on('close', () => this.closed());
  }

  send(message: Uint8Array): void {
    this.bare.write(asBuffer(message));
  }

  end(trailers: HeaderBlock, message?: Uint8Array): void {
    if (message !== undefined) this.send(message);
    const { code, details, metadata } = statusOf(trailers);
    this.isOver = true;
    if (code === status.OK) this.bare.end(metadata);
    else this.bare.emit('error', Object.assign(new Error(details), { code, details, metadata }));
    // Nothing more is read: then grpc-js would never end the call of a peer that sends no more.
    this.bare.resume();
    this.bare.once('finish', () => this.closed());
  }

  refuse(headers: HeaderBlock): void {
    this.end(headers);
  }

  /** grpc-js resets no stream: the call ends with its status. */
  cancel(): void {
    this.destroy();
  }

  pause(): void {
    this.bare.pause();
  }

  resume(): void {
    this.bare.resume();
  }

  drained(): Promise<void> {
    return drained(this.bare);
  }

  ping(answered: () => void): void {
    answered();
  }

  close(): void {
    // The call ends by itself, or was wound up.
  }

  destroy(): void {
    if (this.isGone) return;
    this.end({ 'grpc-status': String(status.CANCELLED), 'grpc-message': 'the server ended the call' });
  }

  private take(message: Buffer): void {
    if (this.isOver) return;
    for (const piece of framed(message)) this.call?.take(asBuffer(piece));
  }

  private closed(): void {
    this.isOver = true;
    this.call?.closed();
    this.call = undefined;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Trailers as grpc-js wants them: it encodes the message and binary entries itself. */
function statusOf(trailers: HeaderBlock): {
  readonly code: number;
  readonly details: string;
  readonly metadata: Metadata;
} {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) {
    if (name === 'grpc-status' || name === 'grpc-message' || name === 'content-type' || name.startsWith(':')) continue;
    metadata.set(name, name.endsWith('-bin') ? Buffer.from(value, 'base64') : value);
  }
  return {
    code: Number(trailers['grpc-status'] ?? status.OK),
    details: decodeURI(trailers['grpc-message'] ?? ''),
    metadata,
  };
}
