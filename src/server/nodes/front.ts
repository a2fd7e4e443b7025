// The ports of a node that does not have the control log: it passes connections on to the node that has it. Connections wait while
// there is none.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FRONT_CONNECTIONS_MAX, FRONT_RETRY_MS, FRONT_WAIT_MS } from '../../engine/base/limits.ts';
import type { HostPort } from '../host-port.ts';

export class Front {
  readonly #host: string;
  /** Where connections go at the moment; undefined: nowhere yet. */
  readonly #target: () => HostPort | undefined;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port: number;
  #isClosed = false;

  /** Port 0: a free one, which stays the same when it listens again. */
  constructor(host: string, port: number, target: () => HostPort | undefined) {
    this.#host = host;
    this.#port = port;
    this.#target = target;
  }

  get port(): number {
    return this.#port;
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

  /** Frees the port. Connections that it has go on. */
  async stopListening(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const freed = new Promise<void>((resolve) => server.once('close', resolve));
    server.close();
    // It is free at once; the event waits for the connections.
    if (this.#sockets.size === 0) await freed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
    await this.stopListening();
  }

  async #accept(socket: Socket): Promise<void> {
    if (this.#sockets.size >= FRONT_CONNECTIONS_MAX) {
      socket.destroy();
      return;
    }
    this.#keep(socket);
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

  /** A connection, or undefined when it cannot be made. */
  #reach({ host, port }: HostPort): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      const upstream = connect({ host, port, noDelay: true });
      upstream.once('connect', () => resolve(upstream));
      upstream.once('error', () => resolve(undefined));
    });
  }

  #join(socket: Socket, upstream: Socket): void {
    if (socket.destroyed) {
      upstream.destroy();
      return;
    }
    this.#keep(upstream);
    socket.setNoDelay(true);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.pipe(other);
      one.on('close', () => other.destroy());
    }
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
