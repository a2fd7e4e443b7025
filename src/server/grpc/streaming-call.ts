// A call with many messages each way, in order. As long as the peer does not read the answers, no further message is
// read.
import { GRPC_PROBE_BYTES_MAX } from '../../engine/base/limits.ts';
import { GRPC_STATUS } from '../status.ts';
import type { CallStream } from './call-stream.ts';
import type { Connection } from './connection.ts';
import { Exchange } from './exchange.ts';
import { ProtocolError } from './trailers.ts';

/** Handles a streaming call. An error that it throws ends the call. */
export interface Conversation {
  /** Called for one message at a time. */
  message(bytes: Buffer): void | Promise<void>;
  /** The caller has half-closed the stream. */
  ended(): void;
  /** The call is over, for any reason. */
  settled(): void;
}

export interface StreamingMethod {
  readonly converse: (call: StreamingCall) => Conversation;
}

export class StreamingCall extends Exchange {
  /** Undefined when the call was rejected before it began. */
  private readonly conversation: Conversation | undefined;
  private isReading = false;
  private hasAll = false;

  constructor(connection: Connection, stream: CallStream, callee: StreamingMethod) {
    super(connection, stream, GRPC_PROBE_BYTES_MAX);
    if (this.isOver) return;
    // The peer may stay silent for any time.
    this.waitingSince = undefined;
    this.conversation = callee.converse(this);
  }

  /** Sends a message after earlier ones. */
  say(message: Uint8Array): void {
    this.send(message);
  }

  /** Ends the call with success. */
  complete(): void {
    this.succeed();
  }

  /** Ends the call with a thrown error. */
  fail(caught: unknown): void {
    this.failed(caught);
  }

  override windUp(): void {
    this.succeed();
  }

  protected received(): void {
    const { reader } = this;
    // The rest may take any time, and a view would keep the whole read alive, which no budget counts.
    reader.keep();
    this.hold(reader.roomBytes);
    if (!this.isReading) void this.read();
  }

  protected ended(): void {
    this.hasAll = true;
    if (!this.isReading) this.close();
  }

  protected override settled(): void {
    this.conversation?.settled();
  }

  private async read(): Promise<void> {
    this.isReading = true;
    const { stream } = this;
    stream.pause();
    try {
      for (let message = this.reader.next(); message !== undefined && !this.isOver; message = this.reader.next()) {
        await this.conversation?.message(await this.inflated(message, GRPC_PROBE_BYTES_MAX));
        this.hold(this.reader.heldBytes);
        if (stream.isFull) await stream.drained();
      }
      if (this.hasAll) this.close();
    } catch (caught) {
      this.failed(caught);
    }
    this.isReading = false;
    stream.resume();
  }

  private close(): void {
    if (this.isOver) return;
    if (this.reader.heldBytes > 0)
      throw new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E002', 'The request ends within a message');
    this.conversation?.ended();
  }
}
