// The connection of a node:http2 session.
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { GRPC_CONNECTION_WINDOW_BYTES } from '../../../engine/base/limits.ts';
import type { Link } from '../connection.ts';

export class NodeSession implements Link {
  readonly remoteAddress: string;
  isHeard = false;
  private readonly session: ServerHttp2Session;
  /** Bounded by the number of streams. */
  private readonly answered: ServerHttp2Stream[] = [];

  constructor(session: ServerHttp2Session) {
    this.session = session;
    this.remoteAddress = session.socket?.remoteAddress ?? '';
    session.setLocalWindowSize(GRPC_CONNECTION_WINDOW_BYTES);
    session.once('remoteSettings', () => {
      this.isHeard = true;
    });
  }

  close(): void {
    if (!this.session.destroyed) this.session.close();
  }

  destroy(): void {
    this.session.destroy();
  }

  ping(answered: () => void): void {
    const { session } = this;
    if (session.destroyed) return;
    // The ping throws, or fails later, when the connection is about to end by itself.
    const isSent = session.ping((error) => {
      if (error === null && !session.destroyed) answered();
    });
    if (!isSent) this.destroy();
  }

  /**
   * Resets a stream that is answered but still sends (RFC 9113, 8.1). A reset overtakes unsent data, so a ping goes
   * first: its answer shows that the data was sent.
   */
  cutOff(stream: ServerHttp2Stream): void {
    this.answered.push(stream);
    if (this.answered.length === 1) this.cutOffAnswered();
  }

  private cutOffAnswered(): void {
    const count = this.answered.length;
    this.ping(() => {
      for (const stream of this.answered.splice(0, count)) stream.close(constants.NGHTTP2_NO_ERROR);
      if (this.answered.length > 0) this.cutOffAnswered();
    });
  }
}
