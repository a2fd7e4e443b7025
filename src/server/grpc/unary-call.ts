// A unary call: it runs only after the request has ended with exactly one message.
import type { EngineError } from '../../engine/base/errors.ts';
import { MESSAGE_BYTES_MAX } from '../../engine/base/limits.ts';
import { GRPC_STATUS } from '../status.ts';
import type { CallStream } from './call-stream.ts';
import type { Connection } from './connection.ts';
import { Exchange } from './exchange.ts';
import type { GrpcAnswer, GrpcCall } from './front.ts';
import type { Message } from './message-reader.ts';
import { ProtocolError } from './trailers.ts';

export interface UnaryMethod {
  /** With its package. */
  readonly service: string;
  readonly name: string;
  /** Like GrpcHandler, but may also return or throw ProtocolError. */
  readonly run: (call: GrpcCall) => Promise<GrpcAnswer | { readonly error: EngineError | ProtocolError }>;
}

const EMPTY = Buffer.alloc(0);

export class UnaryCall extends Exchange implements GrpcCall {
  bytes: Buffer = EMPTY;
  private readonly callee: UnaryMethod;
  private message: Message | undefined;
  private isRunning = false;

  constructor(connection: Connection, stream: CallStream, callee: UnaryMethod) {
    super(connection, stream, MESSAGE_BYTES_MAX);
    this.callee = callee;
  }

  get service(): string {
    return this.callee.service;
  }

  get method(): string {
    return this.callee.name;
  }

  protected override get isWorkedOn(): boolean {
    return this.isRunning;
  }

  protected received(): void {
    const { reader } = this;
    if (this.message === undefined) {
      const message = reader.next();
      // The rest may take long, and a view would keep the whole read alive.
      if (message === undefined) reader.keep();
      else this.message = reader.isOwn ? message : { ...message, bytes: Buffer.from(message.bytes) };
    }
    if (this.message === undefined) this.hold(reader.roomBytes);
    else if (reader.heldBytes > 0)
      throw new ProtocolError(
        GRPC_STATUS.UNIMPLEMENTED,
        'VAL-E002',
        `Received a second request message for ${this.path}`,
      );
    else this.hold(this.message.bytes.length);
  }

  protected ended(): void {
    const { message } = this;
    if (message === undefined) {
      throw this.reader.heldBytes > 0
        ? new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E002', 'The request ends within a message')
        : new ProtocolError(GRPC_STATUS.UNIMPLEMENTED, 'VAL-E002', `Received no request message for ${this.path}`);
    }
    this.waitingSince = undefined;
    if (message.isCompressed) this.inflateAndRun(message);
    else this.run(message.bytes);
  }

  private inflateAndRun(message: Message): void {
    this.inflated(message, MESSAGE_BYTES_MAX).then(
      (bytes) => {
        if (!this.isOver) this.runInflated(bytes);
      },
      (caught: unknown) => this.failed(caught),
    );
  }

  private runInflated(bytes: Buffer): void {
    try {
      this.run(bytes);
    } catch (caught) {
      this.failed(caught);
    }
  }

  private run(bytes: Buffer): void {
    this.holdOn(bytes.length);
    if (this.isOver) return;
    this.bytes = bytes;
    this.message = undefined;
    this.isRunning = true;
    let running: ReturnType<UnaryMethod['run']>;
    try {
      running = this.callee.run(this);
    } catch (caught) {
      // A handler that throws before its first await counts as one that rejects.
      this.isRunning = false;
      this.failed(caught);
      return;
    }
    running.then(
      (given) => {
        this.ran();
        if ('error' in given) this.refuse(given.error, 'headers' in given ? given.headers : undefined);
        else this.succeed(given.headers, given.bytes);
      },
      (caught: unknown) => {
        this.ran();
        this.failed(caught);
      },
    );
  }

  /** The request's bytes are no longer needed. */
  private ran(): void {
    this.isRunning = false;
    this.bytes = EMPTY;
    this.release();
  }
}
