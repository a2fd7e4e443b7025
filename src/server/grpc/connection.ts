// One HTTP/2 connection with its calls: keepalive, maximum age and orderly shutdown.
import { constants, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import {
  GRPC_CONNECTION_AGE_MS,
  GRPC_CONNECTION_WINDOW_BYTES,
  GRPC_KEEPALIVE_MS,
  GRPC_LOOK_MS,
  HEADERS_TIMEOUT_MS,
} from '../../engine/base/limits.ts';
import type { Carrier, Exchange, Head, Shared } from './exchange.ts';

const looks = (ms: number): number => Math.ceil(ms / GRPC_LOOK_MS);

export type Accept = (connection: Connection, stream: ServerHttp2Stream, head: Head) => void;

export class Connection implements Carrier {
  readonly shared: Shared;
  readonly remoteAddress: string;
  readonly calls = new Set<Exchange>();
  private readonly session: ServerHttp2Session;
  private readonly bornAt: number;
  /** The peer has sent the first frame that every peer sends. */
  private isHeard = false;
  private aliveAt: number;
  private isPinged = false;
  /** Bounded by the number of streams. */
  private readonly answered: ServerHttp2Stream[] = [];
  /** Number of the look at which shutdown began. */
  private endingAt: number | undefined;

  constructor(session: ServerHttp2Session, shared: Shared, accept: Accept) {
    this.session = session;
    this.shared = shared;
    this.remoteAddress = session.socket?.remoteAddress ?? '';
    this.bornAt = shared.looks;
    this.aliveAt = shared.looks;
    session.setLocalWindowSize(GRPC_CONNECTION_WINDOW_BYTES);
    session.once('remoteSettings', () => {
      this.isHeard = true;
    });
    session.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) =>
        accept(this, stream, { headers, rawHeaders }),
    );
  }

  /** Called every GRPC_LOOK_MS. */
  look(): void {
    const now = this.shared.looks;
    for (const call of this.calls) call.look();
    const isSilent = !this.isHeard && now - this.bornAt > looks(HEADERS_TIMEOUT_MS);
    const isDead = this.isPinged && now - this.aliveAt > looks(GRPC_KEEPALIVE_MS + GRPC_KEEPALIVE_MS / 3);
    const isOverdue = this.endingAt !== undefined && now - this.endingAt > looks(2 * GRPC_KEEPALIVE_MS);
    if (isSilent || isDead || isOverdue) this.destroy();
    else if (now - this.bornAt > looks(GRPC_CONNECTION_AGE_MS)) this.end();
    else if (!this.isPinged && now - this.aliveAt > looks(GRPC_KEEPALIVE_MS)) {
      this.isPinged = true;
      this.ping(() => {
        this.isPinged = false;
        this.aliveAt = this.shared.looks;
      });
    }
  }

  /** Accepts no more calls, tells the peer the last accepted one, and closes when the running ones end. */
  end(): void {
    if (this.endingAt !== undefined || this.session.destroyed) return;
    this.endingAt = this.shared.looks;
    for (const call of this.calls) call.windUp();
    this.session.close();
  }

  /** RFC 9113, 8.1. A reset overtakes unsent data, so send a ping first: its answer shows that the data was sent. */
  cutOff(stream: ServerHttp2Stream): void {
    this.answered.push(stream);
    if (this.answered.length === 1) this.cutOffAnswered();
  }

  destroy(): void {
    this.session.destroy();
  }

  private cutOffAnswered(): void {
    const count = this.answered.length;
    this.ping(() => {
      for (const stream of this.answered.splice(0, count)) stream.close(constants.NGHTTP2_NO_ERROR);
      if (this.answered.length > 0) this.cutOffAnswered();
    });
  }

  private ping(answered: () => void): void {
    const { session } = this;
    if (session.destroyed) return;
    // The ping throws, or fails later, when the connection is about to end by itself.
    const isSent = session.ping((error) => {
      if (error === null && !session.destroyed) answered();
    });
    if (!isSent) this.destroy();
  }
}
