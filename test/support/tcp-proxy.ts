// A TCP proxy for tests: it stands between a client and a server, and loses what the test wants to be lost.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #areAnswersLost = false;

  /** Listens on the loopback interface until the test has ended. */
  static async to(t: TestContext, port: number): Promise<TcpProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a listening server has a port');
    const proxy = new TcpProxy(server, address.port, port);
    t.after(() => proxy.stop());
    return proxy;
  }

  private constructor(server: Server, port: number, target: number) {
    this.#server = server;
    this.port = port;
    server.on('connection', (client) => {
      const upstream = connect(target, '127.0.0.1');
      this.#add(client, upstream);
      client.on('data', (bytes) => upstream.write(bytes));
      upstream.on('data', (bytes) => {
        if (!this.#areAnswersLost) client.write(bytes);
      });
    });
  }

  /** From now on the server gets everything, and its answers are lost. */
  loseAnswers(): void {
    this.#areAnswersLost = true;
  }

  /** Ends all connections. New ones pass everything. */
  cut(): void {
    this.#areAnswersLost = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  #add(client: Socket, upstream: Socket): void {
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }

  /** Ends all connections, and takes no new ones. */
  stop(): void {
    this.#server.close();
    this.cut();
  }
}
