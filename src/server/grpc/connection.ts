// One connection with its calls: keepalive, maximum age and orderly shutdown.
import {
  GRPC_CONNECTION_AGE_MS,
  GRPC_KEEPALIVE_MS,
  GRPC_LOOK_MS,
  HEADERS_TIMEOUT_MS,
} from '../../engine/base/limits.ts';
import type { Share } from '../byte-budget.ts';
import type { Shared } from './shared.ts';

const looks = (ms: number): number => Math.ceil(ms / GRPC_LOOK_MS);

/** The parts of an HTTP/2 connection that its listener implements. */
export interface Link {
  /** The peer's IP address; empty when it disconnected at once. */
  readonly remoteAddress: string;
  /** True once the peer has sent the first frame that every peer sends. */
  readonly isHeard: boolean;
  /** `answered` is not called when the connection ends first. */
  ping(answered: () => void): void;
  /** Accepts no more streams, tells the peer the last accepted one, and closes when the running ones end. */
  close(): void;
  destroy(): void;
}

/** A call as its connection sees it. */
export interface ConnectedCall {
  /** Of the budget of requests. */
  shares(): Iterable<Share>;
  /** Called every GRPC_LOOK_MS. */
  look(): void;
  /** The connection accepts no more calls: a call that could last forever ends. */
  windUp(): void;
}

export class Connection {
  readonly shared: Shared;
  readonly calls = new Set<ConnectedCall>();
  private readonly link: Link;
  private readonly bornAt: number;
  private aliveAt: number;
  private isPinged = false;
  /** Number of the look at which shutdown began. */
  private endingAt: number | undefined;

  constructor(link: Link, shared: Shared) {
    this.link = link;
    this.shared = shared;
    this.bornAt = shared.looks;
    this.aliveAt = shared.looks;
  }

  get remoteAddress(): string {
    return this.link.remoteAddress;
  }

  /** Called every GRPC_LOOK_MS. */
  look(): void {
    const now = this.shared.looks;
    for (const call of this.calls) call.look();
    const isSilent = !this.link.isHeard && now - this.bornAt > looks(HEADERS_TIMEOUT_MS);
    const isDead = this.isPinged && now - this.aliveAt > looks(GRPC_KEEPALIVE_MS + GRPC_KEEPALIVE_MS / 3);
    const isOverdue = this.endingAt !== undefined && now - this.endingAt > looks(2 * GRPC_KEEPALIVE_MS);
    if (isSilent || isDead || isOverdue) this.destroy();
    else if (now - this.bornAt > looks(GRPC_CONNECTION_AGE_MS)) this.end();
    else if (!this.isPinged && now - this.aliveAt > looks(GRPC_KEEPALIVE_MS)) {
      this.isPinged = true;
      this.link.ping(() => {
        this.isPinged = false;
        this.aliveAt = this.shared.looks;
      });
    }
  }

  /** Accepts no more calls, and closes when the running ones end. */
  end(): void {
    if (this.endingAt !== undefined) return;
    this.endingAt = this.shared.looks;
    for (const call of this.calls) call.windUp();
    this.link.close();
  }

  destroy(): void {
    this.link.destroy();
  }
}
