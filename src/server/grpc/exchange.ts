// One call: reads the request, answers it, and reports an early end. Allocations here count: they are most of the cost of
// a call.
import { steadyMs, systemClock } from '../../engine/base/clock.ts';
import type { EngineError } from '../../engine/base/errors.ts';
import {
  ANSWER_SHARED_BYTES_MIN,
  GRPC_CALL_BYTES,
  GRPC_LOOK_MS,
  GRPC_PEER_TIMEOUT_MS,
} from '../../engine/base/limits.ts';
import type { Share } from '../byte-budget.ts';
import type { Expiring } from '../expiry.ts';
import { RequestAborted } from '../http/listener.ts';
import { GRPC_STATUS } from '../status.ts';
import type { CallStream, HeaderBlock, ServedCall } from './call-stream.ts';
import type { ConnectedCall, Connection } from './connection.ts';
import { ENCODINGS } from './inflation.ts';
import { type Message, MessageReader } from './message-reader.ts';
import { timeoutMs } from './timeout.ts';
import { asRefusal, ProtocolError, trailersOfError, trailersOfSuccess } from './trailers.ts';

const CONTENT_TYPE = 'application/grpc+proto';
/** Headers before the first message, names and values in turn: a shared list, so that streams need no copy. */
export const RESPONSE: readonly string[] = [
  ...[':status', '200'],
  ...['content-type', CONTENT_TYPE],
  ...['grpc-accept-encoding', ENCODINGS],
];
const PATIENCE_LOOKS = Math.ceil(GRPC_PEER_TIMEOUT_MS / GRPC_LOOK_MS);

/** Ends a stream with a status only. */
export function refuseCall(stream: CallStream, refusal: EngineError | ProtocolError, headers: HeaderBlock): void {
  stream.refuse({ ':status': '200', 'content-type': CONTENT_TYPE, ...trailersOfError(refusal, headers) });
}

export abstract class Exchange implements Expiring, ServedCall, ConnectedCall {
  /** Deadline: a time of `steadyMs` (base/clock.ts). */
  readonly deadlineMs: number | undefined;
  protected readonly connection: Connection;
  protected readonly stream: CallStream;
  protected readonly reader: MessageReader;
  /** The call is answered. */
  protected isOver = false;
  /** The look since which the call waits for the peer; undefined while the peer waits for the server. */
  protected waitingSince: number | undefined;
  private readonly tick: number | undefined;
  /** Bytes that count as long as the call is open. */
  private readonly ownBytes: number;
  /** Budget share of the call and its buffered request. */
  private readonly requestShare: Share;
  /** Budget share of an answered call whose stream is open yet. */
  private openShare: Share | undefined;
  private answerShare: Share | undefined;
  private hasBegun = false;
  private controller: AbortController | undefined;

  constructor(connection: Connection, stream: CallStream, messageBytesMax: number) {
    const { shared } = connection;
    this.connection = connection;
    this.stream = stream;
    this.reader = new MessageReader(messageBytesMax);
    this.waitingSince = shared.looks;
    connection.calls.add(this);
    stream.serve(this);
    this.ownBytes = GRPC_CALL_BYTES + bytesOf(stream.head);
    this.requestShare = shared.requests.listedShare((reason) => this.refuse(reason));
    try {
      this.hold(0);
    } catch (caught) {
      this.failed(caught);
    }
    if (this.isOver) return;
    const timeout = stream.head.first('grpc-timeout');
    if (timeout === undefined) return;
    const ms = timeoutMs(timeout);
    if (ms === undefined) {
      this.refuse(new ProtocolError(GRPC_STATUS.INTERNAL, 'VAL-E001', `Invalid grpc-timeout value "${timeout}"`));
      return;
    }
    this.deadlineMs = steadyMs(systemClock) + ms;
    this.tick = shared.expiry.add(this, performance.now() + ms);
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress;
  }

  get aborted(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.isOver || this.stream.isGone) this.controller.abort(new RequestAborted());
    }
    return this.controller.signal;
  }

  get identity(): object | undefined {
    return this.stream.head.identity;
  }

  get headerList(): readonly string[] {
    return this.stream.head.list;
  }

  header(name: string): string | undefined {
    return name.endsWith('-bin') ? undefined : this.stream.head.first(name);
  }

  only(name: string): string | undefined {
    return name.endsWith('-bin') ? undefined : this.stream.head.only(name);
  }

  joined(name: string): string | undefined {
    return name.endsWith('-bin') ? undefined : this.stream.head.joined(name);
  }

  expire(): void {
    this.refuse(new ProtocolError(GRPC_STATUS.DEADLINE_EXCEEDED, 'SYS-E005', 'Deadline exceeded'));
    this.controller?.abort(new RequestAborted());
  }

  *shares(): Iterable<Share> {
    yield this.requestShare;
    if (this.openShare !== undefined) yield this.openShare;
  }

  /** Ends the call when its peer has completed no message, or read nothing, for too long. */
  look(): void {
    if (this.waitingSince === undefined || this.connection.shared.looks - this.waitingSince <= PATIENCE_LOOKS) return;
    if (this.isOver) this.stream.cancel();
    else
      this.refuse(new ProtocolError(GRPC_STATUS.DEADLINE_EXCEEDED, 'SYS-E005', 'the request did not arrive in time'));
  }

  /** Called when the connection accepts no more calls: ends calls that could last forever. */
  windUp(): void {
    // Most calls end by themselves.
  }

  /** Takes received bytes. */
  take(chunk: Buffer): void {
    if (this.isOver) return;
    this.reader.push(chunk);
    try {
      this.received();
    } catch (caught) {
      this.failed(caught);
    }
  }

  /** The request has ended. */
  finish(): void {
    if (this.isOver) return;
    try {
      this.ended();
    } catch (caught) {
      this.failed(caught);
    }
  }

  /** The stream has closed, with or without an answer. */
  closed(): void {
    this.connection.calls.delete(this);
    this.answerShare?.release();
    this.openShare?.release();
    if (this.isOver) return;
    this.settle();
    this.controller?.abort(new RequestAborted());
  }

  /** Request bytes have arrived in the reader. May throw errors that `failed` handles. */
  protected abstract received(): void;
  /** The request has ended, complete or not. May throw errors that `failed` handles. */
  protected abstract ended(): void;

  /** True while the request is being processed, even if the caller no longer waits. */
  protected get isWorkedOn(): boolean {
    return false;
  }

  /** Called once, when the call is answered. */
  protected settled(): void {
    // Nothing to release.
  }

  protected get path(): string {
    return this.stream.head.first(':path') ?? '';
  }

  /** Counts buffered request bytes. Without room it throws LIM-E001, or ends the call with it. */
  protected hold(bytes: number): void {
    if (!this.isOver) this.requestShare.hold(this.ownBytes + bytes);
  }

  /** The request is needed no longer. */
  protected release(): void {
    this.requestShare.release();
  }

  /** The request is complete and is being processed: other senders can no longer displace it. */
  protected holdOn(bytes: number): void {
    this.hold(bytes);
    this.requestShare.settle();
  }

  protected inflated({ bytes, isCompressed }: Message, bytesMax: number): Promise<Buffer> {
    if (!isCompressed) return Promise.resolve(bytes);
    const { inflation } = this.connection.shared;
    return inflation.inflate(bytes, this.stream.head.first('grpc-encoding'), bytesMax, () => this.isOver);
  }

  /** Sends a message; more may follow. */
  protected send(message: Uint8Array): void {
    if (this.isOver || this.stream.isGone) return;
    this.hasBegun = true;
    this.stream.send(message);
  }

  /** Ends the call with success, after an optional last message. No effect once the call is over. */
  protected succeed(headers?: Readonly<Record<string, string>>, message?: Uint8Array): void {
    if (message !== undefined && message.length > ANSWER_SHARED_BYTES_MIN && !this.isOver && !this.stream.isGone) {
      try {
        this.answerShare = this.connection.shared.answers.share(() => this.stream.cancel());
        this.answerShare.hold(message.length);
      } catch (caught) {
        this.answerShare?.release();
        this.failed(caught, headers);
        return;
      }
    }
    if (!this.settle()) return;
    this.stream.end(trailersOfSuccess(headers), message);
    this.stayOpen();
  }

  /** Ends the call with a thrown error; bugs are reported. */
  protected failed(caught: unknown, headers?: Readonly<Record<string, string>>): void {
    const refusal = asRefusal(caught);
    if (refusal !== caught && !(caught instanceof RequestAborted)) this.connection.shared.onError?.(caught);
    this.refuse(refusal, headers);
  }

  /** Ends the call with a status. No effect once the call is over. */
  protected refuse(refusal: EngineError | ProtocolError, headers?: Readonly<Record<string, string>>): void {
    if (!this.settle()) return;
    const given = this.withRequestId(headers);
    if (this.hasBegun) this.stream.end(trailersOfError(refusal, given));
    else refuseCall(this.stream, refusal, given);
    this.stayOpen();
  }

  /** Counts an answered call until its stream has closed, for which the peer has to read. */
  private stayOpen(): void {
    if (this.stream.isGone) return;
    this.openShare = this.connection.shared.requests.listedShare(() => this.stream.cancel());
    try {
      this.openShare.hold(this.ownBytes);
    } catch {
      this.openShare.release();
      this.stream.cancel();
    }
  }

  private withRequestId(headers: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
    if (headers?.['x-request-id'] !== undefined) return headers;
    return { ...headers, 'x-request-id': this.connection.shared.requestIdOf(this.header('x-request-id')) };
  }

  /** False when the call was over already or the peer has disconnected. */
  private settle(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    if (!this.isWorkedOn) this.release();
    if (this.tick !== undefined) this.connection.shared.expiry.delete(this, this.tick);
    this.waitingSince = this.connection.shared.looks;
    this.settled();
    return !this.stream.isGone;
  }
}

/** Bytes of headers that no other call of the connection has. */
function bytesOf({ identity, list }: CallStream['head']): number {
  if (identity !== undefined) return 0;
  let bytes = 0;
  for (const text of list) bytes += text.length;
  return bytes;
}
