// The ports of a node that does not have the control log: it passes connections on to the node that has it. Connections wait while
// there is none.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FRONT_CONNECT_MS, FRONT_CONNECTIONS_MAX, FRONT_RETRY_MS, FRONT_WAIT_MS } from '../../engine/base/limits.ts';
import type { HostPort } from '../host-port.ts';

export interface FrontOptions {
  /** Of callers. Default: FRONT_CONNECTIONS_MAX. */
  readonly connectionsMax?: number | undefined;
  /** For one attempt to reach the target. Default: FRONT_CONNECT_MS. */
  readonly connectMs?: number | undefined;
}

export class Front {
  readonly #host: string;
  /** Where connections go at the moment; undefined: nowhere yet. */
  readonly #target: () => HostPort | undefined;
  readonly #options: FrontOptions;
  /** Connections of callers. */
  readonly #callers = new Set<Socket>();
  /** Connections to where callers are passed on, and where that is. */
  readonly #upstreams = new Map<Socket, HostPort>();
  #server: Server | undefined;
  #port: number;
  #isClosed = false;

  /** Port 0: a free one, which stays the same when it listens again. */
  constructor(host: string, port: number, target: () => HostPort | undefined, options: FrontOptions = {}) {
    this.#host = host;
    this.#port = port;
    this.#target = target;
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections that are being opened to the target. */
  get attempts(): number {
    return [...this.#upstreams.keys()].filter(({ connecting }) => connecting).length;
  }

  /** Rejects with the error of the system. */
  async listen(): Promise<void> {
    const server = createServer({ pauseOnConnect: true }, (socket) => void this.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.#host, resolve);
    });
    const address = server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
    this.#server = server;
  }

  /** Frees the port. Open connections continue. */
  async stopListening(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const freed = new Promise<void>((resolve) => server.once('close', resolve));
    server.close();
    // It is free at once; the event waits for the connections.
    if (this.#callers.size === 0) await freed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of [...this.#callers, ...this.#upstreams.keys()]) socket.destroy();
    await this.stopListening();
  }

  /**
   * Ends the connections that were passed on to another place than the present target. A process that was stopped, or whose network
   * is away, never ends them itself.
   */
  endFormer(): void {
    const target = this.#target();
    if (target === undefined) return;
    for (const [socket, at] of this.#upstreams) if (!isSame(at, target)) socket.destroy();
  }

  async #accept(socket: Socket): Promise<void> {
    if (this.#callers.size >= (this.#options.connectionsMax ?? FRONT_CONNECTIONS_MAX)) {
      socket.destroy();
      return;
    }
    this.#callers.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#callers.delete(socket));
    const untilMs = performance.now() + FRONT_WAIT_MS;
    while (!this.#isClosed && !socket.destroyed && performance.now() < untilMs) {
      const target = this.#target();
      const upstream = target === undefined ? undefined : await this.#reach(target);
      if (upstream !== undefined) {
        this.#join(socket, upstream);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, FRONT_RETRY_MS));
    }
    socket.destroy();
  }

  /** A connection, or undefined when it cannot be made in time. */
  #reach(target: HostPort): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      const upstream = connect({ ...target, noDelay: true });
      this.#upstreams.set(upstream, target);
      // The system itself gives up after minutes.
      const late = setTimeout(() => upstream.destroy(), this.#options.connectMs ?? FRONT_CONNECT_MS);
      upstream.on('error', () => upstream.destroy());
      upstream.once('connect', () => {
        clearTimeout(late);
        resolve(upstream);
      });
      upstream.once('close', () => {
        clearTimeout(late);
        this.#upstreams.delete(upstream);
        resolve(undefined);
      });
    });
  }

  #join(socket: Socket, upstream: Socket): void {
    if (socket.destroyed) {
      upstream.destroy();
      return;
    }
    socket.setNoDelay(true);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.pipe(other);
      one.on('close', () => other.destroy());
    }
  }
}

function isSame(one: HostPort, other: HostPort): boolean {
  return one.host === other.host && one.port === other.port;
}
